"""The part of metadata that belongs to the server: identity, times, generation. Clients cannot write it."""

import random
import uuid

from posse.kinds.machinery.kind import Json, Kind
from posse.model.timestamps import format_timestamp

# Never kept: self links are gone from Kubernetes.
DROPPED = frozenset({"selfLink"})
GIVEN_BY_SERVER = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
)
# Kubernetes counts generations of these; not of nodes, namespaces and the scheduling kinds, among others.
WITH_GENERATION = frozenset(
    {
        "Deployment",
        "DeviceClass",
        "DeviceTaintRule",
        "Job",
        "LeaderWorkerSet",
        "Pod",
        "PodDisruptionBudget",
        "PriorityClass",
        "ReplicaSet",
        "ResourceSlice",
        "StatefulSet",
    }
)
NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
NAME_SUFFIX_LENGTH = 5
NAME_LENGTH_MAX = 63


def stamp_created(kind: Kind, obj: Json, now: float, entropy: random.Random) -> None:
    sent = obj["metadata"]
    metadata = {
        name: value for name, value in sent.items() if name not in GIVEN_BY_SERVER and name not in DROPPED
    }
    metadata["uid"] = str(uuid.UUID(int=entropy.getrandbits(128), version=4))
    metadata["creationTimestamp"] = format_timestamp(now)
    if kind.name in WITH_GENERATION:
        metadata["generation"] = 1
    obj["metadata"] = metadata


def carry_over(new: Json, old: Json) -> None:
    """Give a new version of an object the identity of the old one; its metadata is a new dict afterwards."""
    before = old["metadata"]
    metadata = {name: value for name, value in new["metadata"].items() if name not in DROPPED}
    for name in GIVEN_BY_SERVER:
        metadata.pop(name, None)
        if name in before:
            metadata[name] = before[name]
    if "generation" in metadata and new.get("spec") != old.get("spec"):
        metadata["generation"] += 1
    new["metadata"] = metadata


def generated_name(prefix: str, entropy: random.Random) -> str:
    suffix = "".join(entropy.choices(NAME_ALPHABET, k=NAME_SUFFIX_LENGTH))
    return prefix[: NAME_LENGTH_MAX - NAME_SUFFIX_LENGTH] + suffix
