"""Counts and durations of scheduling for Prometheus, named as in kube-scheduler where they mean the same.

Many pods are decided in one round, so each pod counts a share of its time. Gauges are in gauges.py.
"""

import time
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeGuard

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Info,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from posse.engine.cycle.cycle import AttemptRecord
from posse.engine.decisions import SCHEDULER_ERROR, Decision, Placement, ReportGroup, ReportPod
from posse.engine.explain.statistics import Statistics
from posse.engine.keys import GroupKey, PodRef
from posse.engine.verdict import Code, NodesClearing, VictimsChosen, VictimsTerminating
from posse.model.feature_gates import ALL_GATES, Gates
from posse.runtime.scheduling.gauges import Gauges
from posse.runtime.scheduling.histogram import Histogram
from posse.runtime.scheduling.observers import Round
from posse.version import VERSION

SCHEDULED = "scheduled"
UNSCHEDULABLE = "unschedulable"
ERROR = "error"
WAITING = "waiting_on_preemption"
MAX_ATTEMPTS_LABEL = 14


def _result(tried: AttemptRecord) -> str:
    if tried.verdict.succeeded:
        return SCHEDULED
    # Its pods are reported one by one, and counted with these reports.
    return ERROR if tried.verdict.code is Code.ERROR else UNSCHEDULABLE


def _is_invalid(decision: Decision) -> TypeGuard[ReportGroup]:
    """Whether a group is refused without an attempt, because it makes no sense."""
    return isinstance(decision, ReportGroup) and decision.reason == SCHEDULER_ERROR and decision.is_news


def _group_result(tried: AttemptRecord) -> str:
    is_waiting = isinstance(tried.verdict.preemption, VictimsChosen | VictimsTerminating | NodesClearing)
    result = _result(tried)
    return WAITING if result == UNSCHEDULABLE and is_waiting else result


def exponential(first: float, count: int) -> tuple[float, ...]:
    """Bounds of buckets, each twice the one before."""
    return tuple(float(first * 2**power) for power in range(count))


DURATION_BUCKETS = exponential(0.001, 15)
SHORT_DURATION_BUCKETS = exponential(0.0001, 15)
QUEUE_BUCKETS = exponential(0.01, 20)
ATTEMPT_BUCKETS = exponential(1, 5)
VICTIM_BUCKETS = exponential(1, 7)


