"""Objects of a cluster as jobs: a tree of groups with its pods, a group, or a pod without a group."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from posse.engine.groups.forms import group_of, key_of, parent_of
from posse.engine.keys import GroupKey
from posse.model.meta import GroupObject
from posse.model.pod import Pod
from posse.model.workload import CompositePodGroup, PodGroup
from posse.simulation.jobs import AnyGroup

_DEPTH_MAX = 100
"""Parents that name each other would be followed for ever."""


@dataclass(slots=True)
class WorkloadObjects:
    """What starts together: a root with all groups below it and their pods, or one pod."""

    name: str
    groups: list[AnyGroup] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)


def is_group(obj: object) -> bool:
    return isinstance(obj, GroupObject | CompositePodGroup)


def workloads_of(groups: Iterable[AnyGroup], pods: Iterable[Pod]) -> Iterator[WorkloadObjects]:
    """Groups without pods are left out: there is nothing to run."""
    by_key = {key_of(group): group for group in groups}
    found: dict[GroupKey | str, WorkloadObjects] = {}
    for pod in pods:
        key = group_of(pod)
        root = pod.metadata.uid if key is None else _root(key, by_key)
        name = f"{pod.metadata.namespace}/{pod.metadata.name}" if key is None else str(root)
        found.setdefault(root, WorkloadObjects(name)).pods.append(pod)
    for key, group in by_key.items():
        workload = found.get(_root(key, by_key))
        if workload is not None:
            workload.groups.append(group)
    yield from found.values()


def _root(key: GroupKey, groups: dict[GroupKey, AnyGroup]) -> GroupKey:
    for _ in range(_DEPTH_MAX):
        group = groups.get(key)
        parent = parent_of(key, group) if isinstance(group, PodGroup | CompositePodGroup) else None
        if parent is None:
            return key
        key = parent
    return key
