"""Every rule about nodes, vectorised, against its slow twin that looks at one node and one pod at a time."""

import numpy as np
import pytest
from hypothesis import given, settings

from posse.engine.nodes.arrays import ALL_ROWS
from posse.engine.nodes.resources import effective_requests, scoring_requests
from posse.engine.reporting.messages import verdict_text
from posse.engine.rules.containers import ImageLocality
from posse.engine.rules.node_affinity import NamedNodes, NodeAffinityRule, NodePreference
from posse.engine.rules.resources import ResourcesFit
from posse.engine.rules.taints import NodeUnschedulable, TaintPreference, TaintToleration
from posse.engine.state.node_scores import REFUSED
from posse.engine.verdict import Code
from tests.differential import greedy, oracle, oracle_reference
from tests.differential.strategies import clusters, neighbours, pods
from tests.differential.strategies_pods import sociable_pods, worlds
from tests.support.engine_parts import attached, compiled, reasons, state_of, tables_for

ENOUGH = settings(max_examples=max(20, settings().max_examples))
"""With fewer, some filter refuses none of the nodes that are drawn."""
TWINS = {
    NodeUnschedulable: lambda pod, node, _: [oracle.UNSCHEDULABLE] * oracle.is_cordoned_for(pod, node),
    TaintToleration: lambda pod, node, _: [oracle.TAINTED] * oracle.is_repelled(pod, node),
    NamedNodes: lambda pod, node, _: [oracle.NOT_NAMED] * oracle.is_unnamed(pod, node),
    NodeAffinityRule: lambda pod, node, _: [oracle.NO_MATCH] * (not oracle.is_matched(pod, node)),
    ResourcesFit: oracle.lacking_resources,
}
RELATIVE_TWINS = {
    TaintPreference: (oracle_reference.taint_points, 100),
    NodePreference: (oracle_reference.preference_points, 0),
}
"""And what everybody gets where the rule has nothing to say."""


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
@ENOUGH
@given(pod=pods(), nodes=clusters(), there=neighbours())
def test_a_filter_refuses_what_its_twin_refuses_and_for_the_same_reasons(rule, pod, nodes, there):
    state, world = populated(nodes, there)
    row_filter = compiled(rule(), pod, state)
    for row, (node, pods_there) in enumerate(world):
        expected = sorted(TWINS[rule](pod, node, pods_there))
        if row_filter is None:
            assert expected == []
            continue
        assert bool(row_filter.passes(ALL_ROWS)[row]) == (not expected)
        if expected:
            assert sorted(reasons(row_filter, row)) == expected
            assert bool(row_filter.unresolvable(ALL_ROWS)[row]) == bool(TWINS[rule](pod, node, []))


@pytest.mark.parametrize("rule", RELATIVE_TWINS)
@given(pod=sociable_pods(), world=worlds())
def test_a_relative_score_gives_the_points_of_its_twin(rule, pod, world):
    """Compared among all nodes, and among all but the first."""
    nodes = [node for node, _ in world]
    state = state_of(*nodes)
    made = compiled(rule(), pod, state)
    twin, otherwise = RELATIVE_TWINS[rule]
    for first in range(min(2, len(nodes))):
        feasible = state.nodes.alive & (np.arange(state.nodes.alive.size) >= first)
        points = [otherwise] * len(nodes)
        if made is not None:
            points = made.normalised(made.raw(ALL_ROWS), feasible).tolist()
        assert points[first : len(nodes)] == twin(pod, nodes[first:])


@given(pod=sociable_pods(), world=worlds())
def test_image_locality_gives_the_points_of_its_twin(pod, world):
    nodes = [node for node, _ in world]
    held = [oracle_reference.images_on(node) for node in nodes]
    holders = {name: sum(name in images for images in held) for images in held for name in images}
    points = compiled(ImageLocality(), pod, state_of(*nodes)).points(ALL_ROWS)
    expected = [oracle_reference.image_points(pod, node, len(nodes), holders) for node in nodes]
    assert points[: len(nodes)].tolist() == expected


@given(pod=pods(), nodes=clusters(), there=neighbours())
def test_totals_and_capacity_are_what_looking_node_by_node_gives(pod, nodes, there):
    """Up to what every node gets alike."""
    state, world = populated(nodes, there)
    tables = tables_for(state, pod)
    expected = oracle_reference.totals(pod, world)
    found = dict(zip(state.nodes.names, tables.scores.totals().tolist(), strict=False))
    assert [name for name, total in found.items() if total != REFUSED] == list(expected)
    assert len({found[name] - total for name, total in expected.items()}) <= 1
    rooms = [greedy.capacity(*place, pod, oracle.refusals) for place in world]
    assert tables.capacity.per_node()[: len(world)].tolist() == rooms


@given(pod=pods(), nodes=clusters(), there=neighbours())
def test_a_refusal_has_the_words_and_the_hope_of_its_twin(pod, nodes, there):
    state, world = populated(nodes, there)
    if any(not oracle.refusals(pod, *place) for place in world):
        return
    verdict = tables_for(state, pod).scores.refuse()
    assert verdict_text(verdict) == oracle.verdict_message(pod, world)
    hopeless = all(oracle.is_hopeless(pod, node) for node, _ in world)
    assert verdict.code is (Code.UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE)
