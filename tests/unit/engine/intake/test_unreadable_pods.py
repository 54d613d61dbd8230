"""Requests that are no quantities: an API server refuses them, so one that lets them pass must not stop us."""

from tests.support.builders import changed, gang, node, pod, pods
from tests.support.engine_driver import Driver, pod_reports

BAD = pod("p1", cpu="lots")


def test_the_pod_is_told_what_is_wrong_and_others_go_on():
    driver = Driver(node("a"), BAD, pod("p2"))
    decisions = driver.decide()
    assert list(pod_reports(decisions)) == ["p1"]
    reason, message = pod_reports(decisions)["p1"]
    assert reason == "SchedulerError"
    assert "'lots' is not a quantity" in message


def test_it_is_told_once_however_often_it_is_seen():
    driver = Driver(node("a"), BAD)
    assert pod_reports(driver.decide())
    driver.see(changed(BAD, metadata={"resource_version": "2"}))
    assert driver.decide() == []


def test_a_pod_that_is_gone_is_told_nothing():
    driver = Driver(node("a"), BAD)
    driver.lose(BAD)
    assert driver.decide() == []


def test_a_pod_of_another_scheduler_or_on_a_node_is_told_nothing():
    theirs = changed(BAD, spec={"scheduler_name": "other", "node_name": "a"})
    assert Driver(node("a"), theirs).decide() == []
    assert Driver(node("a"), changed(BAD, spec={"node_name": "a"})).decide() == []


def test_once_readable_it_is_scheduled():
    driver = Driver(node("a"), BAD)
    driver.decide()
    driver.see(changed(BAD, spec={"containers": pod(cpu="1").spec.containers}))
    assert driver.bind() == {"p1": "a"}


def test_a_waiting_pod_that_becomes_unreadable_is_told_and_tried_no_more():
    fine = pod("p1", cpu="8")
    driver = Driver(node("a"), fine)
    driver.decide()
    driver.see(changed(fine, spec={"containers": BAD.spec.containers}))
    assert pod_reports(driver.decide())["p1"][0] == "SchedulerError"
    driver.see(node("b", cpu="16"))
    assert driver.decide(after=600.0) == []


def test_a_running_pod_that_becomes_unreadable_counts_as_before():
    running = pod("p1", cpu="3", on="a")
    driver = Driver(node("a", cpu="4"), running)
    driver.see(changed(running, spec={"containers": BAD.spec.containers}), pod("p2", cpu="2"))
    assert driver.bind() == {}
    driver.lose(running)
    assert driver.bind(after=0.1) == {"p2": "a"}


def test_a_gang_waits_for_the_member_that_nobody_can_read():
    bad = pod("p1", cpu="lots", group="g1")
    driver = Driver(node("a"), gang(minimum=3), bad, *pods(2, first=2, group="g1"))
    assert driver.bind() == {}
    driver.see(changed(bad, spec={"containers": pod(cpu="1").spec.containers}))
    assert sorted(driver.bind()) == ["p1", "p2", "p3"]


def test_a_node_nobody_can_read_takes_no_pod_that_needs_it():
    assert Driver(node("a", cpu="lots"), node("b"), pod("p1", cpu="1")).bind() == {"p1": "b"}
