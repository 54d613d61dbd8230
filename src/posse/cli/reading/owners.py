"""Controllers such as Jobs and Deployments: which groups and pods belong to them, directly or not."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from posse.cli.client import Refused
from posse.cli.reading.cluster_reader import Survey
from posse.cli.reading.sources import ClusterSource
from posse.cli.session import warn
from posse.engine.keys import GroupKey
from posse.kinds.machinery.kind import Kind, KindRules
from posse.kinds.registry import (
    DEPLOYMENT,
    JOB,
    JOB_SET,
    LEADER_WORKER_SET,
    REPLICA_SET,
    STATEFUL_SET,
    WORKLOAD,
)
from posse.model.meta import ApiObject, OwnerReference
from posse.model.pod import Pod

Json = dict[str, Any]


def _kind(name: str, group: str, short_name: str) -> Kind:
    """A kind that embedded clusters do not serve; real clusters do."""
    plural = f"{name.lower()}s"
    return Kind(name, plural, ApiObject, KindRules(), (), group=group, short_names=(short_name,))


DAEMON_SET = _kind("DaemonSet", "apps", "ds")
CRON_JOB = _kind("CronJob", "batch", "cj")

CONTROLLERS = (JOB, JOB_SET, LEADER_WORKER_SET, STATEFUL_SET, DEPLOYMENT, REPLICA_SET, DAEMON_SET, CRON_JOB)
_IN_BETWEEN = (STATEFUL_SET, REPLICA_SET)
"""Controllers that others may own, and that a survey does not have."""


@dataclass(frozen=True, slots=True)
class OwnerName:
    kind: str
    name: str
    uid: str = ""

    def __str__(self) -> str:
        return f"{self.kind.lower()}/{self.name}"


class Owners:
    """Owner references of everything in a survey, and of the controllers that others may own."""

    def __init__(self, survey: Survey, source: ClusterSource, namespace: str | None) -> None:
        self._survey = survey
        self._references: dict[str, tuple[OwnerReference, ...]] = {}
        for pod in survey.pods.values():
            self._references[pod.metadata.uid] = pod.metadata.owner_references
        for obj in survey.objects():
            self._note(obj)
        for kind in _IN_BETWEEN:
            for obj in readable(source, kind, namespace):
                self._note(obj)

    def groups_of(self, uid: str, namespace: str) -> list[GroupKey]:
        """Groups whose object the controller owns, or any of whose pods."""
        return [
            key
            for key in self._survey.group_keys()
            if key.namespace == namespace
            and (self._is_below(self._uid_of(key), uid) or any(True for _ in self._pods_below(key, uid)))
        ]

    def pods_of(self, uid: str, namespace: str) -> list[Pod]:
        return [
            pod
            for (place, _), pod in self._survey.pods.items()
            if place == namespace and self._is_below(pod.metadata.uid, uid)
        ]

    def owner_of(self, key: GroupKey) -> OwnerName | None:
        """What made the group: the controllerRef of its Workload, else the topmost controller."""
        return self.controller_named(key) or self._topmost(self._uid_of(key)) or self._of_first_pod(key)

    def controller_named(self, key: GroupKey) -> OwnerName | None:
        """The controllerRef of the Workload that describes the group."""
        obj = self._survey.object_of(key) or {}
        spec = obj.get("spec") or {}
        if obj.get("kind") != WORKLOAD.name:
            name = (spec.get("workloadRef") or {}).get("workloadName") or ""
            spec = (self._survey.find(WORKLOAD, key.namespace, name) or {}).get("spec") or {}
        reference = spec.get("controllerRef")
        return OwnerName(reference.get("kind", ""), reference.get("name", "")) if reference else None

    def _of_first_pod(self, key: GroupKey) -> OwnerName | None:
        members = self._survey.members.get(key, {}).values()
        return next((owner for pod in members if (owner := self._topmost(pod.metadata.uid))), None)

    def _topmost(self, uid: str) -> OwnerName | None:
        found: OwnerName | None = None
        seen = {uid}
        while (above := self._controller(uid)) is not None and above.uid not in seen:
            if above.kind not in {"Pod", WORKLOAD.name, "PodGroup", "CompositePodGroup"}:
                found = above
            uid = above.uid
            seen.add(uid)
        return found

    def _controller(self, uid: str) -> OwnerName | None:
        references = self._references.get(uid, ())
        chosen = next((one for one in references if one.controller), references[0] if references else None)
        return OwnerName(chosen.kind, chosen.name, chosen.uid) if chosen is not None else None

    def _is_below(self, uid: str, owner: str) -> bool:
        ahead, seen = [uid], set()
        while ahead:
            one = ahead.pop()
            if one not in seen:
                seen.add(one)
                ahead += [reference.uid for reference in self._references.get(one, ())]
        return owner in seen

    def _pods_below(self, key: GroupKey, uid: str) -> Iterator[Pod]:
        members = self._survey.members.get(key, {}).values()
        return (pod for pod in members if self._is_below(pod.metadata.uid, uid))

    def _uid_of(self, key: GroupKey) -> str:
        obj = self._survey.object_of(key)
        return str(obj["metadata"].get("uid", "")) if obj is not None else ""

    def _note(self, obj: Json) -> None:
        metadata = obj["metadata"]
        self._references[metadata.get("uid", "")] = tuple(
            OwnerReference(
                kind=one.get("kind", ""),
                name=one.get("name", ""),
                uid=one.get("uid", ""),
                controller=bool(one.get("controller")),
            )
            for one in metadata.get("ownerReferences") or ()
        )


def readable(source: ClusterSource, kind: Kind, namespace: str | None) -> Iterator[Json]:
    """The objects of a kind; none, with a warning, if the user may not list them."""
    try:
        yield from source.objects(kind, namespace, lambda _: None)
    except Refused as refusal:
        warn(f"leaving out {kind.plural}: {refusal}")
