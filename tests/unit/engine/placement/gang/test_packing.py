"""Groups that are packed: in which racks and on which nodes their pods are, and what stays whole."""

import dataclasses
from collections import Counter

import pytest

from posse.engine.groups.annotations import MAX_PREFERRED_LEVELS, PREFERRED_TOPOLOGY
from posse.engine.options import EngineOptions
from posse.engine.rules.profile import PackingPolicy
from posse.engine.rules.registry import DEFAULT_PROFILE
from tests.support.builders import SCHEDULER, changed, gang, in_rack, node, one_domain, pod, pods, taint
from tests.support.engine_driver import Driver


def packing(*keys, single_pods=False):
    profile = dataclasses.replace(DEFAULT_PROFILE, packing=PackingPolicy(keys, single_pods))
    return EngineOptions({SCHEDULER: profile})


def racks(count, nodes, **description):
    """Neighbours are in different racks, so that turns by row go through all of them."""
    return [
        one
        for index in range(nodes)
        for rack in range(1, count + 1)
        for one in in_rack(f"r{rack}", f"r{rack}-{index}", **description)
    ]


def used_racks(bound):
    """How many pods are in each rack, by the names of nodes."""
    return Counter(name.partition("-")[0] for name in bound.values())


def members(count, group="g1", first=1, cpu="1", **spec):
    return pods(count, first, cpu=cpu, group=group, **spec)


@pytest.mark.parametrize(("options", "is_whole"), [(None, False), (packing("rack"), True)])
def test_a_gang_of_sixteen_leaves_racks_whole_for_a_gang_of_eight(options, is_whole):
    driver = Driver(*racks(8, 8, cpu="1"), options=options)
    driver.see(gang("wide", 16), *members(16, "wide"))
    first = driver.bind()
    driver.see(gang("rack", 8, **one_domain()), *members(8, "rack", first=101))
    second = driver.bind()
    assert len(first) == 16
    if is_whole:
        assert used_racks(first) == {"r1": 8, "r2": 8}
        assert list(used_racks(second).values()) == [8]
    else:
        assert set(used_racks(first).values()) == {2}
        assert not second


def test_a_gang_goes_into_the_tightest_rack_that_takes_it():
    cluster = [*racks(1, 6, cpu="1"), *in_rack("r2", "r2-0", "r2-1", "r2-2", cpu="1"), *racks(1, 2, cpu="1")]
    driver = Driver(*cluster, gang(minimum=3), *members(3), options=packing("rack"))
    assert used_racks(driver.bind()) == {"r2": 3}


def test_without_one_rack_for_all_the_fewest_share_a_gang():
    cluster = [*racks(3, 4, cpu="1"), *in_rack("r4", "r4-0", "r4-1", cpu="1")]
    driver = Driver(*cluster, gang(minimum=6), *members(6), options=packing("rack"))
    assert sorted(used_racks(driver.bind()).values()) == [2, 4]


def test_a_rack_comes_before_a_tighter_block():
    def in_block(block, rack, *names):
        return [node(name, cpu="1", labels={"block": block, "rack": rack}) for name in names]

    cluster = [
        *in_block("b1", "r1", "r1-0", "r1-1"),
        *in_block("b1", "r2", "r2-0"),
        *in_block("b2", "r3", "r3-0", "r3-1", "r3-2"),
        *in_block("b2", "r4", "r4-0"),
    ]
    driver = Driver(*cluster, gang(minimum=3), *members(3), options=packing("block", "rack"))
    assert used_racks(driver.bind()) == {"r3": 3}
    driver.see(gang("g2", 2), *members(2, "g2", first=11))
    assert used_racks(driver.bind()) == {"r1": 2}


def test_racks_of_one_block_share_a_gang_that_no_rack_takes():
    cluster = [
        node(f"{rack}-{index}", cpu="1", labels={"block": block, "rack": rack})
        for block, rack in (("b1", "r1"), ("b2", "r2"), ("b2", "r3"), ("b3", "r4"))
        for index in range(3)
    ]
    driver = Driver(*cluster, gang(minimum=5), *members(5), options=packing("block", "rack"))
    assert used_racks(driver.bind()) == {"r2": 3, "r3": 2}


def test_pods_share_the_fewest_nodes_and_the_fullest_of_these():
    cluster = in_rack("r1", "a", "b", "c", cpu="4")
    there = pod("there", cpu="2", on="b")
    driver = Driver(*cluster, there, gang(minimum=2), *members(2), options=packing("rack"))
    assert set(driver.bind().values()) == {"b"}


def test_members_of_two_classes_are_in_one_rack():
    cluster = [*racks(1, 2, cpu="1"), *in_rack("r2", "r2-0", "r2-1", cpu="3")]
    workers = [pod("driver", cpu="2", group="g1"), *members(3)]
    driver = Driver(*cluster, gang(minimum=4), *workers, options=packing("rack"))
    assert used_racks(driver.bind()) == {"r2": 4}


def test_members_that_come_later_join_the_others():
    driver = Driver(*racks(3, 4, cpu="1"), options=packing("rack"))
    early, late = members(2), members(2, first=3)
    driver.see(gang(minimum=2), *early)
    (rack,) = used_racks(driver.bind_and_confirm(*early))
    driver.see(*late)
    assert used_racks(driver.bind()) == {rack: 2}


