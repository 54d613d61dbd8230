"""Which pods may be evicted: the priority of the group counts for its members, whatever their own is."""

import numpy as np
import pytest

from posse.engine.groups.forms import COSCHEDULING
from posse.engine.queue.starvation_guard import PATIENCE_SECONDS
from tests.support.builders import changed, composite, gang, in_rack, node, nodes, one_domain, pod
from tests.support.engine_driver import Driver, evicted
from tests.support.group_forms import coscheduling_gang, member

URGENT = 50


def urgent(name="urgent", **description):
    return pod(name, cpu="1", priority=URGENT, **description)


def running(priority, name="p1", group="g1", on="n1"):
    return pod(name, cpu="1", on=on, group=group, priority=priority)


def counted(driver):
    """Priorities that hold room somewhere, as the search for victims sees it."""
    usage = driver.engine._knowledge.state.usage
    return [priority for priority in usage.priorities() if np.any(usage.requested(priority))]


@pytest.mark.parametrize(("of_group", "of_pod", "goes"), [(0, 100, True), (100, 0, False), (0, 0, True)])
def test_members_are_as_safe_as_their_group(of_group, of_pod, goes):
    driver = Driver(node("n1", cpu="1"), gang(minimum=1, priority=of_group), running(of_pod), urgent())
    assert evicted(driver.decide()) == (["p1"] if goes else [])


def test_that_holds_for_groups_in_search_of_a_rack_as_well():
    racks = [*in_rack("r1", "a", cpu="1"), *in_rack("r2", "b", cpu="1")]
    there = [running(100, "p1", on="a"), pod("alone", cpu="1", on="b", priority=100)]
    seeking = gang("seeking", minimum=1, priority=URGENT, **one_domain())
    driver = Driver(*racks, gang(minimum=1, priority=0), *there, seeking, urgent(group="seeking"))
    assert evicted(driver.decide()) == ["p1"]


def test_a_group_that_is_told_of_later_counts_from_then_on():
    driver = Driver(node("n1", cpu="1"), running(100), urgent())
    assert evicted(driver.decide()) == []
    driver.see(gang(minimum=1, priority=0))
    assert evicted(driver.decide(after=400.0)) == ["p1"]


def test_without_its_group_a_pod_counts_by_itself_again():
    group = gang(minimum=1, priority=0)
    driver = Driver(node("n1", cpu="1"), group, running(100))
    driver.decide()
    assert counted(driver) == [0]
    driver.lose(group)
    driver.see(urgent())
    assert evicted(driver.decide()) == []
    assert counted(driver) == [100]


def test_where_a_group_states_nothing_the_weakest_counts_until_it_leaves():
    weak, strong = (
        member(f"p{priority}", COSCHEDULING, cpu="1", on="n1", priority=priority) for priority in (10, 100)
    )
    driver = Driver(node("n1", cpu="2"), coscheduling_gang("g1", 1), weak, strong)
    driver.decide()
    assert counted(driver) == [10]
    driver.see(changed(weak, metadata={"labels": {}}))
    driver.decide()
    assert counted(driver) == [10, 100]


def test_in_a_tree_the_root_stands_for_all():
    child = gang(minimum=1, priority=100, parent_composite_pod_group_name="root")
    driver = Driver(node("n1", cpu="1"), child, running(100))
    driver.decide()
    assert counted(driver) == [100]
    root = composite("root", 1, priority=0)
    driver.see(root)
    driver.decide()
    assert counted(driver) == [0]
    driver.lose(root)
    driver.decide()
    assert counted(driver) == [100]


def test_nothing_is_left_of_a_member_that_is_gone():
    one = running(100)
    driver = Driver(node("n1", cpu="1"), gang(minimum=1, priority=0), one)
    driver.decide()
    driver.lose(one)
    assert counted(driver) == []


def of_two_minds(**description):
    """A group that counts with its weakest member."""
    return [member(f"p{p}", COSCHEDULING, cpu="1", priority=p, **description) for p in (10, 100)]


def test_room_is_held_for_a_group_against_those_that_matter_no_more_than_it():
    there = [pod(f"v{number}", cpu="1", on=f"n{number}", priority=0) for number in (1, 2)]
    driver = Driver(*nodes(2, cpu="1"), *there, coscheduling_gang("g1", 2), *of_two_minds())
    assert evicted(driver.decide()) == ["v1", "v2"]
    driver.lose(*there)
    driver.see(urgent("a"), urgent("b"))
    assert sorted(driver.bind()) == ["a", "b"]


def test_room_is_kept_for_a_group_beside_its_own_members():
    weak, strong = of_two_minds()
    driver = Driver(
        *nodes(2, cpu="1"), pod("other", cpu="1", on="n2", priority=10), coscheduling_gang("g1", 2)
    )
    driver.see(changed(strong, spec={"node_name": "n1"}), weak)
    driver.decide()
    driver.see(pod("small", cpu="0", priority=1000))
    assert driver.bind(after=PATIENCE_SECONDS - 1) != {}
    driver.decide(after=5.0)
    kept = driver.engine._knowledge.starvation_guard.reservation
    assert [driver.engine._knowledge.state.nodes.names[row] for row in kept.rows] == ["n2"]
