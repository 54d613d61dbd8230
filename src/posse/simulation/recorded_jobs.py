"""The work in a recording as jobs of a trace: when each arrived, and how long it ran.

How long a job would have run elsewhere is not known; it is taken to run as long as it did. A job that had not
ended runs on. Evicted pods of a group and the pods that replaced them are one job; a pod without a group is a
job by itself.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from posse.engine.events import ClusterObject, EngineEvent, Observed, Vanished
from posse.model.node import Node
from posse.model.pod import ENDED_PHASES, Pod
from posse.model.resource_claim import ResourceClaim
from posse.simulation.failures import NodeAbsence
from posse.simulation.jobs import FOREVER, AnyGroup, JobObjects, TracedJob, gpus_of
from posse.simulation.workloads import WorkloadObjects, is_group, workloads_of

_Key = tuple[str, str, str]


@dataclass(slots=True)
class _Life:
    """What was seen of a pod, in seconds after the first decision."""

    pod: Pod
    seen: float
    bound: float | None = None
    ended: float | None = None
    is_evicted: bool = False


@dataclass(slots=True)
class RecordedWork:
    nodes: list[Node] = field(default_factory=list)
    jobs: list[TracedJob] = field(default_factory=list)
    failures: list[NodeAbsence] = field(default_factory=list)
    """Times in which a node was not there."""
    length: float = 0.0
    """Seconds from the first to the last event."""
    fixtures: list[ClusterObject] = field(default_factory=list)
    """Objects that are no jobs, in their first form: classes, budgets, claims, Workloads."""


def recorded_cluster(history: Iterable[tuple[float, EngineEvent]]) -> RecordedWork:
    """`history` are events with the time of the decision that followed."""
    lives: dict[str, _Life] = {}
    groups: dict[_Key, AnyGroup] = {}
    nodes: dict[str, Node] = {}
    absent: dict[str, float] = {}
    fixtures: dict[_Key, ClusterObject] = {}
    claims: dict[str, ResourceClaim] = {}
    found = RecordedWork()
    begin = None
    for time, event in history:
        begin = time if begin is None else begin
        now = found.length = time - begin
        if not isinstance(event, Observed | Vanished):
            continue
        obj, is_gone = event.obj, isinstance(event, Vanished)
        if isinstance(obj, Pod):
            _note_pod(lives, obj, now, is_gone)
        elif isinstance(obj, Node):
            _note_node(found, nodes, absent, obj, now, is_gone)
        elif isinstance(obj, ResourceClaim) and obj.metadata.owner_references:
            claims.setdefault(obj.metadata.uid, obj)
        elif is_group(obj):
            groups.setdefault(_key(obj), obj)  # type: ignore[arg-type]
        else:
            fixtures.setdefault(_key(obj), obj)
    found.failures += [NodeAbsence(name, since, FOREVER) for name, since in absent.items()]
    found.failures.sort(key=lambda one: (one.begin, one.node))
    found.nodes, found.fixtures = list(nodes.values()), list(fixtures.values())
    found.jobs = sorted(_jobs(lives, groups.values(), claims.values()), key=lambda job: job.submit)
    return found


def _key(obj: ClusterObject) -> _Key:
    return type(obj).__name__, obj.metadata.namespace, obj.metadata.name


def _note_pod(lives: dict[str, _Life], pod: Pod, now: float, is_gone: bool) -> None:
    life = lives.setdefault(pod.metadata.uid, _Life(pod, now))
    if made := pod.status.resource_claim_statuses:
        # They are named after the pod was first seen.
        life.pod = replace(life.pod, status=replace(life.pod.status, resource_claim_statuses=made))
    if pod.spec.node_name and life.bound is None:
        life.bound = now
    if life.ended is None and (is_gone or pod.status.phase in ENDED_PHASES):
        life.ended = now
    life.is_evicted |= any(
        one.type == "DisruptionTarget" and one.status == "True" for one in pod.status.conditions
    )


def _note_node(
    found: RecordedWork,
    nodes: dict[str, Node],
    absent: dict[str, float],
    node: Node,
    now: float,
    is_gone: bool,
) -> None:
    name = node.metadata.name
    if is_gone:
        absent.setdefault(name, now)
    elif name not in nodes:
        nodes[name] = node
        if now > 0:
            found.failures.append(NodeAbsence(name, 0.0, now))
    elif name in absent:
        found.failures.append(NodeAbsence(name, absent.pop(name), now))


def _jobs(
    lives: dict[str, _Life], groups: Iterable[AnyGroup], claims: Iterable[ResourceClaim]
) -> Iterator[TracedJob]:
    owned: dict[str, list[ResourceClaim]] = {}
    for claim in claims:
        owned.setdefault(claim.metadata.owner_references[0].uid, []).append(claim)
    for workload in workloads_of(groups, (life.pod for life in lives.values())):
        mine = [lives[pod.metadata.uid] for pod in workload.pods]
        yield _job(workload, mine, owned)


def _job(workload: WorkloadObjects, lives: list[_Life], owned: dict[str, list[ResourceClaim]]) -> TracedJob:
    """Pods that came after a loss are replacements, and say how long the job ran after all."""
    losses = [life.ended for life in lives if life.is_evicted and life.ended is not None]
    original = [life for life in lives if not losses or life.seen <= min(losses)]
    last = [life for life in lives if not life.is_evicted] or original
    bound = [life.bound for life in last if life.bound is not None]
    ended = [life.ended for life in last if life.bound is not None and life.ended is not None]
    has_ended = bool(bound) and len(ended) == len(bound)
    duration = max(ended) - min(bound) if has_ended else FOREVER
    pods = tuple(life.pod for life in original)
    claims = [claim for owner in (*workload.groups, *pods) for claim in owned.get(owner.metadata.uid, ())]
    return TracedJob(
        workload.name,
        min(life.seen for life in lives),
        max(duration, 1.0),
        len(pods),
        max(gpus_of(pod) for pod in pods),
        queue=pods[0].metadata.namespace,
        priority=pods[0].spec.priority or 0,
        objects=JobObjects(tuple(workload.groups), pods, tuple(claims)),
    )
