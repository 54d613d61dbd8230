"""Jobs of a trace, and the objects that a cluster would hold of them."""

from dataclasses import dataclass
from functools import lru_cache

from msgspec.structs import replace

from posse.engine.options import DEFAULT_SCHEDULER
from posse.model.container import Container, ResourceRequirements
from posse.model.meta import ObjectMeta
from posse.model.pod import Pod, PodSchedulingGroup, PodSpec, PodStatus
from posse.model.timestamps import format_timestamp
from posse.model.workload import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    SchedulingConstraints,
    TopologyConstraint,
)

NAMESPACE = "trace"
GPU = "nvidia.com/gpu"
BEGIN = 1_767_225_600.0
"""The moment at which a trace starts, as far as timestamps show it: the year 2026."""


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

    @property
    def gpus(self) -> int:
        return self.pods * self.gpus_per_pod


@lru_cache(maxsize=4096)
def _template(gpus: int, cpu_milli: int, priority: int, scheduler: str) -> PodSpec:
    requests: dict[str, str | int | float] = {}
    if gpus:
        requests[GPU] = str(gpus)
    if cpu_milli:
        requests["cpu"] = f"{cpu_milli}m"
    container = Container(name="main", image="job", resources=ResourceRequirements(requests=requests))
    return PodSpec(scheduler_name=scheduler, priority=priority, containers=(container,))


def objects_of(
    job: TracedJob, run: int, topology_key: str = "", scheduler: str = DEFAULT_SCHEDULER
) -> tuple[PodGroup | None, list[Pod]]:
    """The group and pods of the job's nth run. A job of one pod needs no group."""
    spec = _template(job.gpus_per_pod, job.cpu_milli_per_pod, job.priority, scheduler)
    group = None
    if job.pods > 1:
        name = f"{job.name}-{run}" if run else job.name
        group = PodGroup(
            metadata=ObjectMeta(name=name, namespace=NAMESPACE, uid=name),
            spec=PodGroupSpec(
                scheduling_policy=PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=job.pods)),
                scheduling_constraints=_constraints(topology_key),
                priority=job.priority,
            ),
        )
        spec = replace(spec, scheduling_group=PodSchedulingGroup(pod_group_name=name))
    created = format_timestamp(BEGIN + job.submit)
    return group, [
        Pod(
            metadata=ObjectMeta(
                name=f"{job.name}-{run}-{index}",
                namespace=NAMESPACE,
                uid=f"{job.name}/{run}/{index}",
                creation_timestamp=created,
            ),
            spec=spec,
            status=PodStatus(phase="Pending"),
        )
        for index in range(job.pods)
    ]


@lru_cache(maxsize=16)
def _constraints(topology_key: str) -> SchedulingConstraints | None:
    if not topology_key:
        return None
    return SchedulingConstraints(topology=(TopologyConstraint(key=topology_key),))
