"""Basic groups that say how many pods they expect: a short wait for them, once, and never more than that."""

import pytest

from posse.engine.explain.overview import GroupSummary
from posse.engine.queue.timers import GATHERING_SECONDS
from tests.support.builders import basic_group, changed, gated, initially_scheduled, node, pod, pods
from tests.support.engine_driver import Driver, group_reports, pod_reports


@pytest.fixture
def driver():
    return Driver(node("n1", cpu="100"))


def members(*numbers):
    return [pod(f"p{i}", cpu="1", group="g1") for i in numbers]


def summary(driver) -> GroupSummary:
    [group] = driver.engine.overview().groups
    return group


def test_a_group_waits_a_moment_for_the_pods_it_expects(driver):
    driver.see(basic_group(expected=3), *members(1, 2))
    decisions = driver.decide()
    assert decisions == []
    assert not driver.engine.has_work
    assert driver.engine.next_wakeup() == driver.now + GATHERING_SECONDS
    assert driver.bind(after=GATHERING_SECONDS) == {"p1": "n1", "p2": "n1"}
    assert driver.engine.next_wakeup() is None


def test_a_group_whose_pods_have_all_come_is_tried_at_once(driver):
    driver.see(basic_group(expected=3), *members(1, 2))
    driver.decide()
    driver.see(*members(3))
    assert driver.bind(after=0.5) == {"p1": "n1", "p2": "n1", "p3": "n1"}
    assert driver.engine.next_wakeup() is None


def test_each_newcomer_does_not_prolong_the_wait(driver):
    driver.see(basic_group(expected=4), *members(1))
    begun = driver.now
    driver.decide()
    for number in (2, 3):
        driver.see(*members(number))
        assert driver.bind(after=0.7) == {}
        assert driver.engine.next_wakeup() == begun + GATHERING_SECONDS
    assert driver.bind(after=GATHERING_SECONDS) == {"p1": "n1", "p2": "n1", "p3": "n1"}


def test_who_comes_later_is_not_held_again(driver):
    driver.see(basic_group(expected=3), *members(1))
    driver.decide()
    driver.bind(after=GATHERING_SECONDS)
    driver.see(*members(2))
    assert driver.bind(after=10) == {"p2": "n1"}


def test_a_group_that_expects_fewer_than_there_are_or_says_nothing_does_not_wait(driver):
    driver.see(basic_group(expected=1), *members(1, 2))
    assert driver.bind() == {"p1": "n1", "p2": "n1"}
    other = Driver(node("n1", cpu="100"), basic_group(), *members(1))
    assert other.bind() == {"p1": "n1"}


def test_expecting_fewer_ends_the_wait(driver):
    driver.see(basic_group(expected=5), *members(1, 2))
    driver.decide()
    driver.see(basic_group(expected=2))
    assert driver.bind(after=0.1) == {"p1": "n1", "p2": "n1"}


def test_expecting_more_later_does_not_begin_another_wait(driver):
    driver.see(basic_group(expected=1), *members(1))
    driver.bind()
    driver.see(basic_group(expected=9), *members(2))
    assert driver.bind() == {"p2": "n1"}


def test_members_on_nodes_count_among_those_that_exist(driver):
    on_node = pod("p1", cpu="1", group="g1", on="n1")
    driver.see(basic_group(expected=2), on_node, *members(2))
    assert driver.bind() == {"p2": "n1"}


def test_the_wait_begins_when_nothing_else_holds_the_group(driver):
    waiting = pod("p1", cpu="1", group="g1", scheduling_gates=gated("quota"))
    driver.see(basic_group(expected=2), waiting)
    driver.decide()
    assert driver.engine.next_wakeup() is None
    driver.see(changed(waiting, spec={"scheduling_gates": ()}))
    assert driver.bind(after=60) == {}
    assert driver.bind(after=GATHERING_SECONDS) == {"p1": "n1"}


def test_the_overview_says_why_the_group_waits(driver):
    driver.see(basic_group(expected=3), *members(1, 2))
    driver.decide()
    assert (summary(driver).state, summary(driver).message) == (
        "Waiting",
        "2 of the 3 pods it expects exist; in a moment it is tried with those",
    )
    driver.decide(after=GATHERING_SECONDS)
    assert summary(driver).state == "Scheduled"


def test_the_wait_is_no_refusal_and_a_refusal_is_told_as_ever(driver):
    large = [pod(f"p{i}", cpu="200", group="g1") for i in (1, 2)]
    driver.see(basic_group(expected=3), *large)
    assert driver.decide() == []
    decisions = driver.decide(after=GATHERING_SECONDS)
    [(name, scheduled, reason, _)] = group_reports(decisions)
    assert (name, scheduled, reason) == ("g1", False, "Unschedulable")
    assert set(pod_reports(decisions)) == {"p1", "p2"}


def test_another_group_of_the_same_name_waits_anew(driver):
    driver.see(basic_group(expected=2), *members(1))
    driver.decide()
    driver.bind(after=GATHERING_SECONDS)
    driver.lose(*members(1), basic_group(expected=2))
    driver.see(basic_group(expected=2, uid="second"), *members(2))
    assert driver.bind() == {}
    assert driver.bind(after=GATHERING_SECONDS) == {"p2": "n1"}


def test_a_group_that_goes_while_it_gathers_leaves_nothing_behind(driver):
    driver.see(basic_group(expected=3), *members(1))
    driver.decide()
    driver.lose(*members(1), basic_group(expected=3))
    assert driver.decide(after=GATHERING_SECONDS) == []
    assert driver.engine.next_wakeup() is None


def test_a_group_that_gathers_holds_up_nobody_else(driver):
    driver.see(basic_group(expected=50), *members(1), *pods(3, first=10, cpu="1"))
    assert sorted(driver.bind()) == ["p10", "p11", "p12"]


def test_groups_end_their_wait_one_after_the_other(driver):
    driver.see(basic_group(expected=2), *members(1))
    driver.decide()
    driver.see(basic_group("g2", expected=2), pod("q1", cpu="1", group="g2"))
    assert driver.bind(after=1.5) == {}
    assert driver.bind(after=0.5) == {"p1": "n1"}
    assert driver.engine.next_wakeup() == driver.now + 1.5
    assert driver.bind(after=1.5) == {"q1": "n1"}


@pytest.mark.parametrize("status", ["True", "False"])
def test_a_group_that_was_tried_before_we_came_does_not_wait_again(driver, status):
    driver.see(basic_group(expected=3, conditions=[initially_scheduled(status, "Any")]), *members(1))
    assert driver.bind() == {"p1": "n1"}
