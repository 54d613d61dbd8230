import pytest

from posse.engine.nodes.node_table import NodeTable
from posse.engine.pods.pod_class import ClassTable
from posse.engine.pods.policy import PodReader
from tests.support.builders import container, gated, pod, required_affinity, requirement, toleration


def same_class(one, other):
    table = ClassTable(NodeTable(), PodReader({}))
    return table.join(one) is table.join(other)


@pytest.mark.parametrize(
    "difference",
    [
        {"cpu": "200m"},
        {"requests": {"example.com/gpu": 1}},
        {"tolerations": (toleration("k"),)},
        {"node_selector": {"zone": "east"}},
        {"affinity": required_affinity([requirement("zone", "Exists")])},
        {"overhead": {"cpu": "1m"}},
        {"init_containers": (container("100m"),)},
    ],
)
def test_pods_that_a_rule_tells_apart_are_of_different_classes(difference):
    assert not same_class(pod(cpu=difference.pop("cpu", "100m"), **difference), pod(cpu="100m"))


def test_a_sidecar_is_not_an_init_container():
    one = pod(init_containers=(container("100m"),))
    assert not same_class(one, pod(init_containers=(container("100m", sidecar=True),)))


@pytest.mark.parametrize(
    "irrelevant",
    [
        {"name": "other", "uid": "other"},
        {"group": "g1"},
        {"scheduling_gates": gated("wait")},
        {"priority": 7},
        {"on": "n1"},
        {"hostname": "h"},
    ],
)
def test_what_no_rule_reads_makes_no_class(irrelevant):
    assert same_class(pod(cpu="100m"), pod(cpu="100m", **irrelevant))


def test_the_order_of_a_map_makes_no_class():
    one = pod(node_selector={"a": "1", "b": "2"})
    assert same_class(one, pod(node_selector={"b": "2", "a": "1"}))


def test_a_class_names_what_it_needs_by_resource_index():
    nodes = NodeTable()
    made = ClassTable(nodes, PodReader({})).join(pod(cpu="250m", requests={"example.com/gpu": 2}))
    names = {index: name for name, index in nodes.resource_index.items()}
    assert {names[i]: wanted for i, wanted in made.requests} == {"cpu": 250, "pods": 1, "example.com/gpu": 2}


def test_a_class_leaves_with_its_last_member():
    table = ClassTable(NodeTable(), PodReader({}))
    made = table.join(pod("a"))
    assert table.join(pod("b")) is made
    table.leave(made)
    assert len(table) == 1
    table.leave(made)
    assert len(table) == 0
    assert table.join(pod("c")) is not made


def test_amounts_of_more_than_64_bits_make_a_class_each():
    table = ClassTable(NodeTable(), PodReader({}))
    huge = table.join(pod("huge", requests={"example.com/gpu": 10**24}))
    assert table.join(pod("equal", requests={"example.com/gpu": 10**24})) is huge
    assert table.join(pod("other", requests={"example.com/gpu": 10**25})) is not huge
