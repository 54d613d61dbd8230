"""Samples of a trace: moved arrivals, and means with their confidence."""

import math
import statistics

import numpy as np
import pytest

from posse.simulation.jobs import TracedJob
from posse.simulation.samples import difference, estimate, moved_arrivals


def test_the_interval_holds_the_mean_in_about_95_of_100_cases():
    generator = np.random.default_rng(5)
    hits = 0
    for _ in range(2000):
        found = estimate(generator.normal(10, 3, 6).tolist())
        hits += abs(found.mean - 10) <= found.margin
    assert hits / 2000 == pytest.approx(0.95, abs=0.015)


def test_one_value_has_no_interval_and_none_has_no_mean():
    assert estimate([3.0]).mean == 3.0
    assert math.isnan(estimate([3.0]).margin)
    assert math.isnan(estimate([math.nan]).mean)


def test_pairs_show_what_single_intervals_hide():
    one, other = [10.0, 20.0, 30.0, 40.0], [9.0, 19.1, 28.9, 39.0]
    assert difference(one, other).is_certain
    assert estimate(one).margin > statistics.fmean(one) - statistics.fmean(other)


def test_arrivals_move_by_no_more_than_asked_and_stay_in_order():
    jobs = [TracedJob(f"j{index}", index * 10.0, 5, 1, 1) for index in range(100)]
    moved = moved_arrivals(jobs, 60.0, seed=1)
    before = {job.name: job.submit for job in jobs}
    assert [job.submit for job in moved] == sorted(job.submit for job in moved)
    assert all(abs(job.submit - before[job.name]) <= 60 and job.submit >= 0 for job in moved)
    assert [job.name for job in moved] != [job.name for job in jobs]
    assert moved == moved_arrivals(jobs, 60.0, seed=1)
