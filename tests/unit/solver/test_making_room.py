"""The fewest gangs to stop, compared with trying every set of them."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.placement_problem import (
    EvictableUnit,
    GroupDemand,
    PlacementProblem,
    PodSet,
    RemedyProblem,
)
from posse.solver.making_room import fewest_stopped

WANTED = 2


def room_problem(free, units, count):
    total = [amount + sum(used.get(node, 0) for used in units) for node, amount in enumerate(free)]
    pod_set = PodSet((WANTED,), tuple(max(0, amount) // WANTED for amount in total))
    problem = PlacementProblem((tuple(free),), (pod_set,), GroupDemand(count, ((0, count),)))
    evictable = [
        EvictableUnit(f"gang {number}", tuple((node, (amount,)) for node, amount in sorted(used.items())))
        for number, used in enumerate(units)
    ]
    return RemedyProblem(problem, (), evictable_units=tuple(evictable))


def fits(free, stopped, count):
    left = [amount + sum(used.get(node, 0) for used in stopped) for node, amount in enumerate(free)]
    return sum(max(0, amount) // WANTED for amount in left) >= count


def every_set(free, units, count):
    """The smallest number that suffices; None if all do not."""
    sizes = range(len(units) + 1)
    return next((n for n in sizes if any(fits(free, one, count) for one in combinations(units, n))), None)


USED = st.dictionaries(st.integers(0, 2), st.integers(1, 4), min_size=1, max_size=3)


@settings(max_examples=40)
@given(st.lists(st.integers(-1, 4), min_size=3, max_size=3), st.lists(USED, max_size=4), st.integers(1, 6))
def test_no_fewer_gangs_suffice(free, units, count):
    plan = fewest_stopped(room_problem(free, units, count))
    expected = every_set(free, units, count)
    assert plan.is_proven
    if expected is None:
        assert plan.is_impossible
    else:
        assert (len(plan.stopped), plan.least) == (expected, expected)
        assert fits(free, [units[int(one.name.split()[1])] for one in plan.stopped], count)


@pytest.mark.parametrize(("count", "stopped"), [(2, ["gang 1"]), (3, ["gang 0", "gang 1"])])
def test_one_large_gang_is_stopped_rather_than_several_small_ones(count, stopped):
    units = [{0: 2}, {1: 4}, {2: 2}]
    plan = fewest_stopped(room_problem([0, 0, 0], units, count))
    assert len(plan.stopped) == len(stopped)
    assert "gang 1" in [one.name for one in plan.stopped]
