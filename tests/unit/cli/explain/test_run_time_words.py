"""Expected run times in words, for each source."""

import math

import pytest

from posse.cli.explain.run_time_words import learned_text, run_time_facts
from posse.engine.forecast.forecast_problem import LearnedRunTime
from posse.engine.queue.run_times import UNKNOWN_RUN_TIME, ExpectedRunTime, RunTimeSource


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (math.inf, "about 90m (annotation posse.dev/expected-duration)"),
        (7200.0, "about 90m (annotation posse.dev/expected-duration), at most 120m (activeDeadlineSeconds)"),
    ],
)
def test_a_stated_run_time_with_and_without_a_limit(limit, told):
    run_time = ExpectedRunTime(5400.0, min(5400.0, limit), limit, RunTimeSource.STATED)
    assert run_time_facts(run_time) == [("run time", told)]


def test_a_limit_alone():
    run_time = ExpectedRunTime(600.0, 600.0, 600.0, RunTimeSource.LIMIT)
    assert run_time_facts(run_time) == [("run time", "at most 10m (activeDeadlineSeconds)")]


def test_a_limit_with_earlier_runs_that_had_it():
    run_time = ExpectedRunTime(60.0, 600.0, 600.0, RunTimeSource.LIMIT, basis="5 runs of its size")
    told = "about 60s (5 runs of its size with this limit), at most 10m (activeDeadlineSeconds)"
    assert run_time_facts(run_time) == [("run time", told)]


def test_a_learned_run_time_names_its_runs():
    run_time = ExpectedRunTime(60.0, 90.0, source=RunTimeSource.LEARNED, basis="5 runs of its size")
    assert run_time_facts(run_time) == [("run time", "about 60s, seldom more than 90s (5 runs of its size)")]


def test_nothing_is_said_of_the_unknown():
    assert run_time_facts(UNKNOWN_RUN_TIME) == []


def test_what_the_scheduler_has_learned():
    learned = LearnedRunTime(60, 90, "5 runs of its size")
    assert learned_text(learned) == "about 60s, seldom more than 90s (5 runs of its size)"
