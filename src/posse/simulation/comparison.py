"""Several policies on one trace: jobs that can never run, series over time, and where runs part."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.forecast.forecast_book import ForecastTally
from posse.model.node import Node
from posse.simulation.jobs import FOREVER, GPU, TracedJob
from posse.simulation.record import Figures, JobRecord, RunRecord

_POINTS = 600
"""Of a series over time."""


@dataclass(frozen=True, slots=True)
class PolicyRun:
    """The outcome of one policy."""

    policy: str
    record: RunRecord
    figures: Figures
    forecasts: ForecastTally | None = None
    """How many starts were foreseen, if that was asked."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All policies on all samples of one trace."""

    trace: str
    nodes: int
    gpus: int
    jobs: tuple[TracedJob, ...]
    oversized: tuple[TracedJob, ...]
    """Jobs that do not fit on the empty cluster; they were left out."""
    warm_up: float
    samples: tuple[tuple[PolicyRun, ...], ...]
    """The runs of each policy, of which the first is on the trace as it is."""

    @property
    def runs(self) -> tuple[PolicyRun, ...]:
        return tuple(runs[0] for runs in self.samples)


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first job that two runs treat differently."""

    job: TracedJob
    one: JobRecord
    other: JobRecord


@dataclass(frozen=True, slots=True)
class Series:
    """Values over time, in seconds after the start of the trace."""

    times: Sequence[float]
    running_gpus: Sequence[float]
    waiting_gpus: Sequence[float]


def split_oversized(
    jobs: Iterable[TracedJob], nodes: Sequence[Node]
) -> tuple[list[TracedJob], list[TracedJob]]:
    """Jobs that fit on the empty cluster, and those that never will. Those with objects are tried anyway."""
    amounts = [int(node.status.allocatable.get(GPU, 0)) for node in nodes]
    places: dict[int, int] = {}
    fitting: list[TracedJob] = []
    oversized: list[TracedJob] = []
    for job in jobs:
        if job.objects is not None:
            fitting.append(job)
            continue
        if job.gpus_per_pod not in places:
            per_pod = job.gpus_per_pod
            places[per_pod] = sum(amount // per_pod for amount in amounts) if per_pod else len(nodes) * 250
        (fitting if job.pods <= places[job.gpus_per_pod] else oversized).append(job)
    return fitting, oversized


def first_divergence(one: RunRecord, other: RunRecord) -> Divergence | None:
    """By the time of the earlier of both starts; None if the runs are equal."""
    pairs = [
        (mine, theirs)
        for mine, theirs in zip(one.jobs, other.jobs, strict=True)
        if (_started(mine), mine.nodes) != (_started(theirs), theirs.nodes)
    ]
    if not pairs:
        return None
    mine, theirs = min(pairs, key=lambda pair: min(_started(pair[0]), _started(pair[1])))
    return Divergence(mine.job, mine, theirs)


def _started(record: JobRecord) -> float:
    return math.inf if math.isnan(record.start) else record.start


def longest_waits(record: RunRecord, count: int, begin: float = 0.0) -> list[JobRecord]:
    """Jobs that never started come first."""
    return sorted(record.within(begin), key=lambda one: _started(one) - one.job.submit, reverse=True)[:count]


def series_of(record: RunRecord) -> Series:
    """GPUs of jobs that run and that wait, at moments of equal distance."""
    jobs = record.jobs
    if not jobs:
        return Series((), (), ())
    submits = np.array([one.job.submit for one in jobs])
    starts = np.array([_started(one) for one in jobs])
    durations = np.array([one.job.duration for one in jobs])
    ends = starts + durations
    gpus = np.array([one.job.gpus for one in jobs], dtype=np.int64)
    last = float(np.max(np.where(np.isfinite(ends) & (durations < FOREVER), ends, submits)))
    times = np.linspace(0.0, last, _POINTS)
    arrived, begun, over = (_summed(moments, gpus, times) for moments in (submits, starts, ends))
    return Series(times.tolist(), (begun - over).tolist(), (arrived - begun).tolist())


def _summed(
    moments: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    amounts: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    times: "np.ndarray[tuple[int], np.dtype[np.float64]]",
) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """The amounts of all moments up to each of the times."""
    order = np.argsort(moments)
    totals = np.concatenate(([0], np.cumsum(amounts[order])))
    return totals[np.searchsorted(moments[order], times, side="right")]
