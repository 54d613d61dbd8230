import pytest

from posse.engine.rules.resources import (
    MostAllocated,
    RequestedToCapacityRatio,
    ResourceScores,
    ShapePoint,
    WeightedResource,
)
from posse.model.container import ResourceRequirements
from tests.support.builders import container, node, pod
from tests.support.rule_surroundings import Surroundings

GPU = "example.com/gpu"
LEAST = ResourceScores()
MOST = ResourceScores(strategy=MostAllocated())


def points(rule, offered, *pods):
    """The points of one node for the last of the pods, when the others are on it."""
    *there, newcomer = pods
    return Surroundings([offered], [(one, offered.metadata.name) for one in there]).points(rule, newcomer)[0]


def over(*resources, strategy=None):
    weighted = [WeightedResource(name, weight) for name, weight in resources]
    return (
        ResourceScores(resources=weighted)
        if strategy is None
        else ResourceScores(strategy=strategy, resources=weighted)
    )


def ratio(*shape):
    return RequestedToCapacityRatio([ShapePoint(*point) for point in shape])


@pytest.mark.parametrize(
    ("rule", "expected"),
    [(LEAST, (75 + 50) // 2), (MOST, (25 + 50) // 2)],
)
def test_cpu_and_memory_count_alike_by_default(rule, expected):
    assert points(rule, node(cpu="4", memory="4Gi"), pod(cpu="1", memory="2Gi")) == expected


@pytest.mark.parametrize(("rule", "expected"), [(LEAST, 50), (MOST, 50)])
def test_what_is_over_full_counts_as_full(rule, expected):
    assert points(rule, node(cpu="1", memory="8Gi"), pod(cpu="3", memory="0")) == expected


@pytest.mark.parametrize(("rule", "expected"), [(LEAST, (90 + 80) // 2), (MOST, (10 + 20) // 2)])
def test_containers_that_ask_for_nothing_count_with_a_default(rule, expected):
    assert points(rule, node(cpu="1", memory="1000Mi"), pod()) == expected


def test_pods_on_the_node_count_with_their_defaults():
    assert points(LEAST, node(cpu="1", memory="1000Mi"), pod("there"), pod()) == (80 + 60) // 2


def test_what_the_node_does_not_offer_is_left_out():
    assert points(LEAST, node(cpu="4", memory=None), pod(cpu="1", memory="1Gi")) == 75
    assert points(LEAST, node(cpu=None, memory=None), pod(cpu="1")) == 0
    assert points(MOST, node(cpu=None, memory=None), pod(cpu="1")) == 0


def test_huge_nodes_do_not_overflow():
    huge = node(cpu="1P", memory="7Ei")
    assert points(LEAST, huge, pod(cpu="1", memory="1Gi")) == 99
    assert points(MOST, huge, pod(cpu="1P", memory="7Ei")) == 100


def test_resources_count_by_their_weights():
    rule = over(("cpu", 3), ("memory", 1))
    assert points(rule, node(cpu="4", memory="4Gi"), pod(cpu="1", memory="4Gi")) == 3 * 75 // 4


def test_an_extended_resource_counts_for_pods_that_ask_for_it_and_for_nobody_else():
    rule = over(("cpu", 1), (GPU, 3), strategy=MostAllocated())
    offered = node(cpu="4", **{GPU: "4"})
    assert points(rule, offered, pod(cpu="2", requests={GPU: "1"})) == (50 + 3 * 25) // 4
    assert points(rule, offered, pod(cpu="2")) == 50


def test_an_extended_resource_alone_says_nothing_about_pods_that_do_not_ask_for_it():
    assert Surroundings([node()]).points(over((GPU, 1)), pod()) is None


def test_ephemeral_storage_counts_by_what_is_really_requested():
    storage = "ephemeral-storage"
    rule = over((storage, 1))
    offered = node(**{storage: "10Gi"})
    assert points(rule, offered, pod()) == 100
    assert points(rule, offered, pod("there", requests={storage: "5Gi"}), pod()) == 50


def test_names_that_are_no_amounts_of_a_node_are_left_out():
    assert points(over(("pods", 1), ("cpu", 1)), node(cpu="4"), pod(cpu="1")) == 75


def test_requests_for_the_pod_as_a_whole_are_heard_only_once_it_is_there():
    whole = {"resources": ResourceRequirements(requests={"cpu": "2"}), "containers": (container("1", "0"),)}
    offered = node(cpu="4", memory=None)
    assert points(LEAST, offered, pod(**whole)) == 75
    assert points(LEAST, offered, pod("there", **whole), pod(cpu="1", memory="0")) == 25


@pytest.mark.parametrize(
    ("shape", "used", "expected"),
    [
        ([(0, 0), (100, 100)], "1", 25),
        ([(0, 100), (100, 0)], "1", 75),
        ([(40, 80), (60, 20)], "1", 80),
        ([(40, 80), (60, 20)], "2", 50),
        ([(40, 80), (60, 20)], "4", 20),
        ([(50, 70)], "1", 70),
    ],
    ids=["rising", "falling", "before-the-first", "between", "behind-the-last", "a-single-point"],
)
def test_points_follow_the_shape(shape, used, expected):
    rule = over(("cpu", 1), strategy=ratio(*shape))
    assert points(rule, node(cpu="4"), pod(cpu=used)) == expected


def test_falling_lines_are_cut_off_towards_their_start():
    """At 1 of 3 percent a line from 100 to 0 has fallen by 33.3; integers of Go cut the third off, and so do we."""
    assert points(over(("cpu", 1), strategy=ratio((0, 100), (3, 0))), node(cpu="100"), pod(cpu="1")) == 67


def test_resources_without_points_do_not_pull_the_ratio_down():
    rule = over(("cpu", 1), ("memory", 1), strategy=ratio((50, 0), (100, 100)))
    assert points(rule, node(cpu="4", memory="4Gi"), pod(cpu="4", memory="1Gi")) == 100


def test_the_ratio_rounds_halves_up():
    rule = over(("cpu", 1), ("memory", 1), strategy=ratio((0, 0), (100, 100)))
    assert points(rule, node(cpu="100", memory="100"), pod(cpu="1", memory="2")) == 2


def test_the_ratio_of_an_overfull_node_is_that_of_a_full_one():
    rule = over(("cpu", 1), strategy=ratio((0, 10), (100, 90)))
    assert points(rule, node(cpu="1"), pod(cpu="3")) == 90


def test_a_node_without_any_of_the_resources_gets_no_points():
    rule = over(("cpu", 1), strategy=ratio((0, 100), (100, 100)))
    assert points(rule, node(cpu=None), pod(cpu="1")) == 0
