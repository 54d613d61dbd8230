"""GPU hours that are free while jobs wait that ask for no more, compared with going second by second."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.simulation.stranding import (
    Absence,
    Span,
    Stay,
    stranded_at,
    stranded_gpu_hours,
    stranded_steps,
)

HOUR = 3600.0
MOMENTS = st.integers(0, 12)


@st.composite
def stays(draw):
    """Jobs that may be evicted up to twice before their last run, if they have one."""
    submit = moment = draw(MOMENTS)
    evicted = []
    for _ in range(draw(st.integers(0, 2))):
        begin = moment + draw(MOMENTS)
        moment = begin + draw(st.integers(1, 4))
        evicted.append(Span(begin, moment))
    start = moment + draw(MOMENTS) if draw(st.booleans()) else math.nan
    return Stay(submit, start, draw(st.integers(1, 6)), draw(st.integers(1, 4)), tuple(evicted))


@st.composite
def absences(draw):
    begin = draw(MOMENTS)
    return Absence(Span(begin, begin + draw(st.integers(1, 6))), draw(st.integers(1, 8)))


def runs(job):
    return (*job.evicted, Span(job.start, job.start + job.duration))


def is_in(moment, span):
    return span.begin <= moment < span.end


def stranded_in_second(moment, jobs, gpus, gone):
    free = gpus - sum(one.gpus for one in gone if is_in(moment, one.span))
    free -= sum(job.gpus for job in jobs for run in runs(job) if is_in(moment, run))
    left = free
    for job in sorted(jobs, key=lambda one: one.submit):
        is_over = not math.isnan(job.start) and moment >= job.start
        waits = job.submit <= moment and not is_over and not any(is_in(moment, run) for run in runs(job))
        if waits and job.gpus <= left:
            left -= job.gpus
    return free - left


@given(st.lists(stays(), max_size=6), st.lists(absences(), max_size=2), st.integers(0, 3))
def test_it_is_what_a_clock_would_count(jobs, gone, begin):
    gpus = 24
    last = max((job.submit for job in jobs), default=0)
    by_clock = [stranded_in_second(moment, jobs, gpus, gone) for moment in range(60)]
    assert stranded_gpu_hours(jobs, gpus, begin, gone) == pytest.approx(sum(by_clock[begin:last]) / HOUR)
    steps = list(stranded_steps(jobs, gpus, gone))
    until = int(steps[-1].end) if steps else 0
    assert stranded_at(steps, range(until)) == by_clock[:until]


def test_a_job_that_asks_for_more_than_is_free_strands_nothing():
    running, waiting = Stay(0, 0, 10 * HOUR, 5), Stay(0, math.nan, HOUR, 4)
    assert stranded_gpu_hours([running, waiting, Stay(HOUR, HOUR, 1, 1)], 8) == 0.0
    assert stranded_gpu_hours([running, waiting._replace(gpus=3), Stay(HOUR, HOUR, 1, 1)], 8) == 3.0
