"""A gang that has started and lost its minimum is told why it waits, until it runs again."""

from posse.engine.decisions import ReportGroup
from posse.engine.events import EvictionFailed, GroupReportFailed, ReportWithheld
from posse.engine.explain.group_status import shown_state
from posse.engine.groups.forms import INITIALLY_SCHEDULED, MINIMUM_RUNNING, PLACEMENT_EXISTS
from posse.engine.keys import GroupKey
from posse.engine.proof import Outcome
from posse.model.meta import Condition
from posse.writes.group_status import group_status
from tests.support.builders import NAMESPACE, changed, gang, in_rack, node, nodes, one_domain, pod, pods
from tests.support.engine_driver import Driver, evicted

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


def test_a_lost_report_that_does_not_hold_any_more_is_taken_back_as_it_may_have_been_written():
    driver, members = running()
    driver.lose(members[0])
    [told] = reports(driver.decide())
    driver.engine.absorb(GroupReportFailed(told))
    driver.see(changed(members[1], status={"phase": "Succeeded"}))
    assert [one.minimum_running for one in reports(driver.decide())] == [True]


def test_a_report_after_one_that_may_be_lost_says_since_when_it_holds():
    driver, members = running()
    driver.lose(members[0])
    driver.decide()
    driver.see(gang(minimum=1, conditions=[STARTED]))
    [cleared] = reports(driver.decide())
    driver.engine.absorb(GroupReportFailed(cleared))
    driver.see(gang(minimum=2, conditions=[STARTED]))
    [told] = reports(driver.decide())
    assert (told.minimum_running, told.is_first) == (False, True)


def test_a_gang_of_which_one_eviction_failed_is_told_how_many_are_left():
    driver, members = running()
    urgent = [pod(f"u{number}", cpu="1", group="urgent", priority=9) for number in (1, 2)]
    driver.see(gang("urgent", minimum=2, priority=9), *urgent)
    assert evicted(driver.decide()) == ["p1", "p2"]
    driver.lose(members[0])
    assert [one.reason for one in reports(driver.decide())] == ["WaitingForPods"]
    driver.engine.absorb(EvictionFailed(members[1].metadata.uid, "refused"))
    told = [one for one in reports(driver.decide()) if one.group.name == "g1"]
    assert [(one.reason, one.message) for one in told] == [("BelowMinimum", "1 of the 2 pods it needs exist")]


def test_a_condition_that_was_seen_late_and_removed_since_is_written_again():
    driver, members = running()
    driver.lose(members[0])
    [told] = reports(driver.decide())
    driver.see(gang(minimum=1, conditions=[STARTED]))
    assert [one.minimum_running for one in reports(driver.decide())] == [True]
    late = Condition(type=MINIMUM_RUNNING, status="False", reason=told.reason, message=told.message)
    driver.see(gang(minimum=1, conditions=[STARTED, late]), gang(minimum=1, conditions=[STARTED]))
    driver.decide()
    driver.see(gang(minimum=2, conditions=[STARTED]))
    assert [(one.minimum_running, one.reason) for one in reports(driver.decide())] == [
        (False, "BelowMinimum")
    ]


def test_a_start_that_is_reported_again_does_not_say_that_a_placement_exists_of_a_gang_that_waits_again():
    members = pods(2, cpu="1", group="g1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2), *members)
    [start] = reports(driver.decide())
    driver.confirm(members[0], on="n1")
    driver.confirm(members[1], on="n2")
    driver.see(gang(minimum=2, conditions=[STARTED]))
    driver.lose(members[0])
    assert [one.minimum_running for one in reports(driver.decide())] == [False]
    driver.engine.absorb(GroupReportFailed(start))
    [again] = reports(driver.decide())
    assert (again.scheduled, again.minimum_running, again.finding) == (True, None, None)


def test_an_error_of_a_gang_that_waits_again_leaves_its_placement_unknown():
    placed = Condition(type=PLACEMENT_EXISTS, status="True", reason=Outcome.PLACED)
    members = [pod(f"p{number}", cpu="1", group="g1", on=f"n{number}") for number in (1, 2)]
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2, conditions=[STARTED, placed]), *members)
    driver.decide()
    driver.lose(members[0])
    driver.see(pod("p3", cpu="1", group="g1", scheduler_name="another"))
    [told] = reports(driver.decide())
    assert (told.minimum_running, told.reason) == (False, "SchedulerError")
    assert told.finding.outcome is Outcome.UNDECIDED


