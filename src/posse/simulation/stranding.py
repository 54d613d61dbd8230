"""GPU time that is stranded: free while jobs wait that ask for no more than what is free.

Such jobs wait because of where the free GPUs are, or because they are reserved for others.
"""

import math
from bisect import insort
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_END, _SUBMIT, _START = range(3)


class Stay(NamedTuple):
    """A job's way through the cluster. The start is NaN if there was none."""

    submit: float
    start: float
    duration: float
    gpus: int


def stranded_gpu_hours(jobs: Sequence[Stay], total_gpus: int, begin: float = 0.0) -> float:
    """GPU hours up to the last arrival that waiting jobs could have used if all GPUs were on one node.

    At every moment, jobs take from the free GPUs in the order of arrival; those that ask for too many are
    passed over. Runs that were evicted are left out.
    """
    last = max((one.submit for one in jobs), default=0.0)
    free, before, stranded = total_gpus, begin, 0.0
    waiting: list[tuple[float, int]] = []
    """Arrival and index, so that the first to come is the first in the list."""
    for moment, what, index in sorted(_moments(jobs)):
        if moment > before:
            stranded += _usable(jobs, waiting, free) * (min(moment, last) - before)
            before = moment
        if moment >= last:
            break
        gpus = jobs[index].gpus
        if what == _SUBMIT:
            insort(waiting, (moment, index))
        elif what == _START:
            waiting.remove((jobs[index].submit, index))
            free -= gpus
        else:
            free += gpus
    return stranded / 3600


def _moments(jobs: Sequence[Stay]) -> Iterator[tuple[float, int, int]]:
    for index, one in enumerate(jobs):
        yield one.submit, _SUBMIT, index
        if not math.isnan(one.start):
            yield one.start, _START, index
            yield one.start + one.duration, _END, index


def _usable(jobs: Sequence[Stay], waiting: Sequence[tuple[float, int]], free: int) -> int:
    left = free
    for _, index in waiting:
        if not left:
            break
        if jobs[index].gpus <= left:
            left -= jobs[index].gpus
    return free - left
