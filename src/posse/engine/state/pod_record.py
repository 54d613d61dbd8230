"""A pod as the engine knows it, and the pods that it owns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from posse.engine.causes import Refusal
from posse.engine.decisions import VolumeStep
from posse.engine.devices.proposals import Held
from posse.engine.keys import GroupKey, PodRef
from posse.engine.nodes.arrays import IntArray
from posse.engine.pods.census import LabelClass
from posse.engine.pods.pod_class import PodClass
from posse.engine.statement import NEVER_REPORTED, Reported
from posse.model.pod import Pod

LEADER_ANNOTATION = "leaderworkerset.sigs.k8s.io/leader-name"

Owner = str | tuple[str, str]
"""The uid of a pod, or its namespace and name."""


class PodOwners(dict[Owner, dict[str, None]]):
    """Uids of the pods that each owner has: when it goes, they go with it. Mostly empty.

    A pod names its owner in its ownerReferences. A worker of a LeaderWorkerSet, whose owner is a StatefulSet
    that its leader owns, names the leader in an annotation.
    """

    def put(self, pod: Pod) -> None:
        for owner in _owners_of(pod):
            self.setdefault(owner, {})[pod.metadata.uid] = None

    def drop(self, pod: Pod) -> None:
        for owner in _owners_of(pod):
            owned = self.get(owner, {})
            owned.pop(pod.metadata.uid, None)
            if not owned:
                self.pop(owner, None)


class PodRecord(msgspec.Struct, eq=False, gc=False):
    """One pod that is neither finished nor deleted. Nothing that it refers to refers to it."""

    pod: Pod
    ref: PodRef
    pod_class: PodClass
    labels: LabelClass
    group: GroupKey | None
    created: str
    """RFC 3339 text, which sorts by time."""
    arrival: int
    """Order in which pods were first seen; breaks ties of creation time."""
    effective_priority: int
    """The priority that protects it: its group's, where it has one. Changed by `ClusterState.rank` alone."""
    owners: PodOwners = msgspec.field(default_factory=PodOwners)
    """The pods that own others: one value for all pods of the cluster."""
    unprotected_priority: int | None = None
    """Its effective priority if its group had run long enough to be preempted; None if it has."""
    node: str = ""
    """The node it is attached to: bound there, or promised by a decision in flight."""
    volumes: tuple[VolumeStep, ...] = ()
    """Steps for its claims on that node, while its binding is in flight."""
    devices: Held | None = None
    """Devices that it had when it was detached, to be given back to it."""
    nominated: str = ""
    """The nominated node, where capacity is reserved for it."""
    evicted_for: str | GroupKey = ""
    """The preemptor, once its eviction is decided: the uid of a pod, or a group."""
    reported: Reported = NEVER_REPORTED
    """The last report in PodScheduled=False."""
    report_may_be_lost: bool = False
    """The report may be lost, and is repeated though it is unchanged."""
    placed_at: float = 0.0
    """When it was given its node; 0 if another scheduler did that."""
    queued_at: float = 0.0
    """When it first became ready to be tried; 0 until then."""
    attempts: int = 0
    refusals: tuple[Refusal, ...] = ()
    """Refusals of the last attempt."""

    @property
    def priority(self) -> int:
        return self.pod.spec.priority or 0

    @property
    def own_rank(self) -> int:
        """The priority that protects it, but for the time that its group has run."""
        unprotected = self.unprotected_priority
        return self.effective_priority if unprotected is None else unprotected

    @property
    def is_ending(self) -> bool:
        """Whether it is terminating, or its eviction is decided."""
        return bool(self.pod.metadata.deletion_timestamp or self.evicted_for)


@dataclass(frozen=True, slots=True, eq=False)
class Usage:
    """Requests on all nodes, in the form of the node table's own columns."""

    requested: IntArray
    scoring: IntArray
    rows: list[int]
    """Rows with any requests."""


def dependents_of(records: Sequence[PodRecord]) -> int:
    """How many other pods the pods own, and those in turn."""
    owners, own = records[0].owners, {record.ref.uid: None for record in records}
    owned = {uid: None for record in records for uid in _owned(owners, record)}
    return len(owned.keys() - own.keys())


def _owned(owners: PodOwners, record: PodRecord) -> Iterator[str]:
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
