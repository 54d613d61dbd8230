"""What the groups of all providers have in common: their names, labels and owner, and how many pods they wait for."""

from typing import Any

from posse.controllers.leader_worker_sets.keys import GROUP_INDEX, NAME, REVISION, labels_of
from posse.controllers.steps import owner_reference
from posse.kinds.registry import POD
from posse.model.leader_worker_set import LEADER_READY, LeaderWorkerSetSpec

Json = dict[str, Any]


INCARNATION_LENGTH = 8


def group_name(leader: Json, incarnation: str) -> str:
    """Name the group by replica and revision, or by replica and leader: pods of an earlier one never count as members."""
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
