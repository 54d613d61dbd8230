"""What the groups of all providers have in common: their names, labels and owner, and how many pods they wait for."""

from typing import Any

from posse.controllers.leader_worker_sets.keys import GROUP_INDEX, NAME, REVISION, labels_of
from posse.controllers.steps import owner_reference
from posse.kinds.registry import POD
from posse.model.leader_worker_set import LEADER_READY, LeaderWorkerSetSpec

Json = dict[str, Any]


def group_name(leader: Json, suffix: str) -> str:
    labels = labels_of(leader)
    return f"{labels[NAME]}-{labels[GROUP_INDEX]}-{suffix}"


def name_by_revision(leader: Json) -> str:
    """Name the group by replica and revision: pods of an old revision never count as members of a new group."""
    return group_name(leader, labels_of(leader)[REVISION])


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
