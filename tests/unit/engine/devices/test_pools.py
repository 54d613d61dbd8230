"""Pools, read slice by slice as the slices come."""

import pytest

from posse.engine.devices.pools import PoolReader
from posse.model.device import DeviceTaint, DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintSelector
from posse.model.meta import ObjectMeta
from tests.support.device_objects import DRIVER, device, resource_slice


@pytest.fixture
def made(monkeypatch):
    """Names of the devices that are read."""
    found, read = [], PoolReader._device

    def noted(self, where, one, rules):
        found.append(one.name)
        return read(self, where, one, rules)

    monkeypatch.setattr(PoolReader, "_device", noted)
    return found


def part(number, generation=1):
    return resource_slice(
        "",
        [device(f"d{number}")],
        name=f"s{number}",
        pool="net",
        count=3,
        generation=generation,
        all_nodes=True,
    )


def names(pool):
    return [one.id.name for one in pool.devices]


def test_each_slice_of_a_pool_is_read_once(made):
    reader, slices = PoolReader(), [part(number) for number in range(3)]
    pools = [reader.read(slices[: known + 1], ()) for known in range(3)]
    assert [pool.is_complete for pool in pools] == [False, False, True]
    assert (names(pools[-1]), made) == (["d0", "d1", "d2"], ["d0", "d1", "d2"])


def test_a_slice_that_has_changed_is_read_again(made):
    reader, slices = PoolReader(), [part(number) for number in range(3)]
    reader.read(slices, ())
    slices[1] = resource_slice("", [device("new")], name="s1", pool="net", count=3, all_nodes=True)
    assert names(reader.read(slices, ())) == ["d0", "new", "d2"]
    assert made == ["d0", "d1", "d2", "new"]


def test_what_an_older_generation_held_is_forgotten():
    reader, slices = PoolReader(), [part(number) for number in range(3)]
    reader.read(slices, ())
    newer = [part(number, generation=2) for number in (3, 4, 5)]
    assert names(reader.read([*slices, *newer], ())) == ["d3", "d4", "d5"]


def test_rules_change_the_taints_of_slices_that_were_read():
    reader, slices = PoolReader(), [part(number) for number in range(3)]
    reader.read(slices, ())
    rule = DeviceTaintRule(
        metadata=ObjectMeta(name="r"),
        spec=DeviceTaintRuleSpec(
            device_selector=DeviceTaintSelector(driver=DRIVER, device="d1"),
            taint=DeviceTaint(key="broken", effect="NoSchedule"),
        ),
    )
    tainted = reader.read(slices, [rule])
    assert [bool(one.taints) for one in tainted.devices] == [False, True, False]
    assert [bool(one.taints) for one in reader.read(slices, []).devices] == [False, False, False]
