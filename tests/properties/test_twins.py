"""The comparisons of rules with their slow twins show something: no rule is left out, and every filter refuses."""

import inspect
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.rules.containers import ImageLocality
from posse.engine.rules.devices import DeviceClaimsUsable, DevicePreference, DynamicResources
from posse.engine.rules.inter_pod_affinity import InterPodPreference
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.rules.resources import BalancedAllocation, ResourceScores
from posse.engine.rules.topology_spread import SpreadPreference, TopologySpread
from posse.engine.rules.volume_binding import VolumePreference
from tests.differential.storage_strategies import neighbours as volume_users
from tests.differential.storage_strategies import pods as pods_with_volumes
from tests.differential.storage_strategies import worlds as storage_worlds
from tests.differential.strategies import clusters, neighbours, pods
from tests.differential.strategies_pods import sociable_pods, worlds
from tests.properties import (
    test_engine_affinity,
    test_engine_devices,
    test_engine_resource_scores,
    test_engine_rules,
    test_engine_spread,
    test_engine_volumes,
)

IN_A_TEST_OF_ITS_OWN = {
    ImageLocality: test_engine_rules,
    ResourceScores: test_engine_resource_scores,
    BalancedAllocation: test_engine_resource_scores,
    TopologySpread: test_engine_spread,
    SpreadPreference: test_engine_spread,
    InterPodPreference: test_engine_affinity,
    VolumePreference: test_engine_volumes,
}
AS_A_WHOLE = {DynamicResources, DeviceClaimsUsable, DevicePreference}
"""What is bound is compared, with an allocator that tries everything."""
PRECONDITIONS = {type(rule) for rule in DEFAULT_PROFILE.preconditions}
"""One test goes through all of them in their order."""
IN_TABLES = {
    **test_engine_rules.TWINS,
    **test_engine_rules.RELATIVE_TWINS,
    **test_engine_affinity.TWINS,
    **test_engine_volumes.TWINS,
}


def default_rules():
    parts = [getattr(DEFAULT_PROFILE, field.name) for field in fields(DEFAULT_PROFILE)]
    return [type(rule) for part in parts if isinstance(part, tuple) for rule in part]


@pytest.mark.parametrize("rule", default_rules())
def test_every_rule_of_the_default_profile_is_compared_with_a_twin(rule):
    compared = rule in IN_TABLES or rule in PRECONDITIONS or rule in AS_A_WHOLE
    module = IN_A_TEST_OF_ITS_OWN.get(rule)
    assert compared or (module is not None and f"{rule.__name__}(" in inspect.getsource(module))
    assert "DEFAULT_PROFILE.preconditions" in inspect.getsource(test_engine_volumes)
    assert "DEFAULT_PROFILE" in inspect.getsource(test_engine_devices)


def is_drawn(strategy, is_refused, effort=None):
    """Whether as many examples as a comparison draws contain a refusal; without one, it shows nothing."""
    found = []

    @(effort or settings())
    @given(strategy)
    def draw(drawn):
        if not found and is_refused(drawn):
            found.append(True)

    draw()
    return bool(found)


@pytest.mark.parametrize("rule", test_engine_rules.TWINS)
def test_nodes_are_drawn_that_a_filter_of_nodes_refuses(rule):
    twin = test_engine_rules.TWINS[rule]

    def is_refused(drawn):
        pod, nodes, there = drawn
        _, world = test_engine_rules.populated(nodes, there)
        return any(twin(pod, node, beside) for node, beside in world)

    found = is_drawn(st.tuples(pods(), clusters(), neighbours()), is_refused, test_engine_rules.ENOUGH)
    assert found


@pytest.mark.parametrize("rule", test_engine_affinity.TWINS)
def test_nodes_are_drawn_that_a_filter_between_pods_refuses(rule):
    twin = test_engine_affinity.TWINS[rule]

    def is_refused(drawn):
        pod, world = drawn
        return any(twin(pod, node, world) for node, _ in world)

    found = is_drawn(st.tuples(sociable_pods(), worlds()), is_refused)
    assert found


@pytest.mark.parametrize("rule", test_engine_volumes.TWINS)
def test_nodes_are_drawn_that_a_filter_of_storage_refuses(rule):
    twin = test_engine_volumes.TWINS[rule]

    def is_refused(drawn):
        pod, world, there = drawn
        test_engine_volumes.populated(world, there)
        if test_engine_volumes.oracle.objection(pod, world):
            return False
        return any(twin(pod, node, world) for node in world.nodes)

    drawn_from = st.tuples(pods_with_volumes(), storage_worlds, volume_users)
    found = is_drawn(drawn_from, is_refused, test_engine_volumes.MANY)
    assert found
