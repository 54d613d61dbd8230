"""Labels and annotations of the parts of a LeaderWorkerSet, and how they are read."""

import hashlib
from typing import Any

from posse.model.leader_worker_set import PREFIX

Json = dict[str, Any]

# Labels.
NAME = f"{PREFIX}name"
REVISION = f"{PREFIX}template-revision-hash"
WORKER_INDEX = f"{PREFIX}worker-index"
GROUP_INDEX = f"{PREFIX}group-index"
GROUP_KEY = f"{PREFIX}group-key"
SUBGROUP_INDEX = f"{PREFIX}subgroup-index"
SUBGROUP_KEY = f"{PREFIX}subgroup-key"

# Annotations.
SIZE = f"{PREFIX}size"
LEADER_NAME = f"{PREFIX}leader-name"
REPLICAS = f"{PREFIX}replicas"
SUBGROUP_SIZE = f"{PREFIX}subgroup-size"
SUBGROUP_POLICY_TYPE = f"{PREFIX}subgroup-policy-type"
SUBDOMAIN_POLICY = f"{PREFIX}subdomainPolicy"
LEADER_REQUESTS_TPUS = f"{PREFIX}leader-requests-tpus"
STARTUP = "scheduling.posse.dev/startup-policy"
"""On the StatefulSet of workers: for which startup policy it was made, where that is not the usual one."""

LEADER = "0"


def group_key(namespace: str, leader: str) -> str:
    """Only the pods of one replica have this in common."""
    return _digest(f"{namespace}/{leader}")


def subgroup_key(leader: str, subgroup: int) -> str:
    return _digest(f"{leader}/{subgroup}")


def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def labels_of(obj: Json) -> Json:
    return obj["metadata"].get("labels") or {}


def annotations_of(obj: Json) -> Json:
    return obj["metadata"].get("annotations") or {}


def is_leader(pod: Json) -> bool:
    return bool(labels_of(pod).get(WORKER_INDEX) == LEADER)


def number(text: str | None) -> int | None:
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= 10
    return int(text) if is_number and text is not None else None


def ordinal_of(pod_name: str) -> int | None:
    return number(pod_name.rpartition("-")[2])
