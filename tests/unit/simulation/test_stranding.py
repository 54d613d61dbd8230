"""GPU hours that are free while jobs wait that ask for no more, compared with going second by second."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.simulation.stranding import Stay, stranded_gpu_hours

HOUR = 3600.0
MOMENTS = st.integers(0, 12)


@st.composite
def stays(draw):
    submit = draw(MOMENTS)
    start = submit + draw(MOMENTS) if draw(st.booleans()) else math.nan
    return Stay(submit, start, draw(st.integers(1, 6)), draw(st.integers(1, 4)))


def second_by_second(jobs, gpus, begin):
    last = max((job.submit for job in jobs), default=0)
    total = 0
    for moment in range(begin, last):
        free = gpus - sum(job.gpus for job in jobs if job.start <= moment < job.start + job.duration)
        left = free
        for job in sorted(jobs, key=lambda one: one.submit):
            waits = job.submit <= moment and not job.start <= moment
            if waits and job.gpus <= left:
                left -= job.gpus
        total += free - left
    return total / HOUR


@given(st.lists(stays(), max_size=6), st.integers(0, 3))
def test_it_is_what_a_clock_would_count(jobs, begin):
    gpus = 24
    assert stranded_gpu_hours(jobs, gpus, begin) == pytest.approx(second_by_second(jobs, gpus, begin))


def test_a_job_that_asks_for_more_than_is_free_strands_nothing():
    running, waiting = Stay(0, 0, 10 * HOUR, 5), Stay(0, math.nan, HOUR, 4)
    assert stranded_gpu_hours([running, waiting, Stay(HOUR, HOUR, 1, 1)], 8) == 0.0
    assert stranded_gpu_hours([running, waiting._replace(gpus=3), Stay(HOUR, HOUR, 1, 1)], 8) == 3.0
