"""A gang that has started and lost its minimum is told why it waits, until it runs again."""

from posse.engine.decisions import ReportGroup
from posse.engine.events import GroupReportFailed
from posse.engine.groups.forms import INITIALLY_SCHEDULED, MINIMUM_RUNNING, PLACEMENT_EXISTS
from posse.engine.proof import Outcome
from posse.model.meta import Condition
from posse.writes.group_status import group_status
from tests.support.builders import gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver

STARTED = Condition(type=INITIALLY_SCHEDULED, status="True", reason="Scheduled")


def reports(decisions):
    return [one for one in decisions if isinstance(one, ReportGroup)]


def running(on=("n1", "n2")):
    members = [pod(f"p{number}", cpu="1", group="g1", on=name) for number, name in enumerate(on, 1)]
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2, conditions=[STARTED]), *members)
    assert reports(driver.decide()) == []
    return driver, members


def test_a_gang_whose_pods_were_all_replaced_is_told_why_they_wait():
    driver, members = running()
    driver.lose(*members)
    driver.see(*(pod(f"new-{name}", cpu="1", priority=5, on=name) for name in ("n1", "n2")))
    driver.see(*(pod(f"r{number}", cpu="1", group="g1") for number in (1, 2)))
    [told] = reports(driver.decide())
    assert (told.scheduled, told.minimum_running, told.reason) == (True, False, "Unschedulable")
    assert told.message.startswith("none of the 2 pods that must start together fit")
    assert told.finding.outcome is Outcome.IMPOSSIBLE
    status = {one["type"]: one for one in group_status(told, "now")["conditions"]}
    assert status[MINIMUM_RUNNING]["status"] == status[PLACEMENT_EXISTS]["status"] == "False"
    assert INITIALLY_SCHEDULED not in status


def test_a_gang_that_lost_a_pod_is_below_its_minimum_and_its_placement_is_unknown():
    driver, members = running()
    driver.lose(members[0])
    [told] = reports(driver.decide())
    assert (told.minimum_running, told.reason) == (False, "BelowMinimum")
    assert told.message == "1 of the 2 pods it needs exist"


def test_the_condition_goes_when_the_gang_runs_again():
    driver, members = running()
    driver.lose(members[0])
    driver.decide()
    again = pod("p3", cpu="1", group="g1")
    driver.see(again)
    driver.bind()
    driver.confirm(again, on="n1")
    [told] = reports(driver.decide())
    assert (told.minimum_running, told.finding.outcome) == (True, Outcome.PLACED)
    assert {"type": MINIMUM_RUNNING, "$patch": "delete"} in group_status(told, "now")["conditions"]


def test_a_lost_report_is_made_again():
    driver, members = running()
    driver.lose(members[0])
    [told] = reports(driver.decide())
    driver.engine.absorb(GroupReportFailed(told))
    assert [one.reason for one in reports(driver.decide())] == ["BelowMinimum"]


def test_a_gang_without_any_pods_has_nothing_that_waits():
    driver, members = running()
    driver.lose(*members)
    assert reports(driver.decide()) == []


def test_what_was_written_before_a_restart_is_not_written_again():
    told = Condition(
        type=MINIMUM_RUNNING, status="False", reason="BelowMinimum", message="1 of the 2 pods it needs exist"
    )
    driver = Driver(node("n1", cpu="1"), gang(minimum=2, conditions=[STARTED, told]))
    driver.see(pod("p1", cpu="1", group="g1", on="n1"))
    assert reports(driver.decide()) == []


def test_a_started_gang_with_further_pods_that_wait_is_not_told_that_it_waits():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2), *pods(3, cpu="1", group="g1"))
    told = reports(driver.decide())
    assert [one.minimum_running for one in told] == [None]
