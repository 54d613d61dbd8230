"""Groups below a basic group may have priorities of their own: as preemptors, and as victims."""

import pytest

from tests.support.builders import composite, gang, node, pod, priority_class
from tests.support.engine_driver import Driver, evicted, group_reports, nominated

LOW, MID, HIGH = (
    {"priority_class_name": name, "priority": value} for name, value in [("low", 1), ("mid", 5), ("high", 9)]
)
CLASSES = [priority_class("low", 1), priority_class("mid", 5), priority_class("high", 9)]


def nodes(count):
    return [node(f"n{number}", cpu="1") for number in range(count)]


def tree(*groups, root=MID):
    """A basic group above pod groups of one pod each: names and classes."""
    below = {"parent_composite_pod_group_name": "root"}
    made = [composite("root", **root)]
    for name, description in groups:
        made += [gang(name, 1, **below, **description), pod(f"{name}-0", "1", group=name)]
    return made


def on(where, member):
    return pod(member.metadata.name, "1", group=member.spec.scheduling_group.pod_group_name, on=where)


def test_a_tree_of_several_priorities_starts():
    driver = Driver(*CLASSES, *nodes(2), *tree(("a", LOW), ("b", HIGH)))
    assert set(driver.bind()) == {"a-0", "b-0"}


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_of_a_tree_the_group_of_higher_priority_starts_first(order):
    classes = {"a": LOW, "b": HIGH}
    driver = Driver(*CLASSES, *nodes(1), *tree(*((name, classes[name]) for name in order)))
    assert set(driver.bind()) == {"b-0"}


@pytest.mark.parametrize(("value", "victims"), [(0, ["there"]), (1, []), (4, [])])
def test_a_group_preempts_with_its_own_priority_and_not_with_that_of_its_root(value, victims):
    there = pod("there", "1", on="n0", priority=value)
    driver = Driver(*CLASSES, *nodes(1), there, *tree(("a", LOW), root=HIGH))
    assert evicted(driver.decide()) == victims


def test_a_group_whose_class_never_preempts_evicts_nothing_below_a_root_that_would():
    never = {**LOW, "preemption_policy": "Never"}
    driver = Driver(*CLASSES, *nodes(1), pod("there", "1", on="n0"), *tree(("a", never), root=HIGH))
    assert evicted(driver.decide()) == []


def test_capacity_is_freed_for_the_group_of_higher_priority_only():
    there = [pod(f"there{number}", "1", on=f"n{number}", priority=4) for number in range(2)]
    driver = Driver(*CLASSES, *nodes(2), *there, *tree(("a", LOW), ("b", HIGH), root=LOW))
    assert len(evicted(driver.decide())) == 1
    assert set(nominated(driver)) == {"b-0"}


def test_the_pods_of_a_group_are_evicted_by_its_own_priority():
    root, first, low, second, high = tree(("a", LOW), ("b", HIGH), root=HIGH)
    running = [root, first, on("n0", low), second, on("n1", high)]
    driver = Driver(*CLASSES, *nodes(2), *running, pod("new", "1", priority=5), pod("next", "1", priority=5))
    assert evicted(driver.decide()) == ["a-0"]


def test_what_a_gang_joins_has_one_priority():
    below = {"parent_composite_pod_group_name": "root"}
    groups = [gang("a", 1, **below, **LOW), pod("a-0", "1", group="a")]
    decisions = Driver(*CLASSES, *nodes(1), composite("root", 1, **HIGH), *groups).decide()
    assert {reason for _, _, reason, _ in group_reports(decisions)} == {"Invalid"}
