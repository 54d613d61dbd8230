"""Spreading over domains, as a law and as a wish, against slow twins that count pod by pod."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.rules.topology_spread import SpreadPreference, TopologySpread
from tests.differential import oracle_pods
from tests.differential.strategies_pods import (
    namespace_objects,
    sociable_pods,
    spread_constraints,
    worlds,
)
from tests.support.builders import changed
from tests.support.engine_parts import reasons
from tests.support.rule_surroundings import Surroundings


def spread_pods(otherwise):
    constraints = st.lists(spread_constraints(otherwise), min_size=1, max_size=2).map(tuple)
    return st.builds(
        lambda pod, drawn: changed(pod, spec={"topology_spread_constraints": drawn}),
        sociable_pods(),
        constraints,
    )


def surroundings_of(world):
    there = [(one, node.metadata.name) for node, pods in world for one in pods]
    return Surroundings([*namespace_objects(), *(node for node, _ in world)], there)


@given(pod=spread_pods("DoNotSchedule"), world=worlds())
def test_the_law_refuses_what_its_twin_refuses_and_for_the_same_reason(pod, world):
    made = surroundings_of(world).compiled(TopologySpread(), pod)
    for row, (node, _) in enumerate(world):
        expected = oracle_pods.spread_refusal(pod, node, world)
        assert bool(made.passes(ALL_ROWS)[row]) == (not expected)
        if expected:
            assert reasons(made, row) == [expected]
            assert bool(made.unresolvable(ALL_ROWS)[row]) == (expected == oracle_pods.NO_LABEL)


@given(pod=spread_pods("ScheduleAnyway"), world=worlds(), hidden=st.integers(0, 4))
def test_the_wish_gives_the_points_of_its_twin(pod, world, hidden):
    """Whichever node is not feasible, the others are compared among themselves, with all pods counted."""
    surroundings = surroundings_of(world)
    made = surroundings.compiled(SpreadPreference(), pod)
    feasible = surroundings.state.nodes.alive.copy()
    feasible[hidden] = False
    names = [node.metadata.name for row, (node, _) in enumerate(world) if row != hidden]
    if names:
        points = made.points(feasible)
        found = {node.metadata.name: int(points[row]) for row, (node, _) in enumerate(world) if row != hidden}
        assert found == oracle_pods.spread_points(pod, world, names)
