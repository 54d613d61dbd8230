"""Which entries are tried again when pods leave: those that fit now, or may preempt now, and no others."""

import pytest

from tests.support.builders import composite, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver, evicted

HIGH = 100


def running(name, priority, on, cpu="4"):
    return pod(name, cpu=cpu, on=on, priority=priority)


def urgent(count, **description):
    return pods(count, cpu="4", priority=HIGH, group="g1", **description)


def attempts(driver):
    return sum(waiting.attempts for waiting in driver.engine._knowledge.backlog._entries.values())


LOW, EQUAL = running("low", 0, "n1"), running("equal", HIGH, "n2")


@pytest.mark.parametrize("parent", ["", "root"])
def test_a_group_that_can_have_room_made_once_an_equal_has_left_is_tried(parent):
    driver = Driver(*nodes(2, cpu="4"), LOW, EQUAL, composite("root", 1, priority=HIGH))
    driver.see(gang(priority=HIGH, parent_composite_pod_group_name=parent or None), *urgent(2))
    assert evicted(driver.decide()) == []
    driver.lose(EQUAL)
    assert evicted(driver.decide(after=20.0)) == ["low"]


def test_so_is_a_pod():
    equal = running("equal", HIGH, "n1", cpu="2")
    driver = Driver(node("n1", cpu="4"), running("low", 0, "n1", cpu="2"), equal)
    driver.see(pod("urgent", cpu="4", priority=HIGH))
    assert evicted(driver.decide()) == []
    driver.lose(equal)
    assert evicted(driver.decide(after=20.0)) == ["low"]


def test_who_has_given_up_room_that_was_held_counts_as_having_left():
    """The first waits for its victim on n1; without it, the victim leaves for the second."""
    nominee = pod("nominee", cpu="4", priority=HIGH)
    driver = Driver(node("n1", cpu="4"), running("low", 0, "n1"), nominee)
    assert evicted(driver.decide()) == ["low"]
    driver.see(pod("second", cpu="4", priority=HIGH))
    driver.decide()
    driver.lose(nominee)
    driver.decide(after=20.0)
    driver.lose(running("low", 0, "n1"))
    assert driver.bind() == {"second": "n1"}


def test_nobody_is_tried_because_one_leaves_that_could_have_been_evicted():
    there = [running(f"low{number}", 0, "n1", cpu="1") for number in range(4)]
    driver = Driver(node("n1", cpu="4"), *there, gang(minimum=3, priority=HIGH), *urgent(3))
    driver.decide()
    before = attempts(driver)
    driver.lose(there[0])
    driver.decide(after=20.0)
    assert attempts(driver) == before
