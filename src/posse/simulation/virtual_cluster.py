"""A cluster in virtual time: jobs arrive, the engine decides, pods run for as long as the trace says.

Time goes from event to event: an arrival, the end of a job, or a moment for which the engine asked.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from posse.engine.decisions import Evict, ReleaseClaim
from posse.engine.engine import Engine
from posse.engine.events import ClusterObject, Observed, Vanished
from posse.engine.groups.forms import key_of
from posse.engine.keys import GroupKey, PodRef
from posse.model.job import JobRunTime, JobRunTimeStatus
from posse.model.node import Node
from posse.model.pod import Pod
from posse.model.resource_claim import ResourceClaim
from posse.simulation.clusters import total_gpus
from posse.simulation.device_claims import SimulatedClaims
from posse.simulation.failures import NodeAbsence
from posse.simulation.forecasting import SimulatedForecasts
from posse.simulation.jobs import BEGIN, AnyGroup, TracedJob, claims_of, objects_of
from posse.simulation.policies import Policy
from posse.simulation.record import JobRecord, RunRecord
from posse.simulation.room import Room, is_decided_by_room
from posse.simulation.stranding import Absence, Span
from posse.writes.round_writes import writes_of

GRACE_SECONDS = 30.0
"""How long an evicted pod takes to end."""
_LEAST_STEP = 0.001
_ROUNDS_MAX = 100_000
"""Calls of `decide` without an event in between; more would mean that the engine goes in circles."""


@dataclass(slots=True)
class _Run:
    """One run of a job: its objects, and where its pods are."""

    index: int
    number: int
    groups: list[AnyGroup]
    pods: dict[str, Pod]
    nodes: dict[str, str] = field(default_factory=dict)
    started: float = math.nan
    is_over: bool = False


class VirtualCluster:
    def __init__(
        self,
        nodes: Sequence[Node],
        jobs: Sequence[TracedJob],
        policy: Policy,
        failures: Sequence[NodeAbsence] = (),
        fixtures: Iterable[ClusterObject] = (),
        forecasts: SimulatedForecasts | None = None,
    ) -> None:
        """`failures` in order of time; `fixtures` are there from the start, such as classes and Workloads."""
        self._jobs = jobs
        self._nodes = {node.metadata.name: node for node in nodes}
        self._failures = deque(failures)
        self._repairs: list[tuple[float, str]] = []
        self._policy = policy
        self._forecasts = forecasts
        self._engine = Engine(policy.options)
        self._claims = SimulatedClaims(self._engine.absorb)
        for obj in (*fixtures, *nodes):
            if isinstance(obj, ResourceClaim):
                self._claims.add([obj])
            elif isinstance(obj, JobRunTime):
                # Jobs do not start by themselves here, so their limits count from the start of their pods.
                self._engine.absorb(Observed(replace(obj, status=JobRunTimeStatus())))
            else:
                self._engine.absorb(Observed(obj))
        self._ends: list[tuple[float, int, _Run, bool]] = []
        """Heap of what ends when: a run (True), or a run whose pods were evicted."""
        self._pushed = 0
        self._waiting: deque[int] = deque()
        """Jobs that have arrived and are not yet shown to the engine."""
        self._runs: dict[str, _Run] = {}
        """Runs that are not over, by uid of their pods."""
        self._pending = 0
        """Runs that the engine knows and has not started."""
        self._asked_in_vain = False
        self._room = Room(nodes) if self._is_simple() else None
        """None if more than free GPUs decides whether a job starts."""
        self.now = 0.0
        self.record = RunRecord([JobRecord(job) for job in jobs])

    def _is_simple(self) -> bool:
        return not (self._policy.options.reserves or self._failures) and is_decided_by_room(self._jobs)

    def run(self, until: float = math.inf, progress: Callable[[float, int], None] | None = None) -> RunRecord:
        """Go on until every job has ended, or nothing can happen any more."""
        arrival, finished = 0, 0
        while True:
            next_arrival = self._jobs[arrival].submit if arrival < len(self._jobs) else math.inf
            next_end = self._ends[0][0] if self._ends else math.inf
            if next_arrival == next_end == math.inf and not self._pending:
                break
            next_end = min(next_end, self._next_node_change())
            moment = min(next_arrival, next_end, self._next_wakeup(next_arrival == next_end == math.inf))
            if moment == math.inf or moment > until:
                break
            self.now = max(moment, self.now)
            while self._ends and self._ends[0][0] <= self.now:
                finished += self._end(heapq.heappop(self._ends))
            self._change_nodes()
            while arrival < len(self._jobs) and self._jobs[arrival].submit <= self.now:
                self._waiting.append(arrival)
                arrival += 1
            self._schedule()
            if progress is not None:
                progress(self.now, finished)
        return self.record

    def _next_node_change(self) -> float:
        failure = self._failures[0].begin if self._failures else math.inf
        return min(failure, self._repairs[0][0] if self._repairs else math.inf)

    def _change_nodes(self) -> None:
        """Nodes that fail are gone, and the jobs on them start again; nodes that are repaired come back."""
        while self._repairs and self._repairs[0][0] <= self.now:
            _, name = heapq.heappop(self._repairs)
            self._engine.absorb(Observed(self._nodes[name]))
        while self._failures and self._failures[0].begin <= self.now:
            failure = self._failures.popleft()
            heapq.heappush(self._repairs, (failure.end, failure.node))
            node = self._nodes[failure.node]
            self._engine.absorb(Vanished(node))
            self.record.absences.append(Absence(Span(self.now, failure.end), total_gpus([node])))
            hit = {id(run): run for run in self._runs.values() if failure.node in run.nodes.values()}
            for run in hit.values():
                if not run.is_over:
                    self.record.evicted(run.index, self.now, self.now)
                    self._remove(run)
                    self._submit(run.index, run.number + 1)

    def _next_wakeup(self, is_last_resort: bool) -> float:
        """When the engine wants to be asked again.

        Without reservations nothing changes by itself: what did not fit fits no better after a while. Without
        any other event to come, asking once is enough.
        """
        if not self._pending or not self._policy.options.reserves:
            return math.inf
        wakeup = self._engine.next_wakeup()
        if wakeup is None or (is_last_resort and not self._ends and self._asked_in_vain):
            return math.inf
        return max(wakeup - BEGIN, self.now + _LEAST_STEP)

    def _schedule(self) -> None:
        started = self._submit_and_decide()
        while started and self._waiting and self._policy.blocks:
            started = self._submit_and_decide()
        self._asked_in_vain = not started
        if self._forecasts is not None and self._pending:
            self._forecasts.decided(self._engine, self.now)

    def _submit_and_decide(self) -> bool:
        """Show jobs to the engine, and let it decide. Returns whether any run started."""
        if not self._submit_waiting():
            return False
        has_started = False
        for _ in range(_ROUNDS_MAX):
            writes = writes_of(self._engine.decide(BEGIN + self.now))
            for claim in writes.claims:
                self._claims.write(claim.decision, BEGIN + self.now)
            touched = [
                self._bind(placement.pod.uid, placement.node)
                for binding in writes.bindings
                for placement in binding.decision.placements
            ]
            for run in touched:
                has_started |= self._start(run)
            for stage in writes.stages:
                for part in stage:
                    if isinstance(part.decision, Evict):
                        self._evict(part.decision.pod.uid)
                    elif isinstance(part.decision, ReleaseClaim):
                        self._claims.release(part.decision)
            if not self._engine.has_work:
                return has_started
        raise RuntimeError(f"the engine does not come to rest at second {self.now:.0f}")

    def _submit_waiting(self) -> bool:
        """Returns whether any job may fit."""
        while self._waiting and not (self._policy.blocks and self._pending):
            self._submit(self._waiting.popleft(), 0)
        return self._room is None or self._room.may_fit()

    def _submit(self, index: int, number: int) -> None:
        policy = self._policy
        groups, pods = objects_of(
            self._jobs[index], number, policy.topology_key, policy.scheduler, policy.annotations
        )
        run = _Run(index, number, groups, {pod.metadata.uid: pod for pod in pods})
        for group in groups:
            self._engine.absorb(Observed(group))
        self._claims.add(claims_of(self._jobs[index], number))
        for pod in pods:
            self._runs[pod.metadata.uid] = run
            self._engine.absorb(Observed(pod))
        self._pending += 1
        if self._room is not None:
            self._room.wait(self._jobs[index])

    def _bind(self, uid: str, node: str) -> _Run:
        run = self._runs[uid]
        pod = run.pods[uid]
        bound = replace(
            pod, spec=replace(pod.spec, node_name=node), status=replace(pod.status, phase="Running")
        )
        run.pods[uid] = bound
        run.nodes[uid] = node
        self._engine.absorb(Observed(bound))
        return run

    def _start(self, run: _Run) -> bool:
        """Returns whether the run has started with these bindings."""
        job = self._jobs[run.index]
        if not math.isnan(run.started) or len(run.nodes) < job.starting_pods:
            return False
        run.started = self.now
        self._pending -= 1
        self.record.started(run.index, self.now, tuple(run.nodes.values()))
        if self._room is not None:
            self._room.start(job, run.nodes.values())
        if self._forecasts is not None:
            self._forecasts.started(_name_of(run), self.now)
        self._push(self.now + job.duration, run, True)
        return True

    def _push(self, moment: float, run: _Run, is_end: bool) -> None:
        self._pushed += 1
        heapq.heappush(self._ends, (moment, self._pushed, run, is_end))

    def _evict(self, uid: str) -> None:
        """The job cannot go on without the pod: all its pods end, and it starts again."""
        run = self._runs.get(uid)
        if run is None or run.is_over or math.isnan(run.started):
            return
        run.is_over = True
        self.record.evicted(run.index, self.now, self.now + GRACE_SECONDS)
        for pod in run.pods.values():
            terminating = replace(
                pod, metadata=replace(pod.metadata, deletion_timestamp=pod.metadata.creation_timestamp)
            )
            self._engine.absorb(Observed(terminating))
        self._push(self.now + GRACE_SECONDS, run, False)

    def _end(self, entry: tuple[float, int, _Run, bool]) -> int:
        """Returns 1 if a job is finished."""
        moment, _, run, is_end = entry
        if is_end and run.is_over:
            return 0
        self._remove(run)
        if is_end:
            self.record.ended(run.index, moment)
            if self._room is not None:
                self._room.end(self._jobs[run.index], run.nodes.values())
            return 1
        self._submit(run.index, run.number + 1)
        return 0

    def _remove(self, run: _Run) -> None:
        run.is_over = True
        for uid, pod in run.pods.items():
            del self._runs[uid]
            self._engine.absorb(Vanished(pod))
        self._claims.remove(claims_of(self._jobs[run.index], run.number))
        self._claims.leave({*run.pods, *(group.metadata.uid for group in run.groups)})
        for group in run.groups:
            self._engine.absorb(Vanished(group))


def _name_of(run: _Run) -> GroupKey | PodRef:
    """Of its first group, or of the pod that it is."""
    if run.groups:
        return key_of(run.groups[0])
    metadata = next(iter(run.pods.values())).metadata
    return PodRef(metadata.namespace, metadata.name, metadata.uid)
