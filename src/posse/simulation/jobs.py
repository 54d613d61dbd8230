"""Jobs of a trace, and the objects that a cluster would hold of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from msgspec.structs import replace

from posse.engine.options import DEFAULT_SCHEDULER
from posse.model.container import Container, ResourceRequirements
from posse.model.meta import GroupObject, ObjectMeta
from posse.model.pod import Pod, PodSchedulingGroup, PodSpec, PodStatus
from posse.model.resource_claim import ResourceClaim
from posse.model.timestamps import format_timestamp
from posse.model.workload import (
    CompositePodGroup,
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    SchedulingConstraints,
    TopologyConstraint,
)

AnyGroup: TypeAlias = GroupObject | CompositePodGroup

NAMESPACE = "trace"
"""Of jobs without a user or a queue; others are in a namespace of that name."""
GPU = "nvidia.com/gpu"
BEGIN = 1_767_225_600.0
"""The moment at which a trace starts, as far as timestamps show it: the year 2026."""

FOREVER = 10 * 365 * 86400.0
"""The duration of a job that does not end, in seconds."""


@dataclass(frozen=True, slots=True)
class JobObjects:
    """Groups and pods as a cluster holds them, for jobs that are more than equal pods."""

    groups: tuple[AnyGroup, ...]
    pods: tuple[Pod, ...]
    claims: tuple[ResourceClaim, ...] = ()
    """Claims of devices that were made for its pods and groups, from templates."""


@dataclass(frozen=True, slots=True)
class TracedJob:
    """A job of a trace: a gang of equal pods that all start at once, or not at all."""

    name: str
    submit: float
    """Seconds after the start of the trace."""
    duration: float
    pods: int
    gpus_per_pod: int
    cpu_milli_per_pod: int = 0
    user: str = ""
    queue: str = ""
    priority: int = 0
    objects: JobObjects | None = None
    """Instead of equal pods. Such a job has started when the first of its pods are on nodes."""
    limit: float = 0.0
    """Seconds after which it would be ended, as its pods say; 0 if they do not."""

    @property
    def gpus(self) -> int:
        if self.objects is not None:
            return sum(gpus_of(pod) for pod in self.objects.pods)
        return self.pods * self.gpus_per_pod

    @property
    def starting_pods(self) -> int:
        """Pods that are on nodes when the job has started."""
        return self.pods if self.objects is None else 1


def gpus_of(pod: Pod) -> int:
    """Those that its containers request; devices are not counted."""
    found = 0
    for container in pod.spec.containers:
        amounts = {**container.resources.limits, **container.resources.requests}
        found += int(amounts.get(GPU, 0))
    return found


@lru_cache(maxsize=4096)
def _template(gpus: int, cpu_milli: int, priority: int, scheduler: str, limit: int) -> PodSpec:
    requests: dict[str, str | int | float] = {}
    if gpus:
        requests[GPU] = str(gpus)
    if cpu_milli:
        requests["cpu"] = f"{cpu_milli}m"
    container = Container(name="main", image="job", resources=ResourceRequirements(requests=requests))
    return PodSpec(
        scheduler_name=scheduler,
        priority=priority,
        containers=(container,),
        active_deadline_seconds=limit or None,
    )


def objects_of(
    job: TracedJob,
    run: int,
    topology_key: str = "",
    scheduler: str = DEFAULT_SCHEDULER,
    annotations: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[AnyGroup], list[Pod]]:
    """The groups and pods of the job's nth run. A job of one pod needs no group."""
    if job.objects is not None:
        return _run_of(job.objects, job.submit, run, scheduler)
    spec = _template(job.gpus_per_pod, job.cpu_milli_per_pod, job.priority, scheduler, math.ceil(job.limit))
    namespace = job.user or job.queue or NAMESPACE
    groups: list[AnyGroup] = []
    if job.pods > 1:
        name = f"{job.name}-{run}" if run else job.name
        group = PodGroup(
            metadata=ObjectMeta(name=name, namespace=namespace, uid=name, annotations=dict(annotations)),
            spec=PodGroupSpec(
                scheduling_policy=PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=job.pods)),
                scheduling_constraints=_constraints(topology_key),
                priority=job.priority,
            ),
        )
        groups.append(group)
        spec = replace(spec, scheduling_group=PodSchedulingGroup(pod_group_name=name))
    created = format_timestamp(BEGIN + job.submit)
    return groups, [
        Pod(
            metadata=ObjectMeta(
                name=f"{job.name}-{run}-{index}",
                namespace=namespace,
                uid=f"{job.name}/{run}/{index}",
                creation_timestamp=created,
            ),
            spec=spec,
            status=PodStatus(phase="Pending"),
        )
        for index in range(job.pods)
    ]


def claims_of(job: TracedJob, run: int) -> list[ResourceClaim]:
    """The claims of devices that are made for the job's nth run. Their owners are those of that run."""
    return [
        replace(
            claim,
            metadata=replace(
                claim.metadata,
                uid=f"{claim.metadata.uid}/{run}",
                owner_references=tuple(
                    replace(one, uid=f"{one.uid}/{run}") for one in claim.metadata.owner_references
                ),
            ),
        )
        for claim in (job.objects.claims if job.objects is not None else ())
    ]


def _run_of(objects: JobObjects, submit: float, run: int, scheduler: str) -> tuple[list[AnyGroup], list[Pod]]:
    """New objects of the same names, as controllers would create them, and nothing placed yet."""
    created = format_timestamp(BEGIN + submit)

    def renewed(metadata: ObjectMeta) -> ObjectMeta:
        return replace(metadata, uid=f"{metadata.uid}/{run}", creation_timestamp=created)

    groups = [replace(group, metadata=renewed(group.metadata)) for group in objects.groups]
    pods = [
        replace(
            pod,
            metadata=replace(renewed(pod.metadata), deletion_timestamp=None),
            spec=replace(pod.spec, node_name="", scheduler_name=scheduler),
            status=PodStatus(phase="Pending", resource_claim_statuses=pod.status.resource_claim_statuses),
        )
        for pod in objects.pods
    ]
    return groups, pods


@lru_cache(maxsize=16)
def _constraints(topology_key: str) -> SchedulingConstraints | None:
    if not topology_key:
        return None
    return SchedulingConstraints(topology=(TopologyConstraint(key=topology_key),))
