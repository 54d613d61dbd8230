"""Completes pods of a LeaderWorkerSet at creation: labels of their replica, group and environment.

Upstream this is a webhook; the embedded server does it as part of admission. Pods that belong to no set are
left alone.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from posse.controllers.leader_worker_sets.environment import (
    leader_subgroup,
    set_replica_variables,
    set_tpu_variables,
    worker_subgroup,
)
from posse.controllers.leader_worker_sets.keys import (
    GROUP_INDEX,
    GROUP_KEY,
    LEADER_NAME,
    NAME,
    SIZE,
    SUBDOMAIN_POLICY,
    SUBGROUP_INDEX,
    SUBGROUP_KEY,
    SUBGROUP_POLICY_TYPE,
    SUBGROUP_SIZE,
    WORKER_INDEX,
    annotations_of,
    group_key,
    is_leader,
    labels_of,
    number,
    ordinal_of,
    subgroup_key,
)
from posse.controllers.leader_worker_sets.providers.registry import provider_of_pod
from posse.controllers.leader_worker_sets.topology import make_exclusive
from posse.kinds.admission import ClusterView
from posse.kinds.machinery.errors import forbidden
from posse.kinds.registry import POD
from posse.model.leader_worker_set import EXCLUSIVE_TOPOLOGY, SUBGROUP_EXCLUSIVE_TOPOLOGY, UNIQUE_PER_REPLICA

Json = dict[str, Any]


class PodSurroundings(NamedTuple):
    """What a pod is created with: other pods of its namespace by name, and a unique `incarnation`."""

    incarnation: str
    find_pod: Callable[[str], Json | None]


def admit_pod(pod: Json, cluster: ClusterView) -> None:
    """The admission hook of the embedded server."""
    metadata = pod["metadata"]
    complete_pod(pod, PodSurroundings(metadata["uid"], partial(cluster.get, POD, metadata["namespace"])))


def complete_pod(pod: Json, surroundings: PodSurroundings) -> None:
    """Complete a new pod in place. One that cannot be placed within its replica is refused."""
    if NAME not in labels_of(pod):
        return
    place_pod(pod, surroundings)
    set_replica_variables(pod)
    set_tpu_variables(pod)


def place_pod(pod: Json, surroundings: PodSurroundings) -> None:
    """Give a pod its place within its replica, and in the group of that."""
    name = str(pod["metadata"].get("name") or "")
    ordinal = ordinal_of(name)
    if number(annotations_of(pod).get(SIZE)) is None:
        raise forbidden(POD, name, f"annotation {SIZE} is missing: the size of its replica is not known")
    if ordinal is None:
        raise forbidden(POD, name, "its name does not end with a number, which tells its place in the set")
    if is_leader(pod):
        _complete_leader(pod, name, ordinal)
        _join_group(pod, name, surroundings)
    else:
        _complete_worker(pod, name, ordinal)


def _complete_leader(pod: Json, name: str, ordinal: int) -> None:
    labels, annotations = pod["metadata"]["labels"], annotations_of(pod)
    labels.setdefault(GROUP_INDEX, str(ordinal))
    labels.setdefault(GROUP_KEY, group_key(pod["metadata"]["namespace"], name))
    if annotations.get(SUBDOMAIN_POLICY) == UNIQUE_PER_REPLICA:
        pod["spec"]["subdomain"] = name
    if EXCLUSIVE_TOPOLOGY in annotations:
        make_exclusive(pod, annotations[EXCLUSIVE_TOPOLOGY], GROUP_KEY)
    if SUBGROUP_SIZE in annotations:
        _join_subgroup(pod, name, leader_subgroup(annotations.get(SUBGROUP_POLICY_TYPE, "")))


def _complete_worker(pod: Json, name: str, ordinal: int) -> None:
    labels, annotations = pod["metadata"]["labels"], annotations_of(pod)
    leader = annotations.get(LEADER_NAME)
    if leader is None or GROUP_INDEX not in labels:
        text = f"annotation {LEADER_NAME} or label {GROUP_INDEX} is missing: its leader is not known"
        raise forbidden(POD, name, text)
    labels[WORKER_INDEX] = str(ordinal)
    part = number(annotations.get(SUBGROUP_SIZE))
    if part:
        _join_subgroup(pod, leader, worker_subgroup(int(annotations[SIZE]), part, ordinal))


def _join_subgroup(pod: Json, leader: str, subgroup: int | None) -> None:
    if subgroup is None:
        return
    labels, annotations = pod["metadata"]["labels"], annotations_of(pod)
    labels[SUBGROUP_INDEX] = str(subgroup)
    labels[SUBGROUP_KEY] = subgroup_key(leader, subgroup)
    if SUBGROUP_EXCLUSIVE_TOPOLOGY in annotations:
        make_exclusive(pod, annotations[SUBGROUP_EXCLUSIVE_TOPOLOGY], SUBGROUP_KEY)


def _join_group(leader: Json, name: str, surroundings: PodSurroundings) -> None:
    """Put the leader into a group. Workers are put into it by the template they are made from.

    Workers of a leader that had the name before may still be there, and would count as members of the new
    group.
    """
    provider = provider_of_pod(leader)
    if provider is None:
        return
    incarnation = surroundings.incarnation if provider.is_group_per_leader else ""
    group = provider.name_group(leader, incarnation)
    size = number(annotations_of(leader)[SIZE]) or 1
    others = (surroundings.find_pod(f"{name}-{worker}") for worker in range(1, size))
    if any(other is not None and provider.group_of(other) == group for other in others):
        group = provider.name_group(leader, surroundings.incarnation)
    provider.inject(leader, group)
