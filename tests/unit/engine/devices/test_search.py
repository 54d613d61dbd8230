"""The search for devices by itself: order, limits, shares and counters."""

import pytest

from posse.engine.devices.pools import PoolReader
from posse.engine.devices.requests import shape_of
from posse.engine.devices.search import DeviceSearch
from posse.engine.devices.selecting import Selecting
from posse.engine.devices.usage import DevicesInUse, UsedDevice
from posse.engine.devices.wants import AllocationError, Offer, SearchCutShort, Want
from posse.model.device import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from tests.support.device_objects import (
    claim_spec,
    device,
    device_class,
    distinct,
    exact,
    first_of,
    matching,
    resource_slice,
)

CLASSES = {name: device_class(name) for name in ("gpu", "other")}


def offer(devices, counters=None):
    slices = [resource_slice("n1", devices, name="b", count=2 if counters else 1)]
    if counters:
        slices.append(resource_slice("n1", [], name="a", count=2, counters=counters))
    pool = PoolReader().read(slices, ())
    return Offer(pool.devices, {pool.key: pool.counters})


def found(offered, *requests, in_use=(), steps=1_000, **spec):
    """Names of the devices found, by request; None if there are none."""
    used = DevicesInUse()
    used.add(UsedDevice(one.id) for one in offered.devices if one.id.name in in_use)
    want = Want("c", shape_of(claim_spec(*requests, **spec), CLASSES), offered)
    solution = DeviceSearch(Selecting(), used, steps).run([want])
    if solution is None:
        return None
    return [(one.wanted.name, one.device.id.name) for one in solution[0]]


def test_devices_are_given_in_their_order():
    assert found(offer(3), exact("a", 1), exact("b", 1)) == [("a", "d1"), ("b", "d2")]


def test_a_later_request_revises_the_choice_of_an_earlier_one():
    devices = [device("d1", attributes={"big": True}), device("d2", attributes={"big": False})]
    big = 'device.attributes["dra.example.com"].big'
    assert found(offer(devices), exact("a", 1), exact("b", 1, big)) == [("a", "d2"), ("b", "d1")]


def test_the_last_list_of_alternatives_is_revised_first():
    asks = [first_of("a", x=("gpu", 2), y=("gpu", 1)), first_of("b", x=("gpu", 2), y=("gpu", 1))]
    assert found(offer(3), *asks) == [("a/x", "d1"), ("a/x", "d2"), ("b/y", "d3")]


def test_all_devices_or_none():
    everything = exact("a", 0, allocation_mode="All")
    assert found(offer(2), everything) == [("a", "d1"), ("a", "d2")]
    assert found(offer(2), everything, in_use=["d2"]) is None


def test_all_devices_that_do_not_satisfy_a_constraint_are_an_error():
    devices = [device(f"d{i}", attributes={"numa": i}) for i in range(2)]
    with pytest.raises(AllocationError, match="does not satisfy the constraints"):
        found(
            offer(devices),
            exact("a", 0, allocation_mode="All"),
            constraints=[matching("dra.example.com/numa")],
        )


def test_administrators_have_devices_that_are_in_use():
    assert found(offer(1), exact("a", 1, admin_access=True), in_use=["d1"]) == [("a", "d1")]


def test_constraints_within_a_claim():
    devices = [device(f"d{i}", attributes={"numa": i // 2}) for i in range(4)]
    together = [matching("dra.example.com/numa")]
    apart = [distinct("dra.example.com/numa")]
    assert found(offer(devices), exact("a", 2), in_use=["d0"], constraints=together) == [
        ("a", "d2"),
        ("a", "d3"),
    ]
    assert found(offer(devices), exact("a", 2), constraints=apart) == [("a", "d0"), ("a", "d2")]
    assert found(offer(devices), exact("a", 3), constraints=apart) is None


def test_counters_of_partitions_are_shared():
    parts = [
        device(name, counters={"card": {"units": str(units)}})
        for name, units in (("half", 2), ("q1", 1), ("q2", 1))
    ]
    offered = offer(parts, {"card": {"units": "3"}})
    assert found(offered, exact("a", 2)) == [("a", "half"), ("a", "q1")]
    assert found(offered, exact("a", 3)) is None


def test_shares_are_rounded_by_policy_and_limited_by_capacity():
    policy = CapacityRequestPolicy(
        default="1G", valid_range=CapacityRequestPolicyRange(min="1G", step="2G", max="7G")
    )
    card = device(
        "nic", shared=True, capacity={"bandwidth": DeviceCapacity(value="10G", request_policy=policy)}
    )
    asks = [exact(name, 1, capacity={"bandwidth": amount}) for name, amount in (("a", "2G"), ("b", "6G"))]
    assert found(offer([card]), *asks) == [("a", "nic"), ("b", "nic")]
    assert found(offer([card]), *asks, exact("c", 1)) is None
    assert found(offer([card]), exact("a", 1, capacity={"bandwidth": "8G"})) is None


def test_more_than_32_devices_are_an_error():
    with pytest.raises(AllocationError, match="exceeds the claim limit of 32"):
        found(offer(40), exact("a", 20), exact("b", 13))


def test_a_search_that_is_cut_short_says_so():
    devices = [device(f"d{i}", attributes={"numa": i}) for i in range(12)]
    together = [matching("dra.example.com/numa")]
    with pytest.raises(SearchCutShort):
        found(offer(devices), exact("a", 2), constraints=together, steps=5)