class Metrics:
    """Observes scheduling. `statistics` is called at every scrape."""

    def __init__(
        self, statistics: Callable[[], Statistics], clock: Callable[[], float], gates: Gates = ALL_GATES
    ) -> None:
        # The start of a series is useless here, and kube-scheduler does not show it either.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # The library left its type out.
        self._clock = clock
        self._registry = CollectorRegistry()
        self._attempts = self._counter(
            "scheduler_schedule_attempts_total", "Attempts to schedule pods.", ("result", "profile")
        )
        self._attempt_seconds = self._histogram(
            "scheduler_scheduling_attempt_duration_seconds",
            "Deciding and binding, per pod.",
            DURATION_BUCKETS,
            ("result", "profile"),
        )
        self._algorithm_seconds = self._histogram(
            "scheduler_scheduling_algorithm_duration_seconds",
            "Deciding, per pod: its share of the round it was decided in.",
            DURATION_BUCKETS,
        )
        self._attempts_to_success = self._histogram(
            "scheduler_pod_scheduling_attempts", "Attempts until a pod was bound.", ATTEMPT_BUCKETS
        )
        self._queue_seconds = self._histogram(
            "scheduler_pod_scheduling_sli_duration_seconds",
            "From when a pod was first free to be tried until it was bound.",
            QUEUE_BUCKETS,
            ("attempts",),
        )
        self._group_attempts = self._counter(
            "scheduler_podgroup_schedule_attempts_total",
            "Attempts to schedule pod groups.",
            ("result", "profile"),
        )
        self._group_seconds = self._histogram(
            "scheduler_podgroup_scheduling_attempt_duration_seconds",
            "Deciding on a pod group: the shares of its pods.",
            DURATION_BUCKETS,
            ("result", "profile"),
        )
        self._group_algorithm_seconds = self._histogram(
            "scheduler_podgroup_scheduling_algorithm_duration_seconds",
            "Deciding on a pod group: the shares of its pods.",
            DURATION_BUCKETS,
        )
        self._add_preemption_metrics()
        self._decide_seconds = self._histogram(
            "posse_decide_duration_seconds",
            "One round of deciding, over all pods and groups in it.",
            SHORT_DURATION_BUCKETS,
        )
        self._add_longest_times()
        self._bind_refused = self._counter(
            "posse_bind_refused_total", "Bindings that the API server did not accept."
        )
        self._add_verdict_metrics()
        Info("posse_build", "The version that runs.", registry=self._registry).info({"version": VERSION})
        ProcessCollector(registry=self._registry)
        self._registry.register(Gauges(statistics, gates))

    def _add_longest_times(self) -> None:
        self._longest_decide = Gauge(
            "posse_longest_decide_seconds", "The longest round of deciding so far.", registry=self._registry
        )
        self._longest_stall = Gauge(
            "posse_longest_stall_seconds",
            "The longest time so far in which the process answered nothing.",
            registry=self._registry,
        )
        self._longest = {self._longest_decide: 0.0, self._longest_stall: 0.0}

    def _add_verdict_metrics(self) -> None:
        self._exact_searches = self._counter(
            "posse_exact_searches_total",
            "Searches through every placement of a group, by what came of them.",
            ("outcome",),
        )
        self._verdicts = self._counter(
            "posse_podgroup_verdicts_total",
            "Attempts to schedule pod groups, by what is known about a placement then.",
            ("verdict",),
        )

    def _add_preemption_metrics(self) -> None:
        self._preemptions = self._counter(
            "scheduler_preemption_attempts_total", "Searches for room that evictions could make for a pod."
        )
        self._victims = self._histogram(
            "scheduler_preemption_victims", "Pods evicted to make room for one.", VICTIM_BUCKETS
        )
        self._group_preemptions = self._counter(
            "scheduler_workload_preemption_attempts_total",
            "Searches for room that evictions could make for a pod group.",
            ("result",),
        )
        self._disruptions = self._histogram(
            "scheduler_preemption_workload_disruptions",
            "Pod groups that lost pods to one preemption.",
            VICTIM_BUCKETS,
            ("preemptor",),
        )
        self._overdrawn = self._counter(
            "scheduler_preemption_pdb_violations_total",
            "Victims whose eviction overdraws a disruption budget; pods that go together count once.",
            ("preemptor",),
        )
        self._cascades = self._counter(
            "posse_preemption_cascades_total",
            "Preemptions by pods and pod groups that were preempted themselves and had not started again.",
        )
        self._group_victims = self._histogram(
            "scheduler_workload_preemption_victims", "Pods evicted to make room for a group.", VICTIM_BUCKETS
        )

    def searched_exactly(self, outcome: str) -> None:
        self._exact_searches.labels(outcome).inc()

    def add(self, collector: Collector) -> None:
        """Expose these metrics too."""
        self._registry.register(collector)

    def page(self, accept: str) -> tuple[bytes, str]:
        """All metrics in the format that the Accept header asks for, and its content type."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type

    def stalled(self, seconds: float) -> None:
        """The event loop was late by so much."""
        self._note_longest(self._longest_stall, seconds)

    def _note_longest(self, gauge: Gauge, seconds: float) -> None:
        if seconds > self._longest[gauge]:
            self._longest[gauge] = seconds
            gauge.set(seconds)

    def decided(self, done: Round) -> None:
        self._decide_seconds.observe(done.seconds)
        self._note_longest(self._longest_decide, done.seconds)
        placed = sum(1 for bind in done.binds() if bind.group is None)
        pods = placed + sum(tried.pods for tried in done.tried)
        share = done.seconds / pods if pods else 0.0
        self._algorithm_seconds.observe(share, times=pods)
        self._count_refused([tried for tried in done.tried if _result(tried) == UNSCHEDULABLE], share)
        groups = [tried for tried in done.tried if isinstance(tried.who, GroupKey)]
        self._count_groups(groups, share)
        counted = {tried.who for tried in groups}
        for decision in done.decisions:
            if isinstance(decision, ReportPod) and decision.reason == SCHEDULER_ERROR:
                self._attempts.labels(ERROR, decision.pod.scheduler_name).inc()
            elif _is_invalid(decision) and decision.group not in counted:
                self._group_attempts.labels(ERROR, decision.scheduler_name).inc()

    def bound(self, done: Round, refusals: Mapping[str, str]) -> None:
        now, seconds = self._clock(), time.perf_counter() - done.started
        placements = [placement for bind in done.binds() for placement in bind.placements]
        for profile in dict.fromkeys(placement.pod.scheduler_name for placement in placements):
            ours = [placement for placement in placements if placement.pod.scheduler_name == profile]
            accepted = [placement for placement in ours if placement.pod.uid not in refusals]
            self._count_attempts(SCHEDULED, profile, len(accepted), seconds)
            self._count_attempts(ERROR, profile, len(ours) - len(accepted), seconds)
            self._count_queued(accepted, now)
        for bind in done.binds():
            if bind.group is not None and any(item.pod.uid in refusals for item in bind.placements):
                self._group_attempts.labels(ERROR, bind.placements[0].pod.scheduler_name).inc()
        self._bind_refused.inc(len(refusals))

    def volumes_refused(self, pod: PodRef, node: str, reason: str) -> None:  # noqa: ARG002 - only counted
        self._attempts.labels(ERROR, pod.scheduler_name).inc()

    def _count_refused(self, refused: Sequence[AttemptRecord], share: float) -> None:
        pods = Tally[str]()
        for tried in refused:
            pods[tried.scheduler_name] += tried.pods
            self._count_preemption(tried)
        for profile, number in pods.items():
            self._count_attempts(UNSCHEDULABLE, profile, number, share)

    def _count_preemption(self, tried: AttemptRecord) -> None:
        if not tried.sought_victims:
            return
        is_group = isinstance(tried.who, GroupKey)
        if is_group:
            self._group_preemptions.labels("success" if tried.victims else "failure").inc()
        else:
            self._preemptions.inc()
        self._cascades.inc(int(tried.is_cascade))
        if tried.victims:
            preemptor = "podgroup" if is_group else "pod"
            self._disruptions.observe(tried.disrupted_groups, preemptor)
            self._overdrawn.labels(preemptor).inc(tried.overdrawn_budgets)
            (self._group_victims if is_group else self._victims).observe(len(tried.victims))

    def _count_groups(self, groups: Sequence[AttemptRecord], share: float) -> None:
        for tried in groups:
            result = _group_result(tried)
            self._group_attempts.labels(result, tried.scheduler_name).inc()
            if tried.verdict.outcome is not None:
                self._verdicts.labels(tried.verdict.outcome).inc()
            self._group_seconds.observe(share * tried.pods, result, tried.scheduler_name)
            self._group_algorithm_seconds.observe(share * tried.pods)

    def _count_attempts(self, result: str, profile: str, pods: int, seconds: float) -> None:
        if pods:
            self._attempts.labels(result, profile).inc(pods)
            self._attempt_seconds.observe(seconds, result, profile, times=pods)

    def _count_queued(self, placements: Iterable[Placement], now: float) -> None:
        """Pods that were created together mostly waited equally long, so they are counted together."""
        for (attempts, queued_at), pods in Tally((p.attempts, p.queued_at) for p in placements).items():
            most = MAX_ATTEMPTS_LABEL
            label = str(attempts) if attempts <= most else f"{most + 1}+"
            self._queue_seconds.observe(max(0.0, now - queued_at), label, times=pods)
            self._attempts_to_success.observe(attempts, times=pods)

    def _counter(self, name: str, text: str, labels: Sequence[str] = ()) -> Counter:
        return Counter(name, text, labels, registry=self._registry)

    def _histogram(
        self, name: str, text: str, buckets: Sequence[float], labels: Sequence[str] = ()
    ) -> Histogram:
        return Histogram(self._registry, name, text, buckets, labels)
