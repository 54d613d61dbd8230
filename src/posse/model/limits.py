"""How much one object may hold: limits as data, and the first one that an object exceeds.

Each entry of `LIMITS` bounds a part of a struct, wherever that struct occurs: a limit of a PodSpec holds for
pods, and for the templates of Jobs, Deployments, StatefulSets, JobSets and LeaderWorkerSets. Kubernetes
bounds only the bytes of an object. With these limits, what one object costs is bounded as well. Counting is
linear.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from posse.model.coscheduling import CoschedulingPodGroupSpec
from posse.model.cron_job import CronJobSpec
from posse.model.deployment import DeploymentSpec, ReplicaSetSpec
from posse.model.job import JobSpec
from posse.model.jobset import JobSetSpec, ReplicatedJob
from posse.model.leader_worker_set import LeaderWorkerSetSpec, LeaderWorkerTemplate
from posse.model.meta import LabelSelector, ObjectMeta, Shape
from posse.model.node import NodeSpec, NodeStatus
from posse.model.pod import PodSpec
from posse.model.quota import LimitRangeSpec, ResourceQuotaSpec
from posse.model.service import ServiceSpec
from posse.model.stateful_set import StatefulSetSpec
from posse.model.structure import FieldShape, fields_of, reachable
from posse.model.volcano import VolcanoPodGroupSpec
from posse.model.volume import CSINodeSpec, PersistentVolumeSpec, StorageClass


class Counted(Enum):
    """What is counted in a field."""

    ITEMS = "items"
    """Of the list or map; `[*]` stands for every item, and their numbers are added."""
    NAMES = "different names"
    """Different keys of all maps together."""
    NESTED = "items in all"
    """Of the list or map, and of every list and map within."""
    CHARACTERS = "characters"
    """Of the text."""
    VALUE = "value"
    """The number itself."""


@dataclass(frozen=True, slots=True)
class Limit:
    field: str
    """Path from the struct, in JSON names."""
    most: int
    counts: Counted = Counted.ITEMS


@dataclass(frozen=True, slots=True)
class Excess:
    """A field with more than its limit allows."""

    field: str
    """Path from the object."""
    count: int
    limit: Limit

    def __str__(self) -> str:
        most, counts = self.limit.most, self.limit.counts
        if counts is Counted.VALUE:
            return f"{self.field} is {self.count}; Posse takes at most {most}"
        return f"{self.field} has {self.count} {counts.value}; Posse takes at most {most}"


class LimitError(Exception):
    """An object is beyond a limit, and not read."""

    def __init__(self, excess: Excess) -> None:
        super().__init__(str(excess))
        self.excess = excess


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NODE_TERMS = f"affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"

MAX_RESOURCE_NAMES = 64
"""Of a pod; each costs a number per node."""
MAX_PODS = 100_000
"""That one object asks for."""
MAX_JOBS = 20_000
"""Of a JobSet; each plan looks at all of them."""
MAX_OWNERS = 500
"""Entries in the managedFields of an object."""
MAX_VALUES = 100_000
"""In one object that is sent to the embedded API server, whatever fields they are in."""

LIMITS: Mapping[type[Shape], tuple[Limit, ...]] = {
    ObjectMeta: (
        Limit("labels", 1_000),
        Limit("ownerReferences", 1_000),
        Limit("finalizers", 1_000),
        Limit("managedFields", MAX_OWNERS),
    ),
    LabelSelector: (Limit("matchLabels", 1_000), Limit("matchExpressions", 10_000, Counted.NESTED)),
    PodSpec: (
        Limit("containers", 250),
        Limit("initContainers", 250),
        Limit("containers[*].ports", 1_000),
        Limit("initContainers[*].ports", 1_000),
        Limit("containers[*].resources.requests", MAX_RESOURCE_NAMES, Counted.NAMES),
        Limit("initContainers[*].resources.requests", MAX_RESOURCE_NAMES, Counted.NAMES),
        Limit("containers[*].resources.limits", MAX_RESOURCE_NAMES, Counted.NAMES),
        Limit("initContainers[*].resources.limits", MAX_RESOURCE_NAMES, Counted.NAMES),
        Limit("resources.requests", MAX_RESOURCE_NAMES),
        Limit("resources.limits", MAX_RESOURCE_NAMES),
        Limit("overhead", MAX_RESOURCE_NAMES),
        Limit("nodeSelector", 100),
        Limit("tolerations", 500),
        Limit("topologySpreadConstraints", 64),
        Limit("topologySpreadConstraints", 5_000, Counted.NESTED),
        Limit(f"affinity.podAffinity.{_REQUIRED}", 100),
        Limit(f"affinity.podAffinity.{_PREFERRED}", 100),
        Limit("affinity.podAffinity", 10_000, Counted.NESTED),
        Limit(f"affinity.podAntiAffinity.{_REQUIRED}", 100),
        Limit(f"affinity.podAntiAffinity.{_PREFERRED}", 100),
        Limit("affinity.podAntiAffinity", 10_000, Counted.NESTED),
        Limit(_NODE_TERMS, 1_000),
        Limit(f"affinity.nodeAffinity.{_PREFERRED}", 100),
        Limit("affinity.nodeAffinity", 20_000, Counted.NESTED),
        Limit("volumes", 500),
        Limit("schedulingGates", 100),
        Limit("resourceClaims", 100),
    ),
    NodeSpec: (Limit("taints", 250),),
    NodeStatus: (
        Limit("allocatable", 250),
        Limit("capacity", 250),
        Limit("images", 5_000, Counted.NESTED),
    ),
    JobSpec: (Limit("parallelism", MAX_PODS, Counted.VALUE),),
    CronJobSpec: (Limit("schedule", 1_000, Counted.CHARACTERS),),
    StatefulSetSpec: (
        Limit("replicas", MAX_PODS, Counted.VALUE),
        Limit("volumeClaimTemplates", 100),
    ),
    DeploymentSpec: (Limit("replicas", MAX_PODS, Counted.VALUE),),
    ReplicaSetSpec: (Limit("replicas", MAX_PODS, Counted.VALUE),),
    JobSetSpec: (Limit("replicatedJobs", 1_000),),
    ReplicatedJob: (Limit("replicas", MAX_JOBS, Counted.VALUE),),
    LeaderWorkerSetSpec: (Limit("replicas", MAX_PODS, Counted.VALUE),),
    LeaderWorkerTemplate: (
        Limit("size", MAX_PODS, Counted.VALUE),
        Limit("volumeClaimTemplates", 100),
    ),
    CoschedulingPodGroupSpec: (Limit("minResources", MAX_RESOURCE_NAMES),),
    VolcanoPodGroupSpec: (
        Limit("minResources", MAX_RESOURCE_NAMES),
        Limit("minTaskMember", 1_000),
    ),
    ResourceQuotaSpec: (Limit("hard", 1_000), Limit("scopeSelector", 10_000, Counted.NESTED)),
    LimitRangeSpec: (Limit("limits", 1_000, Counted.NESTED),),
    ServiceSpec: (Limit("ports", 1_000), Limit("selector", 100)),
    PersistentVolumeSpec: (
        Limit("nodeAffinity.required.nodeSelectorTerms", 1_000),
        Limit("nodeAffinity", 20_000, Counted.NESTED),
    ),
    StorageClass: (Limit("allowedTopologies", 20_000, Counted.NESTED),),
    CSINodeSpec: (Limit("drivers", 5_000, Counted.NESTED),),
}


def first_excess(obj: Shape) -> Excess | None:
    """The first limit that the object exceeds; None for nearly all objects."""
    return None if is_within_limits(obj) else next(_excesses(obj))


def is_within_limits(obj: Shape) -> bool:
    """Whether there are no `excesses`, without the effort of naming them."""
    for attribute, limits, descent in _plan(type(obj)):
        value = getattr(obj, attribute)
        # Most fields of most objects are empty.
        if not value:
            continue
        for limit, count in limits:
            if count(value) > limit.most:
                return False
        if descent is not None:
            for item in value if descent.is_list else (value,):
                if not is_within_limits(item):
                    return False
    return True


def require_within_limits(obj: Shape) -> None:
    """LimitError: it exceeds a limit."""
    excess = first_excess(obj)
    if excess is not None:
        raise LimitError(excess)


def excesses(obj: Shape) -> list[Excess]:
    return list(_excesses(obj))


def _excesses(obj: Shape, path: str = "") -> Iterator[Excess]:
    for attribute, limits, descent in _plan(type(obj)):
        value = getattr(obj, attribute)
        if not value:
            continue
        for limit, count in limits:
            found = count(value)
            if found > limit.most:
                yield Excess(f"{path}{limit.field}", found, limit)
        if descent is not None and descent.is_list:
            for index, item in enumerate(value):
                yield from _excesses(item, f"{path}{descent.name}[{index}].")
        elif descent is not None:
            yield from _excesses(value, f"{path}{descent.name}.")


Count = Callable[[Any], int]


class _Descent(NamedTuple):
    """A field in which structs with limits occur."""

    name: str
    is_list: bool


@cache
def _plan(struct: type[Shape]) -> list[tuple[str, list[tuple[Limit, Count]], _Descent | None]]:
    """What is to be looked at in a struct, by attribute."""
    plan = []
    for name, shape in fields_of(struct).items():
        limits = [
            limit for limit in LIMITS.get(struct, ()) if limit.field.split(".")[0] in (name, f"{name}[*]")
        ]
        is_descent = shape.struct is not None and shape.holds != "map" and _is_limited(shape.struct)
        if limits or is_descent:
            counts = [(limit, _count(shape, limit)) for limit in limits]
            descent = _Descent(name, shape.holds == "list") if is_descent else None
            plan.append((shape.attribute, counts, descent))
    return plan


def _is_limited(struct: type[Shape]) -> bool:
    return any(one in LIMITS for one in reachable([struct]))


def _count(shape: FieldShape, limit: Limit) -> Count:
    """Count what the limit is about, in a value of the first field of its path."""
    first, *rest = limit.field.split(".")
    if not rest:
        match limit.counts:
            case Counted.VALUE:
                return int
            case Counted.NESTED:
                return _nested
            case _:
                return len
    values = _reader(shape, [first, *rest])
    match limit.counts:
        case Counted.NAMES:
            return lambda value: _different(values(value))
        case Counted.NESTED:
            return lambda value: sum(map(_nested, values(value)))
        case _:
            return lambda value: sum(map(len, values(value)))


def _reader(shape: FieldShape, path: Sequence[str]) -> Callable[[Any], list[Any]]:
    """Read what is at the path below a value of its first field, without what is absent."""
    if len(path) == 1:
        return lambda value: [value] if value else []
    if shape.struct is None:
        raise ValueError(f"no struct is at {path[0]}")
    below = fields_of(shape.struct)[path[1].removesuffix("[*]")]
    attribute, inner = below.attribute, _reader(below, path[1:])
    if path[0].endswith("[*]"):
        return lambda items: [found for item in items for found in inner(getattr(item, attribute))]
    return lambda value: inner(getattr(value, attribute)) if value is not None else []


def _different(maps: list[Mapping[str, Any]]) -> int:
    if len(maps) == 1:
        return len(maps[0])
    names: set[str] = set()
    for one in maps:
        names.update(one)
    return len(names)


def _nested(value: Any) -> int:
    """Items of all lists and maps at or below the value."""
    count, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Shape):
            waiting += [getattr(one, name) for name in one.__struct_fields__]
        elif isinstance(one, dict | tuple | list):
            count += len(one)
            waiting += one.values() if isinstance(one, dict) else one
    return count
