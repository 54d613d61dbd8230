from collections import Counter

import pytest

from posse.kubelet.nodes import (
    Level,
    TopologyError,
    address_of,
    is_ready,
    is_reported,
    is_simulated,
    missing_nodes,
    node_status,
    parse_topology,
    simulated_node,
    topology_labels,
)
from posse.model.decoding import decode, unknown_fields
from posse.model.node import Node

NOW = 1_800_000_000.0


def test_topology_text_names_levels_from_wide_to_narrow():
    assert parse_topology("block=2,rack=4") == (Level("block", 2), Level("rack", 4))
    assert parse_topology(" zone=1 , super-block=3 ") == (Level("zone", 1), Level("super-block", 3))


@pytest.mark.parametrize("text", ["", "  "])
def test_no_text_means_no_topology(text):
    assert parse_topology(text) == ()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("block", '"block"'),
        ("block=", '"block="'),
        ("block=0", '"block=0"'),
        ("block=-2", '"block=-2"'),
        ("block=two", '"block=two"'),
        ("block=2,", '""'),
        ("=3", '""'),
        ("Block=2", '"Block"'),
        ("a/b=2", '"a/b"'),
        ("-=2", '"-"'),
        ("block=9999999999", '"block=9999999999"'),
        ("block=2,block=3", "twice"),
        ("block=2000,rack=2000", "4000000"),
    ],
)
def test_bad_topology_text_is_refused_with_the_part_that_is_wrong(text, names):
    with pytest.raises(TopologyError) as refusal:
        parse_topology(text)
    assert names in str(refusal.value)


def test_nodes_are_spread_evenly_whatever_their_number():
    levels = parse_topology("block=2,rack=4")
    for count in (1, 4, 8, 13, 64):
        labels = [topology_labels(ordinal, levels) for ordinal in range(1, count + 1)]
        for key in ("topology.posse.dev/block", "topology.posse.dev/rack"):
            sizes = Counter(item[key] for item in labels)
            assert max(sizes.values()) - min(sizes.values()) <= 1
    assert len({item["topology.posse.dev/rack"] for item in labels}) == 8


def test_domain_names_are_unique_and_contain_their_parent():
    levels = parse_topology("block=2,rack=4")
    assert topology_labels(1, levels) == {
        "topology.posse.dev/block": "block-1",
        "topology.posse.dev/rack": "block-1-rack-1",
    }
    assert topology_labels(6, levels) == {
        "topology.posse.dev/block": "block-2",
        "topology.posse.dev/rack": "block-2-rack-3",
    }


def test_a_simulated_node_is_complete_and_ready():
    node = simulated_node(3, parse_topology("rack=2"), NOW)
    assert node["metadata"]["name"] == "node-0003"
    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "node-0003"
    assert node["metadata"]["labels"]["topology.posse.dev/rack"] == "rack-1"
    assert is_simulated(node)
    assert is_ready(node)
    assert address_of(node) == "172.16.0.3"
    assert node["status"]["capacity"] == node["status"]["allocatable"]
    assert node["status"]["capacity"]["nvidia.com/gpu"] == "8"


def test_only_missing_nodes_are_made():
    made = missing_nodes(4, (), ["node-0002", "node-0004", "mine"], NOW)
    assert [node["metadata"]["name"] for node in made] == ["node-0001", "node-0003"]
    assert missing_nodes(0, (), [], NOW) == []
    assert missing_nodes(1, (), ["node-0001", "node-0002"], NOW) == []


def test_names_grow_past_four_digits():
    assert missing_nodes(10_000, (), [], NOW)[-1]["metadata"]["name"] == "node-10000"


@pytest.mark.parametrize("labels", [None, {}, {"posse.dev/simulated": "false"}])
def test_other_nodes_are_not_simulated(labels):
    assert not is_simulated({"metadata": {"name": "n", "labels": labels}})


def test_what_the_author_of_a_node_said_about_capacity_stands():
    node = {"metadata": {"name": "mine"}, "status": {"capacity": {"cpu": "2"}, "conditions": None}}
    assert not is_ready(node)
    status = node_status(node, "172.16.0.7", NOW)
    assert status["capacity"] == status["allocatable"] == {"cpu": "2"}
    assert is_ready(node | {"status": status})


def test_extended_resources_that_a_node_is_given_are_offered_to_pods():
    node = simulated_node(1, (), NOW)
    assert is_reported(node)
    given = {**node["status"]["capacity"], "example.com/licence": "3"}
    node["status"] |= {"capacity": given}
    assert not is_reported(node)
    status = node_status(node, "10.0.0.1", NOW)
    assert status["allocatable"]["example.com/licence"] == "3"
    assert is_reported(node | {"status": status})


def test_making_a_node_ready_keeps_its_other_conditions():
    disk = {"type": "DiskPressure", "status": "False"}
    node = {"metadata": {"name": "n"}, "status": {"conditions": [{"type": "Ready", "status": "False"}, disk]}}
    conditions = node_status(node, "172.16.0.7", NOW)["conditions"]
    assert disk in conditions
    assert [item["status"] for item in conditions if item["type"] == "Ready"] == ["True"]


def test_every_node_is_one_the_api_knows():
    node = simulated_node(1, parse_topology("rack=2"), NOW)
    decode(Node, node)
    assert unknown_fields(Node, node) == []


@pytest.mark.parametrize("conditions", [[{"type": "Ready"}], [{"status": "True"}], [{}]])
@pytest.mark.parametrize("addresses", [[{"type": "InternalIP"}], [{"address": "10.0.0.1"}], [{}]])
def test_a_status_said_by_halves_is_that_of_a_node_not_ready_yet(conditions, addresses):
    status = {"allocatable": {"cpu": "1"}, "conditions": conditions, "addresses": addresses}
    node = {"metadata": {"name": "n"}, "status": status}
    assert address_of(node) == ""
    assert not is_ready(node)
    assert is_ready(node | {"status": node_status(node, "172.16.0.7", NOW)})
