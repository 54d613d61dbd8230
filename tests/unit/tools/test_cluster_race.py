"""The goals of `make bench-cluster`: what fails a run, and what is only printed."""

import pytest

from bench.cluster.report import tables, write
from bench.cluster.results import BareClient, Race, Result, judge
from bench.cluster.shapes import Shape

GANGS = Shape("gangs", gangs=100, pods_each=10, goal=5)
SINGLE_PODS = Shape("single pods", gangs=0, pods_each=1000, goal=4)
BARE = BareClient(creates=1000, binds=1000)


def result(contender, shape, rate=100.0, ms_per_pod=1.0, bound=1000):
    return Result(contender, shape, bound, bound / rate, (0.1, 0.2), bound * ms_per_pod / 1000, 1.0, 2**20)


def race(shape, rate=800.0, theirs=100.0, ms_per_pod=0.1, bound=1000):
    """Reaches every goal unless a test says otherwise."""
    return Race(
        shape,
        BARE,
        result("Posse", shape, rate, ms_per_pod, bound),
        result("kube-scheduler", shape, theirs, ms_per_pod=1.0),
    )


@pytest.mark.parametrize("shape", [GANGS, SINGLE_PODS])
def test_a_race_that_reaches_everything_misses_nothing(shape):
    assert judge([race(shape)]) == ([], [])


def test_gangs_must_be_as_many_times_as_fast_as_their_shape_says():
    assert judge([race(GANGS, theirs=200)]) == (["gangs: 4.0 times as fast, the goal is 5"], [])


def test_gangs_below_75_percent_of_the_bare_client_are_printed_and_do_not_fail():
    assert judge([race(GANGS, rate=600)]) == ([], ["gangs: 60% of the bare client, the goal is 75%"])


def test_single_pods_are_judged_by_the_bare_client_and_not_by_the_load_of_the_machine():
    assert judge([race(SINGLE_PODS, theirs=400)]) == ([], ["single pods: 2.0 times as fast, the goal is 4"])
    assert judge([race(SINGLE_PODS, rate=600)]).missed_goals == [
        "single pods: 60% of the bare client, the goal is 75%"
    ]


@pytest.mark.parametrize("shape", [GANGS, SINGLE_PODS])
def test_cpu_per_pod_is_a_goal_of_its_own(shape):
    missed = judge([race(shape, ms_per_pod=0.125)]).missed_goals
    assert missed == [f"{shape.name}: 8.0 times less CPU per pod, the goal is 10"]


def test_every_pod_must_be_bound():
    (missed,) = judge([race(GANGS, bound=999)]).missed_goals
    assert missed == "gangs: Posse bound 999 of 1,000 pods"


def test_a_contender_that_runs_alone_is_compared_to_the_bare_client_only():
    alone = Race(GANGS, BARE, posse=result("Posse", GANGS, rate=500))
    assert judge([alone]) == ([], ["gangs: 50% of the bare client, the goal is 75%"])
    assert judge([Race(GANGS, BARE, kube_scheduler=result("kube-scheduler", GANGS))]) == ([], [])


def test_the_bare_client_of_each_shape_is_the_one_right_before_it():
    slow = Race(GANGS, BareClient(100, 100), posse=result("Posse", GANGS, rate=80))
    fast = Race(SINGLE_PODS, BARE, posse=result("Posse", SINGLE_PODS, rate=80))
    assert judge([slow, fast]).missed_goals == ["single pods: 8% of the bare client, the goal is 75%"]


def test_results_can_be_shown_whoever_ran(tmp_path):
    races = [race(GANGS), Race(SINGLE_PODS, BARE, posse=result("Posse", SINGLE_PODS)), Race(GANGS, BARE)]
    assert [table.row_count for table in tables(races, 5000)] == [3, 3]
    figures, picture = write(races, 5000, tmp_path)
    assert figures.read_text().count('"podsPerSecond"') == 3
    assert picture.read_text().count("<line") == 3
