"""Every rule, vectorised over nodes, against its slow twin that looks at one node and one pod at a time."""

import pytest
from hypothesis import given

from posse.engine.class_columns import REFUSED
from posse.engine.node_table import ALL_ROWS
from posse.engine.resources import effective_requests, scoring_requests
from posse.engine.rules.least_allocated import LeastAllocated
from posse.engine.rules.node_affinity import NodeAffinity
from posse.engine.rules.node_unschedulable import NodeUnschedulable
from posse.engine.rules.resources_fit import ResourcesFit
from posse.engine.rules.taint_toleration import TaintToleration
from posse.engine.verdict import Code
from tests.differential import greedy, oracle
from tests.differential.strategies import clusters, neighbours, pods
from tests.engine_parts import attached, reasons, state_of

TWINS = {
    NodeUnschedulable: lambda pod, node, _: [oracle.UNSCHEDULABLE] * oracle.is_cordoned_for(pod, node),
    TaintToleration: lambda pod, node, _: [oracle.TAINTED] * oracle.is_repelled(pod, node),
    NodeAffinity: lambda pod, node, _: [oracle.NO_MATCH] * (not oracle.is_matched(pod, node)),
    ResourcesFit: oracle.lacking_resources,
}


def populated(nodes, there):
    """Return the state with neighbours on its nodes, and the same world as plain lists."""
    state = state_of(*nodes)
    for neighbour, name in there:
        attached(state, neighbour, name)
    world = [(node, [one for one, name in there if name == node.metadata.name]) for node in nodes]
    return state, world


@given(pods())
def test_what_a_pod_needs(pod):
    assert effective_requests(pod) == oracle.effective_requests(pod)


@given(pods())
def test_what_scores_take_a_pod_for(pod):
    assert scoring_requests(pod) == (
        oracle.scoring_request(pod, "cpu"),
        oracle.scoring_request(pod, "memory"),
    )


@pytest.mark.parametrize("rule", TWINS)
@given(pod=pods(), nodes=clusters(), there=neighbours())
def test_a_filter_refuses_what_its_twin_refuses_and_for_the_same_reasons(rule, pod, nodes, there):
    state, world = populated(nodes, there)
    row_filter = rule().compile(state.classes.join(pod), state.nodes)
    for row, (node, pods_there) in enumerate(world):
        expected = sorted(TWINS[rule](pod, node, pods_there))
        if row_filter is None:
            assert expected == []
            continue
        assert bool(row_filter.passes(ALL_ROWS)[row]) == (not expected)
        if expected:
            assert sorted(reasons(row_filter, row)) == expected
            assert bool(row_filter.hopeless(ALL_ROWS)[row]) == bool(TWINS[rule](pod, node, []))


@given(pod=pods(), nodes=clusters(), there=neighbours())
def test_least_allocated_gives_the_points_of_its_twin(pod, nodes, there):
    state, world = populated(nodes, there)
    points = LeastAllocated().compile(state.classes.join(pod), state.nodes).points(ALL_ROWS)
    assert points[: len(world)].tolist() == [oracle.least_allocated(pod, *place) for place in world]


@given(pod=pods(), nodes=clusters(), there=neighbours())
def test_rank_and_capacity_are_what_looking_node_by_node_gives(pod, nodes, there):
    state, world = populated(nodes, there)
    columns = state.columns(state.classes.join(pod))
    ranks = [oracle.rank(pod, *place) for place in world]
    assert columns.rank()[: len(world)].tolist() == [REFUSED if r is None else r for r in ranks]
    rooms = [greedy.capacity(*place, pod, oracle.rank) for place in world]
    assert columns.capacity()[: len(world)].tolist() == rooms


@given(pod=pods(), nodes=clusters(), there=neighbours())
def test_a_refusal_has_the_words_and_the_hope_of_its_twin(pod, nodes, there):
    state, world = populated(nodes, there)
    columns = state.columns(state.classes.join(pod))
    if any(not oracle.refusals(pod, *place) for place in world):
        return
    verdict = columns.refuse()
    assert verdict.message == oracle.verdict_message(pod, world)
    hopeless = all(oracle.is_hopeless(pod, node) for node, _ in world)
    assert verdict.code is (Code.UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE)
