"""Groups that must stay in one rack: where they go, and what they are told if no rack takes them."""

import pytest

from posse.model.meta import LabelSelector
from posse.model.placement import Affinity, PodAffinity, PodAffinityTerm
from tests.support.builders import basic_group, changed, gang, in_rack, node, one_domain, pod, pods
from tests.support.engine_driver import Driver, group_reports, pod_reports


def rack_gang(minimum, name="g1", **spec):
    return gang(name, minimum, **one_domain(), **spec)


def members(count, first=1, **description):
    return pods(count, first, **({"cpu": "1", "group": "g1"} | description))


def test_a_gang_goes_where_it_fits_as_a_whole():
    driver = Driver(
        *in_rack("r1", "a", cpu="2"), *in_rack("r2", "b", "c", cpu="2"), rack_gang(3), *members(3)
    )
    assert set(driver.bind().values()) == {"b", "c"}


def test_the_rack_that_is_fuller_afterwards_is_better():
    racks = [*in_rack("r1", "a", "b", cpu="4"), *in_rack("r2", "c", cpu="4")]
    assert set(Driver(*racks, rack_gang(2), *members(2)).bind().values()) == {"c"}
    there = [pod("x", cpu="3", on="a"), pod("y", cpu="3", on="b")]
    assert set(Driver(*racks, *there, rack_gang(2), *members(2)).bind().values()) == {"a", "b"}


def test_a_rack_that_takes_more_members_is_better():
    racks = [*in_rack("r1", "a", cpu="2"), *in_rack("r2", "b", cpu="4")]
    assert set(Driver(*racks, rack_gang(2), *members(4)).bind().values()) == {"b"}


def test_of_equal_racks_the_first_by_name_is_taken():
    racks = [*in_rack("r2", "a", cpu="2"), *in_rack("r1", "b", cpu="2")]
    assert set(Driver(*racks, rack_gang(2), *members(2)).bind().values()) == {"b"}


def test_members_that_come_later_join_the_others():
    driver = Driver(*in_rack("r1", "a", cpu="2"), *in_rack("r2", "b", cpu="1"), rack_gang(1))
    driver.see(*members(1))
    assert driver.bind_and_confirm(*members(1)) == {"p1": "b"}
    driver.see(*members(1, first=2))
    decisions = driver.decide()
    assert pod_reports(decisions)["p2"][0] == "Unschedulable"
    assert "0/1 nodes are available: 1 Insufficient cpu" in pod_reports(decisions)["p2"][1]
    driver.see(*in_rack("r2", "c", cpu="1"))
    assert driver.bind(after=10) == {"p2": "c"}


def test_nodes_without_the_label_are_of_no_use():
    driver = Driver(node("plain", cpu="9"), rack_gang(1), *members(1))
    ((_, _, reason, message),) = group_reports(driver.decide())
    assert (reason, message) == (
        "Unschedulable",
        "no feasible placements found: no node has the label rack.",
    )
    driver.see(*in_rack("r1", "plain", cpu="9"))
    assert driver.bind(after=10) == {"p1": "plain"}


def test_a_refused_gang_is_told_which_rack_came_closest():
    racks = [*in_rack("r1", "a", cpu="1"), *in_rack("r2", "b", "c", cpu="1"), *in_rack("r3", "d", cpu="1")]
    ((_, _, _, message),) = group_reports(Driver(*racks, rack_gang(3), *members(3)).decide())
    assert message == (
        "0/3 placements are available: no rack can hold the 3 pods that must start together; "
        "the best, r2, has room for 2; with those placed, 1 lacks cpu (1): 2 nodes have none left. "
        "0/2 nodes are available: 2 Insufficient cpu. Proven: it cannot fit in the currently free capacity."
    )


def test_where_no_rack_takes_any_member_that_is_said():
    racks = [*in_rack("r1", "a", cpu="1"), *in_rack("r2", "b", cpu="2")]
    group = basic_group(**one_domain())
    ((_, _, _, message),) = group_reports(Driver(*racks, group, *members(2, cpu="3")).decide())
    assert message.startswith(
        "0/2 placements are available: no rack takes any of its pods; in the best, r1, 2 lack cpu (3 each)"
    )


@pytest.mark.parametrize(
    ("there", "error"),
    [
        ({"p1": "plain"}, "pods of the group run on node plain, which has no label rack."),
        ({"p1": "a", "p2": "b"}, "more than 1 domain found for pod group: r1, r2."),
    ],
)
def test_running_members_outside_of_one_rack_are_an_error(there, error):
    racks = [*in_rack("r2", "a"), *in_rack("r1", "b"), *in_rack("", "plain")]
    running = [changed(one, spec={"node_name": there.get(one.metadata.name, "")}) for one in members(3)]
    driver = Driver(*racks, rack_gang(1), *running)
    reports = pod_reports(driver.decide())
    assert reports["p3"] == ("SchedulerError", error)


def test_a_gang_of_different_pods_is_tried_in_other_orders_inside_of_a_rack():
    """The small ones spread out first and leave no node for the large one."""
    racks = in_rack("r1", "a", "b", cpu="4")
    mixed = [*members(4, cpu="1"), *members(1, first=5, cpu="4")]
    driver = Driver(*racks, *in_rack("r2", "c", cpu="2"), rack_gang(5), *mixed)
    assert len(driver.bind()) == 5


def test_a_gang_of_different_pods_that_fits_by_its_bounds_alone_is_proven_not_to_fit_by_trying():
    racks = in_rack("r1", "a", "b", cpu="3")
    mixed = [*members(2, cpu="2"), *members(1, first=3, cpu="1"), *members(1, first=4, cpu="2", memory="1")]
    ((_, started, _, message),) = group_reports(Driver(*racks, rack_gang(4), *mixed).decide())
    assert not started
    assert message.endswith("Proven: it cannot fit in the currently free capacity.")


def test_members_that_want_each_other_find_a_rack():
    """By what can be seen beforehand every rack would do; only trying shows which one does."""
    term = PodAffinityTerm(label_selector=LabelSelector(match_labels={"app": "x"}), topology_key="rack")
    near = Affinity(pod_affinity=PodAffinity(required_during_scheduling_ignored_during_execution=(term,)))
    anchor = changed(pod("anchor", cpu="1", on="d"), metadata={"labels": {"app": "x"}})
    racks = [*in_rack("r1", "a", "b", cpu="1"), *in_rack("r2", "c", "d", cpu="2")]
    driver = Driver(*racks, anchor, rack_gang(2), *members(2, affinity=near))
    assert set(driver.bind().values()) == {"c", "d"}