def test_nodes_without_the_label_are_used_last():
    cluster = [node("x", cpu="1"), *in_rack("r1", "r1-0", "r1-1", cpu="1")]
    driver = Driver(*cluster, gang(minimum=3), *members(3), options=packing("rack"))
    assert set(driver.bind().values()) == {"x", "r1-0", "r1-1"}


def test_a_label_that_no_node_has_means_nothing():
    driver = Driver(*racks(4, 2, cpu="2"), gang(minimum=8), *members(8), options=packing("zone", "rack"))
    assert len(used_racks(driver.bind())) == 2


def test_nodes_to_avoid_are_avoided_inside_the_rack():
    avoided = in_rack("r1", "r1-0", cpu="2", taints=[taint("slow", "PreferNoSchedule")])
    cluster = [*avoided, *in_rack("r1", "r1-1", "r1-2", cpu="2"), *in_rack("r2", "r2-0", cpu="2")]
    driver = Driver(*cluster, gang(minimum=3), *members(3), options=packing("rack"))
    assert set(driver.bind().values()) == {"r1-1", "r1-2"}


def test_a_group_that_needs_one_rack_takes_the_tightest():
    cluster = [*racks(1, 6, cpu="1"), *in_rack("r2", "r2-0", "r2-1", "r2-2", "r2-3", cpu="1")]
    driver = Driver(*cluster, options=packing("rack"))
    driver.see(gang(minimum=3, **one_domain()), *members(3))
    assert used_racks(driver.bind()) == {"r2": 3}


def test_single_pods_are_spread_as_before():
    driver = Driver(*racks(2, 2, cpu="4"), *pods(4, cpu="1"), options=packing("rack"))
    assert len(set(driver.bind().values())) == 4


def test_single_pods_can_be_packed_too():
    cluster = [*racks(1, 3, cpu="2"), *in_rack("r2", "r2-0", "r2-1", cpu="2")]
    options = packing("rack", single_pods=True)
    driver = Driver(*cluster, pod("there", cpu="1", on="r2-1"), *pods(4, cpu="1"), options=options)
    assert Counter(driver.bind().values()) == {"r2-1": 1, "r2-0": 2, "r1-0": 1}


def test_a_single_pod_that_fits_nowhere_waits():
    options = packing("rack", single_pods=True)
    assert not Driver(*racks(2, 1, cpu="1"), pod(cpu="2"), options=options).bind()


def preferring(*keys, **description):
    return changed(gang(**description), metadata={"annotations": {PREFERRED_TOPOLOGY: ", ".join(keys)}})


def test_a_group_may_prefer_one_rack():
    driver = Driver(*racks(4, 4, cpu="1"), preferring("rack", minimum=4), *members(4))
    assert list(used_racks(driver.bind()).values()) == [4]


def test_a_preference_that_cannot_be_met_keeps_nothing_from_starting():
    driver = Driver(*racks(3, 2, cpu="1"), preferring("block", "rack", minimum=5), *members(5))
    assert sorted(used_racks(driver.bind()).values()) == [1, 2, 2]


def test_inside_a_preferred_rack_pods_are_spread_as_before():
    driver = Driver(*racks(2, 3, cpu="4"), preferring("rack", minimum=3), *members(3))
    bound = driver.bind()
    assert (len(used_racks(bound)), len(set(bound.values()))) == (1, 3)


def test_an_annotation_of_pods_counts_where_the_group_has_none():
    waiting = [changed(one, metadata={"annotations": {PREFERRED_TOPOLOGY: "rack"}}) for one in members(4)]
    driver = Driver(*racks(4, 4, cpu="1"), gang(minimum=4), *waiting)
    assert list(used_racks(driver.bind()).values()) == [4]


def test_labels_after_the_eighth_are_ignored():
    keys = [*(f"level-{number}" for number in range(MAX_PREFERRED_LEVELS)), "rack"]
    driver = Driver(*racks(4, 4, cpu="1"), preferring(*keys, minimum=4), *members(4))
    assert len(used_racks(driver.bind())) > 1


def test_equal_groups_that_prefer_a_rack_each_get_one():
    groups = [preferring("rack", name=f"g{number}", minimum=3) for number in range(3)]
    waiting = [one for number in range(3) for one in members(3, f"g{number}", first=10 * number)]
    driver = Driver(*racks(3, 3, cpu="1"), *groups, *waiting)
    bound = driver.bind()
    for number in range(3):
        mine = {name: node for name, node in bound.items() if int(name[1:]) // 10 == number}
        assert len(used_racks(mine)) == 1


def test_a_rack_is_preferred_inside_the_block_that_is_required():
    cluster = [
        node(f"{rack}-{index}", cpu="1", labels={"block": block, "rack": rack})
        for index in range(2)
        for block, rack in (("b1", "r1"), ("b1", "r2"), ("b2", "r3"), ("b2", "r4"))
    ]
    group = changed(
        gang(minimum=2, **one_domain("block")), metadata={"annotations": {PREFERRED_TOPOLOGY: "rack"}}
    )
    assert list(used_racks(Driver(*cluster, group, *members(2)).bind()).values()) == [2]
