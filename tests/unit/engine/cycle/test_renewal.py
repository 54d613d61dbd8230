"""What groups and pods are told is renewed soon after it is not true any more."""

from posse.engine.cycle.renewal import QUIET_SECONDS
from posse.engine.events import ReportFailed
from posse.engine.queue.timers import HELD_SECONDS
from tests.support.builders import changed, composite, gang, gated, node, nodes, pod, pods
from tests.support.engine_driver import Driver, group_reports, pod_reports

HIGH = 10


def fillers(*numbers):
    return [pod(f"f{number}", cpu="4", priority=HIGH, on=f"n{number}") for number in numbers]


def waiting(*there):
    """A gang of three large pods that has been told why it waits, on three nodes with these pods."""
    members = pods(3, cpu="4", group="g1")
    driver = Driver(*nodes(3, cpu="4"), *there, gang(minimum=3), *members)
    driver.decide()
    return driver, members


def told_after(driver, seconds=QUIET_SECONDS):
    return [message for _, _, _, message in group_reports(driver.decide(after=seconds))]


def test_a_group_is_told_when_less_is_lacking():
    driver, _ = waiting(*fillers(1, 2, 3))
    driver.lose(*fillers(1))
    assert told_after(driver, 0.0) == []
    assert driver.engine.next_wakeup() <= driver.now + QUIET_SECONDS
    [message] = told_after(driver)
    assert "only 1 of the 3" in message


def test_a_group_is_told_when_more_is_lacking():
    driver, _ = waiting(*fillers(1))
    driver.see(*fillers(2))
    assert told_after(driver, 0.0) == []
    [message] = told_after(driver)
    assert "only 1 of the 3" in message


def test_changes_that_never_end_delay_a_renewal_for_a_limited_time():
    driver, _ = waiting(*fillers(1))
    driver.see(*fillers(2))
    messages = []
    for step in range(12):
        driver.see(node(f"small-{step}", cpu="1"))
        messages += told_after(driver, 1.0)
    assert any("only 1 of the 3" in message for message in messages)


def test_nothing_is_tried_where_the_refusal_still_holds():
    driver, _ = waiting(*fillers(1, 2, 3))
    driver.see(pod("elsewhere", cpu="1", on="unknown"))
    driver.decide()
    assert told_after(driver) == []
    assert driver.engine.tried() == ()


def test_a_single_pod_is_told_what_refuses_it_now():
    driver = Driver(*nodes(2, cpu="4"), *fillers(1, 2), pod("single", cpu="4"))
    driver.decide()
    driver.lose(node("n2", cpu="4"))
    driver.decide()
    message = pod_reports(driver.decide(after=QUIET_SECONDS))["single"][1]
    assert message.startswith("0/1 nodes are available")


def test_a_group_that_loses_a_member_is_told_that_it_lacks_one():
    driver, members = waiting(*fillers(1, 2, 3))
    driver.lose(members[2])
    assert group_reports(driver.decide()) == [
        ("g1", False, "WaitingForPods", "2 of the 3 pods it needs exist")
    ]


def test_a_group_without_any_pods_left_is_told_so():
    driver, members = waiting(*fillers(1, 2, 3))
    driver.lose(*members)
    assert group_reports(driver.decide()) == [
        ("g1", False, "WaitingForPods", "0 of the 3 pods it needs exist")
    ]


def test_numbers_of_missing_pods_are_renewed_together():
    driver, members = waiting(*fillers(1, 2, 3))
    driver.lose(*members)
    driver.decide()
    driver.see(members[0])
    assert group_reports(driver.decide()) == []
    driver.see(members[1])
    assert told_after(driver, HELD_SECONDS) == ["2 of the 3 pods it needs exist"]


def test_a_group_is_told_that_a_member_has_a_gate():
    driver, _ = waiting(*fillers(1, 2, 3))
    driver.see(changed(pod("p4", cpu="4", group="g1"), spec={"scheduling_gates": gated("wait")}))
    [(_, _, reason, message)] = group_reports(driver.decide())
    assert (reason, message) == ("SchedulingGated", "1 of its pods has scheduling gates: p4 (wait)")


def test_a_group_that_was_never_told_anything_is_not_told_what_it_lacks():
    driver = Driver(*nodes(3, cpu="4"), gang(minimum=3), *pods(2, cpu="4", group="g1"))
    assert group_reports(driver.decide()) == []
    assert told_after(driver, HELD_SECONDS) == []


def below(parent, name, minimum=1, **spec):
    return gang(name, minimum, parent_composite_pod_group_name=parent, **spec)


def test_groups_without_pods_are_valid_again_when_the_tree_is():
    stranger = below("root", "stranger", priority=5)
    driver = Driver(
        node("n1", cpu="4"), composite("root", 1), below("root", "now"), below("root", "later"), stranger
    )
    driver.see(pod("p1", group="now"))
    assert {(name, reason) for name, _, reason, _ in group_reports(driver.decide())} >= {("later", "Invalid")}
    driver.lose(stranger)
    reports = {name: (reason, message) for name, _, reason, message in group_reports(driver.decide())}
    assert reports["later"] == ("WaitingForPods", "0 of the 1 pods it needs exist.")
    assert reports["now"][0] == "Scheduled"


def test_a_group_that_does_not_belong_into_a_started_tree_is_told_before_it_has_pods():
    driver = Driver(node("n1", cpu="4"), composite("root", 1), below("root", "now"))
    one = pod("p1", group="now")
    driver.see(one)
    driver.bind_and_confirm(one)
    driver.see(below("root", "stranger", priority=5))
    [(name, _, reason, message)] = group_reports(driver.decide())
    assert (name, reason) == ("stranger", "Invalid")
    assert "priority" in message


def test_a_lost_report_on_a_pod_is_repeated():
    driver = Driver(node("n1", cpu="4"), pod("single", cpu="8"))
    told = pod_reports(driver.decide())
    driver.engine.absorb(ReportFailed("uid-single"))
    driver.decide()
    assert pod_reports(driver.decide(after=QUIET_SECONDS)) == told
