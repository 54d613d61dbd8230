"""Rules about pods that share nodes and domains, vectorised over nodes, against their slow twins."""

import pytest
from hypothesis import given

from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.rules.containers import NodePorts
from posse.engine.rules.inter_pod_affinity import InterPodAffinity, InterPodPreference
from tests.differential import oracle_pods
from tests.differential.strategies_pods import NAMESPACES, namespace_objects, sociable_pods, worlds
from tests.support.engine_parts import reasons
from tests.support.rule_surroundings import Surroundings

TWINS = {
    InterPodAffinity: lambda pod, node, world: oracle_pods.affinity_refusal(pod, node, world, NAMESPACES),
    NodePorts: lambda pod, node, world: (
        oracle_pods.NO_PORTS
        * oracle_pods.lacks_ports(pod, next(there for other, there in world if other is node))
    ),
}


def surroundings_of(world):
    there = [(one, node.metadata.name) for node, pods in world for one in pods]
    return Surroundings([*namespace_objects(), *(node for node, _ in world)], there)


@pytest.mark.parametrize("rule", TWINS)
@given(pod=sociable_pods(), world=worlds())
def test_a_filter_refuses_what_its_twin_refuses_and_for_the_same_reason(rule, pod, world):
    made = surroundings_of(world).compiled(rule(), pod)
    for row, (node, _) in enumerate(world):
        expected = TWINS[rule](pod, node, world)
        if made is None:
            assert not expected
            continue
        assert bool(made.passes(ALL_ROWS)[row]) == (not expected)
        if expected:
            assert reasons(made, row) == [expected]
            assert bool(made.unresolvable(ALL_ROWS)[row]) == (expected == oracle_pods.NOT_NEAR)


@given(pod=sociable_pods(), world=worlds())
def test_preferences_between_pods_give_the_points_of_their_twin(pod, world):
    surroundings = surroundings_of(world)
    made = surroundings.compiled(InterPodPreference(), pod)
    names = [node.metadata.name for node, _ in world]
    expected = oracle_pods.affinity_points(pod, world, names, NAMESPACES)
    if made is None:
        assert set(expected.values()) == {0}
        return
    points = made.points(surroundings.state.nodes.alive)
    assert dict(zip(names, points.tolist(), strict=False)) == expected
