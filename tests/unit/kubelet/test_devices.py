"""The devices of simulated nodes are valid objects, and every node has its pool."""

import pytest

from posse.kinds.registry import DEVICE_CLASS, RESOURCE_SLICE
from posse.kubelet.devices import DEVICE_SETS, device_objects
from posse.kubelet.nodes import parse_topology, simulated_node
from posse.model.decoding import decode

KINDS = {kind.name: kind for kind in (DEVICE_CLASS, RESOURCE_SLICE)}


def nodes(count, topology=""):
    made = [simulated_node(ordinal, parse_topology(topology), 0.0) for ordinal in range(1, count + 1)]
    for node in made:
        node["metadata"]["uid"] = node["metadata"]["name"]
    return made


def slices(name, *args):
    return [obj for obj in device_objects([name], nodes(*args)) if obj["kind"] == "ResourceSlice"]


@pytest.mark.parametrize("name", DEVICE_SETS)
@pytest.mark.parametrize("topology", ["", "rack=2"])
def test_all_objects_are_valid(name, topology):
    objects = device_objects([name], nodes(4, topology))
    assert {obj["kind"] for obj in objects} == set(KINDS)
    for obj in objects:
        kind = KINDS[obj["kind"]]
        assert kind.rules.validate(decode(kind.struct, obj)) == []


def test_two_vendors_take_turns():
    drivers = [obj["spec"]["driver"] for obj in slices("two-vendors", 4)]
    assert drivers == ["gpu.example.com", "gpu.example.org"] * 2


def test_each_rack_has_a_pool_of_its_own():
    pools = [obj["spec"]["pool"]["name"] for obj in slices("fabric", 6, "rack=3")]
    assert pools == ["rack-1", "rack-2", "rack-3"]
    (only,) = slices("fabric", 6)
    assert only["spec"]["allNodes"]


def test_slices_go_with_their_node():
    (obj,) = slices("gpus", 1)
    assert obj["metadata"]["ownerReferences"][0]["uid"] == "node-0001"


def test_a_class_that_two_sets_have_comes_once():
    objects = device_objects(["gpus", "two-vendors"], nodes(1))
    assert [obj["metadata"]["name"] for obj in objects if obj["kind"] == "DeviceClass"] == [
        "gpu.example.com",
        "gpu.example.org",
    ]
