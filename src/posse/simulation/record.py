"""What happened to each job of a trace, and the figures that follow from it."""

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from posse.simulation.jobs import TracedJob
from posse.simulation.stranding import Absence, Span, Stay, stranded_gpu_hours

LARGE_GPUS = 8
"""Gangs with more GPUs than this are reported by themselves: they do not fit on one common node."""
_SLOWDOWN_FLOOR = 10.0
"""Shorter jobs count as this long, in seconds, so that none dominates the slowdown."""


@dataclass(frozen=True, slots=True)
class Run:
    """A time on nodes, until their GPUs were free again."""

    start: float
    end: float
    nodes: tuple[str, ...]


@dataclass(slots=True)
class JobRecord:
    job: TracedJob
    start: float = math.nan
    """Of the last run."""
    end: float = math.nan
    nodes: tuple[str, ...] = ()
    lost_gpu_seconds: float = 0.0
    """Of runs that were evicted, or whose node failed."""
    evicted_runs: tuple[Run, ...] = ()
    """The runs themselves, in order."""

    @property
    def restarts(self) -> int:
        return len(self.evicted_runs)

    @property
    def runs(self) -> tuple[Run, ...]:
        """All of them. The last one is as long as the trace says, even if the simulation was over before."""
        if math.isnan(self.start):
            return self.evicted_runs
        return (*self.evicted_runs, Run(self.start, self.start + self.job.duration, self.nodes))

    @property
    def wait(self) -> float:
        return self.start - self.job.submit


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one run on one trace. Times are in seconds."""

    jobs: int
    started: int
    mean_wait: float
    median_wait: float
    p95_wait: float
    longest_wait: float
    mean_wait_large: float
    """NaN without gangs above 8 GPUs."""
    mean_slowdown: float
    utilization: float
    """Share of GPU time in use, from the start of the window to the last arrival."""
    lost_gpu_hours: float
    stranded_gpu_hours: float
    """Free while jobs waited that asked for no more than what was free, up to the last arrival."""
    restarts: int


@dataclass(slots=True)
class RunRecord:
    jobs: list[JobRecord]
    absences: list[Absence] = field(default_factory=list)
    """Of nodes that failed."""
    _digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def started(self, index: int, moment: float, nodes: tuple[str, ...]) -> None:
        record = self.jobs[index]
        record.start, record.nodes = moment, nodes
        self._digest.update(f"{record.job.name} {moment:.3f} {' '.join(nodes)}\n".encode())

    def ended(self, index: int, moment: float) -> None:
        self.jobs[index].end = moment

    def evicted(self, index: int, moment: float, freed: float) -> None:
        """The job's work is lost at one moment, and its GPUs are free from another one on."""
        record = self.jobs[index]
        record.lost_gpu_seconds += (moment - record.start) * record.job.gpus
        record.evicted_runs = (*record.evicted_runs, Run(record.start, freed, record.nodes))
        record.start = math.nan

    @property
    def digest(self) -> str:
        """Equal for runs in which every job started at the same moment on the same nodes."""
        return self._digest.hexdigest()

    def stays(self) -> list[Stay]:
        return [_stay(one) for one in self.jobs]

    def within(self, begin: float) -> Iterator[JobRecord]:
        return (record for record in self.jobs if record.job.submit >= begin)


def figures_of(record: RunRecord, total_gpus: int, begin: float = 0.0) -> Figures:
    """Figures of the jobs that arrived after `begin`."""
    jobs = list(record.within(begin))
    started = [one for one in jobs if not math.isnan(one.start)]
    waits = np.array([one.wait for one in started])
    large = [one.wait for one in started if one.job.gpus > LARGE_GPUS]
    return Figures(
        jobs=len(jobs),
        started=len(started),
        mean_wait=_mean(waits),
        median_wait=float(np.median(waits)) if waits.size else math.nan,
        p95_wait=float(np.percentile(waits, 95)) if waits.size else math.nan,
        longest_wait=float(waits.max()) if waits.size else math.nan,
        mean_wait_large=_mean(np.array(large)),
        mean_slowdown=_mean(np.array([_slowdown(one) for one in started])),
        utilization=utilization(record.jobs, total_gpus, begin),
        lost_gpu_hours=sum(one.lost_gpu_seconds for one in jobs) / 3600,
        stranded_gpu_hours=stranded_gpu_hours(record.stays(), total_gpus, begin, record.absences),
        restarts=sum(one.restarts for one in jobs),
    )


def _stay(record: JobRecord) -> Stay:
    evicted = tuple(Span(run.start, run.end) for run in record.evicted_runs)
    return Stay(record.job.submit, record.start, record.job.duration, record.job.gpus, evicted)


def _mean(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
    return float(values.mean()) if values.size else math.nan


def _slowdown(record: JobRecord) -> float:
    run = record.job.duration
    return max(1.0, (record.wait + run) / max(run, _SLOWDOWN_FLOOR))


def utilization(jobs: Sequence[JobRecord], total_gpus: int, begin: float = 0.0) -> float:
    if not jobs or not total_gpus:
        return math.nan
    last = max(one.job.submit for one in jobs)
    if last <= begin:
        return math.nan
    used = sum(
        one.job.gpus * max(0.0, min(run.end, last) - max(run.start, begin))
        for one in jobs
        for run in one.runs
    )
    return used / (total_gpus * (last - begin))
