"""Members whose own priority is ignored: the group is told so, as advice."""

import pytest

from posse.engine.decisions import NotePriorities
from posse.engine.events import MarkFailed
from posse.engine.options import EngineOptions
from posse.model.meta import Condition
from tests.support.builders import basic_group, changed, composite, gang, node, pod
from tests.support.engine_driver import Driver, placements

TEXT = "pods of this group state other priorities, which are ignored: 10 (p1); that of the group, 100, counts"


def child(name, minimum, parent="root", **spec):
    return gang(name, minimum, parent_composite_pod_group_name=parent, **spec)


def notes(decisions):
    return [(d.group.name, d.message) for d in decisions if isinstance(d, NotePriorities)]


def members(*priorities):
    return [pod(f"p{i}", group="g1", cpu="1", priority=value) for i, value in enumerate(priorities, 1)]


@pytest.mark.parametrize(
    "podgroup", [gang(minimum=2, priority=100), basic_group(priority=100)], ids=["gang", "basic"]
)
def test_members_start_with_the_priority_of_their_group_and_it_is_noted(podgroup):
    decisions = Driver(node(), podgroup, *members(10, 100)).decide()
    assert sorted(placements(decisions)) == ["p1", "p2"]
    assert notes(decisions) == [("g1", TEXT)]


def test_a_newcomer_of_another_priority_joins_and_is_noted_once():
    first = members(100, 100)
    driver = Driver(node(), gang(minimum=2, priority=100), *first)
    assert notes(driver.decide()) == []
    driver.confirm(*first, on="n1")
    late = pod("late", group="g1", cpu="1", priority=50)
    driver.see(late)
    decisions = driver.decide()
    assert placements(decisions) == {"late": "n1"}
    assert [message for _, message in notes(decisions)] == [TEXT.replace("10 (p1)", "50 (late)")]
    driver.confirm(late, on="n1")
    driver.see(pod("later", group="g1", cpu="1", priority=50))
    assert notes(driver.decide()) == []


def test_the_note_goes_with_the_last_of_these_pods():
    driver = Driver(node(), basic_group(priority=100), *members(10))
    driver.decide()
    driver.lose(*members(10))
    assert notes(driver.decide()) == [("g1", "")]


def test_a_note_of_an_earlier_scheduler_is_neither_repeated_nor_left_behind():
    told = Condition(type="PodsNotMatchingPriority", status="True", message=TEXT)
    podgroup = basic_group(priority=100, conditions=[told])
    assert notes(Driver(node(), podgroup, *members(10)).decide()) == []
    assert notes(Driver(node(), podgroup, *members(100)).decide()) == [("g1", "")]


def test_a_note_that_may_be_lost_is_written_again():
    driver = Driver(node(), basic_group(priority=100), *members(10))
    (lost,) = [d for d in driver.decide() if isinstance(d, NotePriorities)]
    driver.engine.absorb(MarkFailed(lost))
    assert notes(driver.decide()) == [("g1", TEXT)]
    assert notes(driver.decide()) == []


def test_of_many_priorities_a_few_are_named():
    (message,) = [
        text for _, text in notes(Driver(node(), basic_group(priority=9), *members(1, 2, 3, 4, 4)).decide())
    ]
    assert "ignored: 1 (p1), 2 (p2), 3 (p3) and 1 more; that" in message


def test_in_a_tree_the_group_of_such_pods_is_told():
    tree = [
        composite("root", priority=100),
        child("g1", 1, "root", priority=100),
        child("g2", 1, "root", priority=100),
    ]
    decisions = Driver(node(), *tree, *members(10), pod("q", group="g2", priority=100)).decide()
    assert sorted(placements(decisions)) == ["p1", "q"]
    assert notes(decisions) == [("g1", TEXT)]


def test_groups_that_refuse_such_pods_or_state_no_priority_are_told_nothing():
    strict = EngineOptions(members_must_match=True)
    assert notes(Driver(node(), basic_group(priority=100), *members(10), options=strict).decide()) == []
    assert notes(Driver(node(), basic_group(), *members(10, 20)).decide()) == []


def test_members_of_lower_priority_are_protected_by_their_group():
    held = [changed(one, spec={"node_name": "n1"}) for one in members(0, 0)]
    driver = Driver(node(cpu="2"), gang(minimum=2, priority=100), *held)
    driver.see(pod("greedy", cpu="1", priority=50))
    assert placements(driver.decide()) == {}
