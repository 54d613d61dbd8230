"""GPU time that is stranded: free while jobs wait that ask for no more than what is free.

Such jobs wait because of where the free GPUs are, or because they are reserved for others.
"""

import math
from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FREED, _SUBMIT, _START, _TAKEN = range(4)


class Span(NamedTuple):
    """From one moment to another, in seconds."""

    begin: float
    end: float


class Stay(NamedTuple):
    """A job's way through the cluster. The start is that of its last run, or NaN if there was none."""

    submit: float
    start: float
    duration: float
    gpus: int
    evicted: tuple[Span, ...] = ()
    """Earlier runs, each until its GPUs were free again; from then on the job waits."""


class Absence(NamedTuple):
    """GPUs of a node that has failed."""

    span: Span
    gpus: int


class StrandedSpan(NamedTuple):
    """So many GPUs are stranded from one moment to another."""

    begin: float
    end: float
    gpus: int


def stranded_gpu_hours(
    jobs: Sequence[Stay], total_gpus: int, begin: float = 0.0, absences: Sequence[Absence] = ()
) -> float:
    """GPU hours up to the last arrival that waiting jobs could have used if all GPUs were on one node."""
    last = max((one.submit for one in jobs), default=0.0)
    stranded = 0.0
    for step in stranded_steps(jobs, total_gpus, absences):
        if step.begin >= last:
            break
        stranded += step.gpus * max(0.0, min(step.end, last) - max(step.begin, begin))
    return stranded / 3600


def stranded_at(steps: Sequence[StrandedSpan], times: Sequence[float]) -> list[int]:
    """How many GPUs are stranded at each of the moments."""
    begins = [step.begin for step in steps]
    places = [bisect_right(begins, moment) - 1 for moment in times]
    return [
        steps[place].gpus if place >= 0 and moment < steps[place].end else 0
        for place, moment in zip(places, times, strict=True)
    ]


def stranded_steps(
    jobs: Sequence[Stay], total_gpus: int, absences: Sequence[Absence] = ()
) -> Iterator[StrandedSpan]:
    """At every moment, jobs take from the free GPUs in the order of arrival.

    Those that ask for more than is left are passed over.
    """
    free, before = total_gpus, 0.0
    waiting: list[tuple[float, int]] = []
    """Arrival and index, so that the first to come is the first in the list."""
    for moment, what, index, gpus in sorted(_moments(jobs, absences)):
        if moment > before:
            yield StrandedSpan(before, moment, _usable(jobs, waiting, free))
            before = moment
        if what == _SUBMIT:
            insort(waiting, (jobs[index].submit, index))
        elif what == _START:
            waiting.remove((jobs[index].submit, index))
        free += gpus


def _moments(jobs: Sequence[Stay], absences: Sequence[Absence]) -> Iterator[tuple[float, int, int, int]]:
    """When, what, which job, and how many GPUs are free from then on that were not before."""
    for index, one in enumerate(jobs):
        yield one.submit, _SUBMIT, index, 0
        for span in one.evicted:
            yield span.begin, _START, index, -one.gpus
            yield span.end, _SUBMIT, index, one.gpus
        if not math.isnan(one.start):
            yield one.start, _START, index, -one.gpus
            yield one.start + one.duration, _FREED, index, one.gpus
    for absence in absences:
        yield absence.span.begin, _TAKEN, -1, -absence.gpus
        yield absence.span.end, _FREED, -1, absence.gpus


def _usable(jobs: Sequence[Stay], waiting: Sequence[tuple[float, int]], free: int) -> int:
    left = free
    for _, index in waiting:
        if left <= 0:
            break
        if jobs[index].gpus <= left:
            left -= jobs[index].gpus
    return free - left
