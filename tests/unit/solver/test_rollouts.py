"""Rollouts: when what waits starts, if what runs ends at drawn times."""

import math

import numpy as np
import pytest

from posse.engine.forecast.forecast_problem import ForecastProblem, ReservedUnit, RunningUnit, WaitingUnit
from posse.engine.queue.run_time_spread import RunTimeSpread
from posse.solver.rollouts import estimate_starts

HOUR, UNKNOWN, SHORT, VARIED = 0, 1, 2, 3
SPREADS = (
    RunTimeSpread((3600.0,)),
    RunTimeSpread(),
    RunTimeSpread((60.0,)),
    RunTimeSpread(tuple(600.0 * n for n in range(1, 11))),
)


def problem(running, waiting, nodes=2, free=None, shapes=((8,),), racks=None, reservations=1, reserved=()):
    """Nodes with 8 GPUs, of which the running units hold what they say."""
    left = np.full((1, nodes), 8, dtype=np.int64)
    for unit in running:
        for row, amount in zip(unit.rows, unit.amounts, strict=True):
            left[0, row] -= amount
    return ForecastProblem(
        node_count=nodes,
        resource_count=1,
        free=(left if free is None else np.array([free])).tobytes(),
        shapes=shapes,
        open_rows=tuple(np.ones(nodes, dtype=np.bool_).tobytes() for _ in shapes),
        domains=(np.array(racks, dtype=np.int64).tobytes(),) if racks else (),
        spreads=SPREADS,
        running=tuple(running),
        waiting=tuple(waiting),
        reservations=reservations,
        reserved=tuple(reserved),
    )


def unit(*rows, age=0.0, spread=HOUR, gpus=8):
    return RunningUnit(age, spread, (0,) * len(rows), rows, (gpus,) * len(rows))


def gang(pods, spread=HOUR, key=-1, reserved=False, **more):
    known = SPREADS[spread].known
    safe = known[-1] if known else math.inf
    return WaitingUnit(((0, pods),), spread, key, safe, is_reserved_for=reserved, **more)


def medians(found):
    return [one.quantile(0.5) for one in found]


def test_a_gang_waits_for_the_last_end_that_it_needs():
    found = estimate_starts(problem([unit(0, age=600.0), unit(1, age=1200.0)], [gang(2)]))
    assert medians(found) == [3000.0]
    assert found[0].awaited == 0


def test_what_waits_behind_a_gang_waits_for_its_end_too():
    found = estimate_starts(problem([unit(0, 1, age=600.0)], [gang(2), gang(2)]))
    assert medians(found) == [3000.0, 6600.0]
    assert found[1].awaited == 1


def test_a_start_is_unknown_where_run_times_are():
    found = estimate_starts(problem([unit(0, spread=UNKNOWN), unit(1)], [gang(2), gang(1)]))
    assert medians(found) == [math.inf, 3600.0]


def test_a_gang_in_one_rack_waits_until_a_rack_is_free():
    running = [unit(0, age=3500.0), unit(1, age=0.0), unit(2, age=3000.0), unit(3, age=2900.0)]
    found = estimate_starts(problem(running, [gang(2, key=0)], nodes=4, racks=[0, 0, 1, 1]))
    assert medians(found) == [700.0]


def test_a_short_job_passes_a_reservation_and_a_long_one_does_not():
    running = [unit(0, age=0.0)]
    waiting = [gang(2, reserved=True), gang(1, spread=SHORT), gang(1)]
    found = estimate_starts(problem(running, waiting))
    assert medians(found) == [3600.0, 0.0, 7200.0]
    greedy = [gang(2), gang(1, spread=SHORT), gang(1)]
    assert medians(estimate_starts(problem(running, greedy)))[1:] == [0.0, 60.0]


def test_capacity_is_held_for_a_reservation_until_it_begins():
    running = [unit(0, age=3000.0), unit(1, age=600.0)]
    found = estimate_starts(problem(running, [gang(2, reserved=True), gang(1)], nodes=4, free=[0, 0, 8, 0]))
    assert medians(found) == [600.0, 3000.0]
    found = estimate_starts(problem(running, [gang(3, reserved=True), gang(1)], nodes=4, free=[0, 0, 8, 8]))
    assert medians(found) == [600.0, 3000.0]


def test_drawn_run_times_give_a_band():
    found = estimate_starts(problem([unit(0, spread=VARIED)], [gang(2)]))[0]
    assert found.quantile(0.1) < 1500.0 < 4500.0 < found.quantile(0.9)


def test_only_longer_runs_count_for_what_has_run_for_a_while():
    found = estimate_starts(problem([unit(0, spread=VARIED, age=5000.0)], [gang(2)]))[0]
    assert set(found.starts) == {400.0, 1000.0}


def test_equal_seeds_give_equal_answers_and_others_differ():
    asked = problem([unit(0, spread=VARIED), unit(1, spread=VARIED)], [gang(2), gang(1)])
    assert estimate_starts(asked, 1) == estimate_starts(asked, 1)
    assert estimate_starts(asked, 1) != estimate_starts(asked, 2)


def test_members_of_several_shapes_start_together():
    waiting = [WaitingUnit(((0, 1), (1, 2)), HOUR)]
    asked = problem([unit(0, age=600.0), unit(1, age=1200.0)], waiting, shapes=((8,), (4,)))
    assert medians(estimate_starts(asked)) == [3000.0]


def test_nothing_waits():
    assert estimate_starts(problem([unit(0)], [])) == []


