"""One LeaderWorkerSet as it was observed: the StatefulSet of its leaders, and its replicas."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from posse.controllers.leader_worker_sets.keys import (
    GROUP_INDEX,
    REVISION,
    SIZE,
    annotations_of,
    labels_of,
    number,
)
from posse.controllers.leader_worker_sets.rollout import GroupState
from posse.controllers.steps import is_deleting
from posse.kinds.machinery.kind import Kind
from posse.model.leader_worker_set import LeaderWorkerSetSpec

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """One replica: a leader that exists, and what it owns."""

    leader: Json
    worker_set: Json | None = None
    workers: Sequence[Json] = ()

    @property
    def index(self) -> int:
        return number(labels_of(self.leader).get(GROUP_INDEX)) or 0

    @property
    def size(self) -> int:
        return number(annotations_of(self.leader).get(SIZE)) or 1

    @property
    def revision(self) -> str:
        return str(labels_of(self.leader).get(REVISION, ""))

    @property
    def pods(self) -> list[Json]:
        return [self.leader, *self.workers]

    def state(self, revision: str) -> GroupState:
        is_updated = self.revision == revision
        if self.size == 1:
            return GroupState(_is_ready(self.leader), is_updated)
        if self.worker_set is None:
            return GroupState(is_ready=False, is_updated=False)
        is_updated = is_updated and labels_of(self.worker_set).get(REVISION) == revision
        return GroupState(_is_ready(self.leader) and _is_complete(self.worker_set), is_updated)


@dataclass(frozen=True, slots=True)
class ObservedLeaderWorkerSet:
    lws: Json
    spec: LeaderWorkerSetSpec
    history: Sequence[Json] = ()
    # Unclaimed revisions of a set that had the name before.
    left_behind: Sequence[Json] = ()
    leader_set: Json | None = None
    groups: Mapping[int, Group] = field(default_factory=dict)
    # The object of a kind and name in the namespace of the set, whatever its owner.
    find: Callable[[Kind, str], Json | None] = lambda _kind, _name: None
    node_labels: Callable[[str], Mapping[str, str]] = lambda _node: {}
    # Whether no webhook completes pods as they are created; and those that have not been completed yet.
    completes_pods: bool = False
    incomplete: Sequence[Json] = ()

    @property
    def name(self) -> str:
        return str(self.lws["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.lws["metadata"]["namespace"])


def is_ready(pod: Json) -> bool:
    return _is_ready(pod) and not is_deleting(pod)


def _is_ready(pod: Json) -> bool:
    status = pod.get("status") or {}
    conditions = status.get("conditions") or ()
    return status.get("phase") == "Running" and any(
        item.get("type") == "Ready" and item.get("status") == "True" for item in conditions
    )


def _is_complete(stateful_set: Json) -> bool:
    spec, status = stateful_set["spec"], stateful_set.get("status") or {}
    is_current = status.get("currentRevision") == status.get("updateRevision") and status.get(
        "updateRevision"
    )
    return bool(is_current) and spec.get("replicas") == (status.get("availableReplicas") or 0)
