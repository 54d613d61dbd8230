"""Pods that own other pods: when one goes, those go with it.

A pod names its owner in its ownerReferences; a worker of a LeaderWorkerSet, whose owner is a StatefulSet that
its leader owns, names the leader in an annotation.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from posse.model.pod import Pod

if TYPE_CHECKING:
    from posse.engine.state.pod_record import PodRecord

LEADER_ANNOTATION = "leaderworkerset.sigs.k8s.io/leader-name"

Owner = str | tuple[str, str]
"""The uid of a pod, or its namespace and name."""


class PodOwners(dict[Owner, dict[str, None]]):
    """Uids of the pods that each owner has. Most clusters have no such pods, and then it is empty."""

    def put(self, pod: Pod) -> None:
        for owner in _owners_of(pod):
            self.setdefault(owner, {})[pod.metadata.uid] = None

    def drop(self, pod: Pod) -> None:
        for owner in _owners_of(pod):
            owned = self.get(owner, {})
            owned.pop(pod.metadata.uid, None)
            if not owned:
                self.pop(owner, None)


def dependents_of(records: "Sequence[PodRecord]") -> int:
    """How many other pods the pods own, and those in turn."""
    owners, own = records[0].owners, {record.ref.uid: None for record in records}
    owned = {uid: None for record in records for uid in _owned(owners, record)}
    return len(owned.keys() - own.keys())


def _owned(owners: PodOwners, record: "PodRecord") -> Iterator[str]:
    found = {**owners.get(record.ref.uid, {}), **owners.get((record.ref.namespace, record.ref.name), {})}
    queue = list(found)
    for uid in queue:
        fresh = [one for one in owners.get(uid, {}) if one not in found]
        found |= dict.fromkeys(fresh)
        queue += fresh
    yield from found


def _owners_of(pod: Pod) -> Iterator[Owner]:
    metadata = pod.metadata
    for reference in metadata.owner_references:
        if reference.kind == "Pod":
            yield reference.uid
    if leader := metadata.annotations.get(LEADER_ANNOTATION):
        yield metadata.namespace, leader
