"""Several policies on one trace: jobs that can never run, series over time, and where runs part."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from posse.engine.forecast.forecast_book import ForecastTally
from posse.model.node import Node
from posse.simulation.jobs import FOREVER, GPU, TracedJob
from posse.simulation.record import Figures, JobRecord, RunRecord
from posse.simulation.stranding import stranded_at, stranded_steps

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
    racks: Mapping[str, str] = field(default_factory=dict)
    """Of each node; empty if the cluster has none."""

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
    stranded_gpus: Sequence[float]


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


def series_of(record: RunRecord, total_gpus: int) -> Series:
    """GPUs of jobs that run and that wait, and stranded ones, at moments of equal distance."""
    jobs = record.jobs
    if not jobs:
        return Series((), (), (), ())
    runs = [(run, one.job.gpus) for one in jobs for run in one.runs]
    # Who is evicted waits again, from the moment when the GPUs are free.
    again = [(run.end, one.job.gpus) for one in jobs for run in one.evicted_runs]
    arrivals = [(one.job.submit, one.job.gpus) for one in jobs]
    ends = [run.end for run, _ in runs if run.end - run.start < FOREVER]
    times = np.linspace(0.0, max(ends + [moment for moment, _ in arrivals]), _POINTS)
    begun = _summed([(run.start, gpus) for run, gpus in runs], times)
    over = _summed([(run.end, gpus) for run, gpus in runs], times)
    waiting = _summed(arrivals + again, times) - begun
    steps = list(stranded_steps(record.stays(), total_gpus, record.absences))
    stranded = stranded_at(steps, times.tolist())
    return Series(times.tolist(), (begun - over).tolist(), waiting.tolist(), stranded)


def _summed(
    changes: Sequence[tuple[float, int]], times: "np.ndarray[tuple[int], np.dtype[np.float64]]"
) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """The amounts of all moments up to each of the times."""
    ordered = sorted(changes)
    totals = np.concatenate(([0], np.cumsum([amount for _, amount in ordered], dtype=np.int64)))
    return totals[np.searchsorted([moment for moment, _ in ordered], times, side="right")]
