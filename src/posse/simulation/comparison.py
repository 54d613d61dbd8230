"""Several policies on one trace: jobs that can never run, series over time, and where runs part."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from posse.engine.forecast.forecast_book import ForecastTally
from posse.model.node import Node
from posse.simulation.jobs import FOREVER, GPU, TracedJob
from posse.simulation.record import Figures, JobRecord, Run, RunRecord
from posse.simulation.stranding import stranded_at, stranded_steps
from posse.simulation.trace_reading import LeftOut

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
    left_out: tuple[LeftOut, ...] = ()
    """Jobs of the trace that cannot be simulated on any cluster."""

    @property
    def runs(self) -> tuple[PolicyRun, ...]:
        return tuple(runs[0] for runs in self.samples)


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first start of a job that differs in two simulations; None where it does not start."""

    job: TracedJob
    one: Run | None
    other: Run | None
    restarts: int = 0
    """How often it had started before, equally in both."""


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
    pairs = zip(one.jobs, other.jobs, strict=True)
    found = [this for mine, theirs in pairs if (this := _first_unlike(mine, theirs)) is not None]
    return min(found, key=lambda this: min(_begin(this.one), _begin(this.other)), default=None)


def _first_unlike(one: JobRecord, other: JobRecord) -> Divergence | None:
    """The first runs of a job that differ in where or when they start; None if there are none."""
    for number, (mine, theirs) in enumerate(zip_longest(one.runs, other.runs)):
        if mine is None or theirs is None or (mine.start, mine.nodes) != (theirs.start, theirs.nodes):
            return Divergence(one.job, mine, theirs, number)
    return None


def _begin(run: Run | None) -> float:
    return math.inf if run is None else run.start


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
