"""Groups that may not be preempted before they have run for a while."""

import pytest

from posse.engine.groups.annotations import MINIMUM_RUN_TIME
from posse.engine.groups.group_record import MAX_PROTECTED_SECONDS
from posse.model.timestamps import format_timestamp
from tests.support.builders import changed, gang, nodes, pod, pods
from tests.support.engine_driver import Driver, evicted

HIGH, SYSTEM = 100, 2_000_000_000


def running(driver, text="10m", started=None):
    """A gang of two that the engine has put on both nodes."""
    members = pods(2, cpu="1", group="low")
    annotated = changed(gang("low", 2), metadata={"annotations": {MINIMUM_RUN_TIME: text}})
    driver.see(annotated, *members)
    bound = driver.bind()
    status = {"start_time": format_timestamp(started)} if started is not None else {}
    there = [changed(one, spec={"node_name": bound[one.metadata.name]}, status=status) for one in members]
    driver.see(*there)
    driver.decide()
    return there


def urgent(priority=HIGH):
    return pod("urgent", cpu="1", priority=priority)


def test_a_gang_is_preempted_only_after_its_minimum_run_time():
    driver = Driver(*nodes(2, cpu="1"))
    running(driver)
    driver.see(urgent())
    assert evicted(driver.decide()) == []
    assert driver.engine.next_wakeup() is not None
    assert evicted(driver.decide(after=500)) == []
    assert len(evicted(driver.decide(after=101))) == 1


def test_a_gang_without_the_annotation_is_preempted_at_once():
    driver = Driver(*nodes(2, cpu="1"))
    running(driver, "")
    driver.see(urgent())
    assert len(evicted(driver.decide())) == 1


@pytest.mark.parametrize("text", ["ten minutes", "-5m", "1e9h", "5", "0s", "NaN", "\u0661h", "100000h"])
def test_what_is_no_duration_protects_nothing(text):
    driver = Driver(*nodes(2, cpu="1"))
    running(driver, text)
    driver.see(urgent())
    assert len(evicted(driver.decide())) == 1


def test_protection_ends_after_an_hour_at_most():
    driver = Driver(*nodes(2, cpu="1"))
    running(driver, "1000h")
    driver.see(urgent())
    assert evicted(driver.decide(after=MAX_PROTECTED_SECONDS - 10)) == []
    assert len(evicted(driver.decide(after=11))) == 1


def test_pods_of_the_system_come_first():
    driver = Driver(*nodes(2, cpu="1"))
    running(driver)
    driver.see(urgent(SYSTEM))
    assert len(evicted(driver.decide())) == 1


def test_a_gang_may_not_be_preempted_for_another_gang():
    driver = Driver(*nodes(2, cpu="1"))
    running(driver)
    driver.see(gang("high", 2, priority=HIGH), *pods(2, 11, cpu="1", group="high", priority=HIGH))
    assert evicted(driver.decide()) == []
    assert len(evicted(driver.decide(after=601))) == 2


def test_after_a_restart_the_start_of_the_pods_counts():
    first = Driver(*nodes(2, cpu="1"))
    there = running(first, started=first.now - 590)
    group = changed(gang("low", 2), metadata={"annotations": {MINIMUM_RUN_TIME: "10m"}})
    second = Driver(*nodes(2, cpu="1"), group, *there, urgent())
    assert evicted(second.decide()) == []
    assert len(evicted(second.decide(after=11))) == 1


def test_pods_without_the_annotation_are_evicted_instead():
    driver = Driver(*nodes(3, cpu="1"))
    running(driver)
    free = ({"n1", "n2", "n3"} - {record.node for record in driver.engine._knowledge.pods.values()}).pop()
    driver.see(pod("plain", cpu="1", on=free), urgent())
    assert evicted(driver.decide()) == ["plain"]


def test_an_annotation_that_comes_or_goes_while_the_gang_runs_counts_at_once():
    driver = Driver(*nodes(2, cpu="1"))
    running(driver, "10m")
    driver.see(gang("low", 2), urgent())
    assert len(evicted(driver.decide())) == 1
    driver = Driver(*nodes(2, cpu="1"))
    running(driver, "soon")
    driver.see(changed(gang("low", 2), metadata={"annotations": {MINIMUM_RUN_TIME: "10m"}}), urgent())
    assert evicted(driver.decide()) == []
