"""Scores for room, vectorised over nodes, against their slow twins."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.rules.resources import (
    BalancedAllocation,
    MostAllocated,
    RequestedToCapacityRatio,
    ResourceScores,
    ShapePoint,
    WeightedResource,
)
from tests.differential import resource_scores as twins
from tests.differential.strategies import GPU, clusters, neighbours, pod_named, pods
from tests.support.rule_surroundings import Surroundings

NAMES = ["cpu", "memory", GPU, "ephemeral-storage", "example.com/nobody-has-it", "pods"]

names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True)
resources = names.flatmap(
    lambda drawn: st.tuples(*(st.tuples(st.just(name), st.integers(1, 100)) for name in drawn))
)
shapes = st.lists(st.integers(0, 100), min_size=1, max_size=5, unique=True).flatmap(
    lambda drawn: st.tuples(
        *(st.tuples(st.just(u), st.integers(0, 10).map((10).__mul__)) for u in sorted(drawn))
    )
)


def points(rule, pod, nodes, there):
    return Surroundings(nodes, there).points(rule, pod_named(pod, "newcomer"))


def expected(twin, pod, nodes, there, *arguments):
    return [
        twin(pod, node, [one for one, name in there if name == node.metadata.name], *arguments)
        for node in nodes
    ]


def weighted(resources):
    return [WeightedResource(name, weight) for name, weight in resources]


def agree(rule, twin, pod, nodes, there, *arguments):
    found = points(rule, pod, nodes, there)
    wanted = expected(twin, pod, nodes, there, *arguments)
    assert wanted == (found if found is not None else [0] * len(nodes))


@given(pod=pods(), nodes=clusters(), there=neighbours(), resources=resources)
def test_least_allocated_gives_the_points_of_its_twin(pod, nodes, there, resources):
    rule = ResourceScores(resources=weighted(resources))
    agree(rule, twins.least_allocated, pod, nodes, there, resources)


@given(pod=pods(), nodes=clusters(), there=neighbours(), resources=resources)
def test_most_allocated_gives_the_points_of_its_twin(pod, nodes, there, resources):
    rule = ResourceScores(strategy=MostAllocated(), resources=weighted(resources))
    agree(rule, twins.most_allocated, pod, nodes, there, resources)


@given(pod=pods(), nodes=clusters(), there=neighbours(), resources=resources, shape=shapes)
def test_requested_to_capacity_ratio_gives_the_points_of_its_twin(pod, nodes, there, resources, shape):
    strategy = RequestedToCapacityRatio([ShapePoint(*point) for point in shape])
    rule = ResourceScores(strategy=strategy, resources=weighted(resources))
    agree(rule, twins.requested_to_capacity_ratio, pod, nodes, there, resources, shape)


@given(pod=pods(), nodes=clusters(least=1), there=neighbours(), resources=names)
def test_balanced_allocation_gives_the_points_of_its_twin(pod, nodes, there, resources):
    # Amounts of pods are counted elsewhere, as in kube-scheduler.
    counted = tuple(name for name in resources if name != "pods")
    found = points(BalancedAllocation(resources=counted), pod, nodes, there)
    wanted = expected(twins.balanced_allocation, pod, nodes, there, counted)
    assert wanted == (found if found is not None else [None] * len(nodes))