def test_an_error_has_one_name_for_a_gang_that_waits_again_in_two_domains():
    members = [pod(f"p{number}", cpu="1", group="g1", on=name) for number, name in enumerate("abc", 1)]
    there = [*in_rack("r1", "a", "b", "d"), *in_rack("r2", "c")]
    driver = Driver(*there, gang(minimum=3, conditions=[STARTED], **one_domain()), *members)
    driver.decide()
    driver.lose(members[0])
    driver.see(pod("p4", cpu="1", group="g1"))
    [told] = reports(driver.decide())
    assert (told.minimum_running, told.reason) == (False, "SchedulerError")
    [line], [listed] = driver.engine.overview().groups, driver.engine.situations()
    assert (line.state, shown_state(listed)) == ("Invalid", "Invalid")


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


def bound_and_lost_at_once():
    """A gang whose member vanishes after it was decided to bind it, and before the binding is answered."""
    members = pods(2, cpu="1", group="g1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2), *members)
    [start] = reports(driver.decide())
    assert (start.scheduled, start.holds_anyway) == (True, False)
    driver.lose(members[1])
    assert reports(driver.decide()) == []
    return driver


def test_a_gang_whose_start_was_withheld_is_not_told_that_it_fell_below_its_minimum():
    driver = bound_and_lost_at_once()
    driver.engine.absorb(ReportWithheld(GroupKey(NAMESPACE, "g1")))
    assert [one.minimum_running for one in reports(driver.decide())] == []


def test_a_gang_that_lost_members_before_its_start_was_confirmed_is_told_then():
    driver = bound_and_lost_at_once()
    driver.see(gang(minimum=2, conditions=[STARTED]))
    [told] = reports(driver.decide())
    assert (told.scheduled, told.minimum_running, told.reason) == (True, False, "BelowMinimum")


def test_a_gang_that_lost_a_pod_and_then_all_others_waits_no_longer_which_is_no_news():
    driver, members = running()
    driver.lose(members[0])
    driver.decide()
    driver.lose(members[1])
    [told] = reports(driver.decide())
    assert (told.minimum_running, told.is_news) == (True, False)


def test_a_gang_that_lost_a_pod_and_finishes_with_the_others_does_not_keep_the_condition():
    members = [pod(f"p{number}", cpu="1", group="g1", on=f"n{number}") for number in (1, 2, 3)]
    driver = Driver(*nodes(3, cpu="1"), gang(minimum=3, conditions=[STARTED]), *members)
    driver.decide()
    driver.lose(members[0])
    assert [one.minimum_running for one in reports(driver.decide())] == [False]
    driver.see(changed(members[1], status={"phase": "Succeeded"}))
    [told] = reports(driver.decide())
    assert (told.minimum_running, told.is_news) == (True, False)


def finishing(*phases):
    """A gang of three whose first members have ended, and a replacement."""
    members = [pod(f"p{number}", cpu="1", group="g1", on=f"n{number}") for number in (1, 2, 3)]
    driver = Driver(*nodes(3, cpu="1"), gang(minimum=3, conditions=[STARTED]), *members)
    driver.decide()
    driver.see(*(changed(one, status={"phase": phase}) for one, phase in zip(members, phases, strict=False)))
    driver.decide()
    driver.see(pod("later", cpu="1", group="g1"))
    return driver


def test_a_replacement_after_the_end_of_a_gang_has_a_condition_that_says_what_it_waits_for():
    driver = finishing("Succeeded", "Succeeded", "Succeeded")
    [told] = reports(driver.decide())
    assert (told.minimum_running, told.reason) == (False, "WaitingForPods")
    assert told.message == "1 of the 3 pods it needs exist"
    [line] = driver.engine.overview().groups
    assert (line.state, line.message) == ("WaitingForPods", told.message)


def test_a_replacement_beside_finished_and_running_members_is_told_and_shown_alike():
    driver = finishing("Succeeded", "Failed")
    [told] = reports(driver.decide())
    assert (told.minimum_running, told.reason) == (False, "BelowMinimum")
    [line], [listed] = driver.engine.overview().groups, driver.engine.situations()
    assert (line.state, shown_state(listed), line.message) == ("BelowMinimum", "BelowMinimum", told.message)


def test_the_condition_of_a_replacement_goes_with_it():
    driver = finishing("Succeeded", "Succeeded", "Succeeded")
    driver.decide()
    driver.lose(pod("later", cpu="1", group="g1"))
    [told] = reports(driver.decide())
    assert (told.minimum_running, told.is_news) == (True, False)
