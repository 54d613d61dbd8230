"""The domain of a group has room for the pods that it says will come, if any domain has."""

import pytest

from posse.engine.options import EngineOptions
from posse.model.feature_gates import ALL_GATES, Gate
from tests.support.builders import basic_group, composite, in_rack, one_domain, pod
from tests.support.engine_driver import Driver

GATHERED = 3.0
"""Longer than a group waits for the rest of its pods."""


def racks(**sizes):
    """Racks of so many nodes with room for one pod each."""
    return [
        one
        for rack, size in sizes.items()
        for one in in_rack(rack, *(f"{rack}{i}" for i in range(size)), cpu="1")
    ]


def crew(count, **description):
    return [pod(f"crew-{i}", cpu="1", group="g1", **description) for i in range(count)]


def first_placed(*objects, options=None):
    driver = Driver(*objects, options=options)
    return {**driver.bind(), **driver.bind(after=GATHERED)}


@pytest.mark.parametrize("sizes", [{"a": 1, "b": 3}, {"a": 3, "b": 1}, {"a": 2, "b": 3, "c": 1}])
def test_the_first_pod_goes_where_the_others_find_room(sizes):
    group = basic_group(expected=3, **one_domain())
    largest = max(sizes, key=sizes.get)
    places = first_placed(*racks(**sizes), group, *crew(1))
    assert places["crew-0"].startswith(largest)


def test_the_others_follow():
    group, (first, *rest) = basic_group(expected=3, **one_domain()), crew(3)
    driver = Driver(*racks(a=1, b=3), group, first)
    driver.decide()
    bound = driver.bind_and_confirm(first, after=GATHERED)
    driver.see(*rest)
    places = bound | driver.bind(after=10.0)
    assert sorted(node[0] for node in places.values()) == ["b", "b", "b"]


def test_where_no_domain_has_room_for_all_the_largest_is_taken():
    group = basic_group(expected=9, **one_domain())
    assert first_placed(*racks(a=1, b=3, c=2), group, *crew(1))["crew-0"].startswith("b")


def test_it_is_a_hint_and_where_it_cannot_be_followed_the_group_starts_elsewhere():
    taken = [pod(f"taken-{i}", cpu="1", on=f"b{i}") for i in range(3)]
    group = basic_group(expected=3, **one_domain())
    assert first_placed(*racks(a=1, b=3), *taken, group, *crew(1)) == {"crew-0": "a0"}


def test_without_the_gate_it_means_nothing():
    gates = ALL_GATES - {Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT}
    group = basic_group(expected=3, **one_domain())
    places = first_placed(*racks(a=1, b=3), group, *crew(1), options=EngineOptions(gates=gates))
    assert places == {"crew-0": "a0"}


def test_in_a_tree_the_domain_of_the_root_is_sized_for_all_its_groups():
    tree = [
        composite("root", **one_domain()),
        basic_group("g1", expected=2, parent_composite_pod_group_name="root"),
        basic_group("g2", expected=2, parent_composite_pod_group_name="root"),
    ]
    pods = [pod("p1", cpu="1", group="g1"), pod("p2", cpu="1", group="g2")]
    places = first_placed(*racks(a=2, b=4), *tree, *pods)
    assert sorted(node[0] for node in places.values()) == ["b", "b"]
