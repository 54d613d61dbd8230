"""What a scheduler has to know for the pods of a replica to start together, as a small protocol.

One provider stands for one scheduler's way of describing a group. All of them are pure: they make objects and
fill in pods; the runner writes them. A group is owned by the leader of its replica, so that it goes when the
leader goes.
"""

from typing import Any, NamedTuple, Protocol

from posse.controllers.leader_worker_sets.keys import GROUP_INDEX, NAME, REVISION, labels_of
from posse.controllers.steps import owner_reference
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import POD
from posse.model.leader_worker_set import LEADER_READY, LeaderWorkerSetSpec

Json = dict[str, Any]


class Made(NamedTuple):
    kind: Kind
    obj: Json


class SchedulerProvider(Protocol):
    @property
    def name(self) -> str:
        """What the annotation on pods calls it."""

    @property
    def is_group_per_leader(self) -> bool:
        """Whether each leader has a group of its own, whatever is left of the one before it."""

    @property
    def waits_for_all(self) -> bool:
        """Whether no pod of a replica gets a node before all of them exist."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What the cluster must serve for it."""

    def blueprint(self, lws: Json, spec: LeaderWorkerSetSpec) -> Made | None:
        """Return the object that describes the groups of all replicas, where there is such a thing."""

    def prepare(self, lws: Json, spec: LeaderWorkerSetSpec, template: Json) -> None:
        """Add to the template of leaders or workers what is the same in all replicas."""

    def name_group(self, leader: Json, incarnation: str) -> str:
        """Choose the name of the group of a replica, given its new leader with all its labels.

        With an incarnation the name is one that no group of the replica has had before.
        """

    def inject(self, pod: Json, group: str) -> None:
        """Put a pod, or the pods of a template, into the group."""

    def group_of(self, leader: Json) -> str:
        """Return the name of the group that a leader was put into, empty if it is in none."""

    def group(self, lws: Json, spec: LeaderWorkerSetSpec, leader: Json) -> Made | None:
        """Return the object that describes the group of one replica, where there is such a thing."""


INCARNATION_LENGTH = 8


def group_name(leader: Json, incarnation: str) -> str:
    """Name the group by replica and revision or leader, so that pods of an earlier group are no members."""
    labels = labels_of(leader)
    suffix = incarnation[:INCARNATION_LENGTH] or labels[REVISION]
    return f"{labels[NAME]}-{labels[GROUP_INDEX]}-{suffix}"


def group_metadata(leader: Json, name: str) -> Json:
    labels = labels_of(leader)
    return {
        "name": name,
        "namespace": leader["metadata"]["namespace"],
        "labels": {key: labels[key] for key in (NAME, GROUP_INDEX, REVISION)},
        "ownerReferences": [owner_reference(POD, leader)],
    }


def minimum(spec: LeaderWorkerSetSpec) -> int:
    """A leader that must be ready before it gets workers cannot wait for them."""
    return 1 if spec.startup_policy == LEADER_READY else spec.leader_worker_template.group_size


class ForeignGroups:
    is_group_per_leader = False
    waits_for_all = True

    def blueprint(self, _lws: Json, _spec: LeaderWorkerSetSpec) -> Made | None:
        return None

    def prepare(self, _lws: Json, _spec: LeaderWorkerSetSpec, _template: Json) -> None:
        return None

    def name_group(self, leader: Json, incarnation: str) -> str:
        return group_name(leader, incarnation)