@pytest.mark.parametrize("age", [0.0, 10.0, 1e9])
def test_a_limit_alone_says_that_any_end_up_to_it_is_equally_likely(age):
    shares = np.linspace(0, 0.99, 50)
    drawn = RunTimeSpread((), 100.0).drawn(age, shares)
    assert (drawn >= age).all()
    assert (drawn <= max(age, 100.0)).all()


def test_a_run_beyond_all_that_is_known_goes_on_for_as_long_again():
    drawn = RunTimeSpread((60.0,)).drawn(1000.0, np.array([0.0, 0.5, 0.999]))
    assert drawn.tolist() == pytest.approx([1000.0, 2000.0, 50_000.0])


def test_gangs_that_never_fit_hold_up_no_others_however_many_there_are():
    never = [gang(3, reserved=True) for _ in range(999)]
    found = estimate_starts(problem([], [*never, gang(1)]), rollouts=1)
    assert found[-1].starts == (0.0,)
    assert {one.starts for one in found[:-1]} == {(math.inf,)}


def test_capacity_is_reserved_for_as_many_as_the_policy_says():
    """Nodes become free after 10, 20, 30 and 40 minutes; a job of an hour would take the first."""
    running = [unit(number, age=3600.0 - 600.0 * (number + 1)) for number in range(4)]
    waiting = [gang(2, reserved=True), gang(2, reserved=True), gang(1)]
    reserved = [ReservedUnit(0, 2400.0, ((), (), ()), ((0, 0), (2, 3), (8, 8)))]
    both = problem(running, waiting, nodes=4, reserved=reserved, reservations=2)
    assert medians(estimate_starts(both)) == [1200.0, 2400.0, 4800.0]
    one = problem(running, waiting, nodes=4, reserved=reserved, reservations=1)
    assert medians(estimate_starts(one)) == [1800.0, 4200.0, 600.0]


def test_a_reservation_that_exists_is_kept_where_it_is():
    """By itself it would be planned on the first two nodes to become free."""
    running = [unit(number, age=3600.0 - 600.0 * (number + 1)) for number in range(4)]
    planned = ((0, 0), (2, 3), (8, 8))
    reserved = [ReservedUnit(0, 2400.0, ((), (), ()), planned)]
    waiting = [gang(3, reserved=True), gang(1, spread=VARIED)]
    found = estimate_starts(problem(running, waiting, nodes=4, reserved=reserved))
    assert found[1].quantile(0.9) == 600.0, "nothing is reserved on the first node"
    reserved = [ReservedUnit(0, 2400.0, ((), (), ()), ((0, 0, 0), (0, 1, 2), (8, 8, 8)))]
    found = estimate_starts(problem(running, waiting, nodes=4, reserved=reserved))
    assert found[1].quantile(0.1) >= 1800.0


def test_what_ages_comes_before_the_others_of_its_priority():
    running = [unit(0, age=0.0), unit(1, spread=UNKNOWN)]
    short = [gang(1, by_age=number + 1) for number in range(3)]
    never = medians(estimate_starts(problem(running, [*short, gang(1)])))
    assert never == [3600.0, 7200.0, 10800.0, 14400.0]
    aged = medians(estimate_starts(problem(running, [*short, gang(1, ages_at=5000.0)])))
    assert aged == [3600.0, 10800.0, 14400.0, 7200.0]
    urgent = [gang(1, priority=1), gang(1, priority=1), gang(1, ages_at=5000.0)]
    assert medians(estimate_starts(problem(running, urgent))) == [3600.0, 7200.0, 10800.0]


def test_capacity_is_reserved_for_whatever_has_aged():
    waiting = [gang(2, ages_at=0.0), gang(1, spread=VARIED)]
    assert medians(estimate_starts(problem([unit(0)], waiting))) == [3600.0, 7200.0]
    waiting = [gang(2, ages_at=math.inf), gang(1, spread=VARIED)]
    assert medians(estimate_starts(problem([unit(0)], waiting)))[1] == 0.0


@pytest.mark.parametrize(("waited", "is_held"), [(0.0, False), (17000.0, False), (19000.0, True)])
def test_little_may_stand_idle_beside_how_long_a_gang_has_waited(waited, is_held):
    """Half of what it needs would be held for an hour: 30 minutes of all of it, a tenth of 5 hours."""
    waiting = [gang(2, reserved=True, idle_share=0.1, waited=waited), gang(1, spread=VARIED)]
    found = estimate_starts(problem([unit(0)], waiting))
    assert (found[1].quantile(0.5) > 0.0) is is_held


def test_a_reservation_ends_when_too_much_stands_idle_for_it():
    """While both nodes are in use, nothing is held. Then one is free an hour before the other."""
    running = [unit(0, age=3000.0), unit(1)]
    reserved = [ReservedUnit(0, 3600.0, ((), (), ()), ((0, 0), (0, 1), (8, 8)))]
    waiting = [gang(2, reserved=True, idle_share=0.1), gang(1)]
    found = medians(estimate_starts(problem(running, waiting, reserved=reserved)))
    assert found == [4200.0, 600.0]


def test_higher_priorities_do_not_leave_a_reservation_alone():
    waiting = [gang(1, priority=1), gang(2, reserved=True), gang(1)]
    reserved = [ReservedUnit(1, 3600.0, ((0,), (1,), (8,)), ((0, 0), (0, 1), (8, 8)))]
    found = medians(estimate_starts(problem([unit(0)], waiting, reserved=reserved)))
    assert found == [0.0, 3600.0, 7200.0]
