"""Gangs and basic groups, from first sight to binding, through the engine as the outside uses it."""

from posse.engine.decisions import ReportGroup
from posse.engine.events import GroupReportFailed, ReportWithheld
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.engine.queue.backlog import QueueState
from posse.model.meta import Condition
from posse.model.pod import PodCondition
from tests.support.builders import (
    NAMESPACE,
    basic_group,
    changed,
    gang,
    gated,
    initially_scheduled,
    node,
    nodes,
    pod,
    pods,
)
from tests.support.engine_driver import Driver, binds, group_reports, group_warnings, placements, pod_reports

KEY = GroupKey(NAMESPACE, "g1")


def members(count, first=1, **description):
    return pods(count, first, group="g1", **description)


def refuse_member(driver, one, node):
    """What the carrier tells when a binding of a group fails: the report that came with it is not written."""
    driver.refuse(one, node)
    driver.engine.absorb(ReportWithheld(KEY))


def entry(driver):
    return driver.engine._knowledge.backlog.get(KEY)


def test_a_gang_that_fits_is_bound_in_one_decision_and_reported():
    decisions = Driver(*nodes(3, cpu="1"), gang(minimum=3), *members(3, cpu="1")).decide()
    (bind,) = binds(decisions)
    assert bind.group == KEY
    assert sorted(placed.node for placed in bind.placements) == ["n1", "n2", "n3"]
    assert group_reports(decisions) == [("g1", True, "Scheduled", "")]


def test_a_gang_that_does_not_fit_binds_nothing_and_says_why():
    decisions = Driver(*nodes(2, cpu="1"), gang(minimum=3), *members(3, cpu="1")).decide()
    assert binds(decisions) == []
    cause = (
        "only 2 of the 3 pods that must start together fit; "
        "with those placed, 1 lacks cpu (1): 2 nodes have none left. 0/2 nodes are available: 2 Insufficient cpu. "
        "Proven: it cannot fit in the currently free capacity."
    )
    assert group_reports(decisions) == [("g1", False, "Unschedulable", cause)]
    assert set(pod_reports(decisions)) == {"p1", "p2", "p3"}


def test_a_report_that_was_lost_is_sent_again_though_the_gang_has_lost_its_minimum_since():
    started = members(1, cpu="1")
    driver = Driver(node("n1", cpu="1"), gang(minimum=1), *started)
    (report,) = [one for one in driver.decide() if isinstance(one, ReportGroup)]
    assert (report.scheduled, report.holds_anyway) == (True, False)
    driver.confirm(*started, on="n1")
    driver.engine.absorb(GroupReportFailed(report))
    driver.see(gang(minimum=2), *members(1, first=2, cpu="1"))
    again, short = [one for one in driver.decide() if isinstance(one, ReportGroup)]
    assert (again.scheduled, again.holds_anyway) == (True, True)
    assert (short.minimum_running, short.reason) == (False, "BelowMinimum")
    driver.engine.absorb(GroupReportFailed(report))
    driver.lose(*members(2, cpu="1"))
    told = [one for one in driver.decide() if isinstance(one, ReportGroup)]
    assert [(one.reason, one.minimum_running) for one in told] == [("Scheduled", None), ("Scheduled", True)]


def test_a_lost_report_is_not_sent_again_when_something_else_has_been_said_since():
    """Otherwise a gang would be reported as started before it is known whether its bindings hold."""
    driver = Driver(gang(minimum=1), *members(1, cpu="1"))
    (lost,) = [one for one in driver.decide() if isinstance(one, ReportGroup)]
    driver.see(node("n1", cpu="1"))
    assert group_reports(driver.decide(after=1.0)) == [("g1", True, "Scheduled", "")]
    driver.engine.absorb(GroupReportFailed(lost))
    assert group_reports(driver.decide()) == []


def test_what_its_own_pods_are_told_is_no_reason_to_try_a_gang_again():
    three = members(3, cpu="1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), *three)
    driver.decide()
    told = Condition(type="PodScheduled", status="False", reason="Unschedulable", message="no room")
    for one in three:
        driver.see(changed(one, status={"conditions": (told,)}))
        driver.engine.decide(driver.now)
        assert driver.engine.tried() == ()


def test_what_rests_on_pods_that_are_seen_is_told_whatever_becomes_of_others():
    there = [pod(f"p{i}", cpu="1", group="g1", on=f"n{i}") for i in (1, 2)]
    driver = Driver(*nodes(3, cpu="1"), gang(minimum=2), *there, *members(1, first=3, cpu="1"))
    decisions = driver.decide()
    assert placements(decisions) == {"p3": "n3"}
    (report,) = [one for one in decisions if isinstance(one, ReportGroup)]
    assert report.holds_anyway


def test_the_lost_report_of_an_object_that_was_replaced_is_not_sent_to_the_new_one():
    one = members(1, cpu="1")
    driver = Driver(node("n1", cpu="1"), gang(minimum=1), *one)
    (lost,) = [d for d in driver.decide() if isinstance(d, ReportGroup)]
    driver.confirm(*one, on="n1")
    driver.lose(gang(minimum=1))
    driver.see(gang(minimum=1, uid="another"))
    assert len(group_reports(driver.decide())) == 1
    driver.engine.absorb(GroupReportFailed(lost))
    assert group_reports(driver.decide()) == []


def test_a_waiting_gang_takes_no_room_from_others():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), *members(3, cpu="1"), pod("single", cpu="1"))
    assert driver.bind() == {"single": "n1"}


def test_a_waiting_gang_starts_when_there_is_room():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), *members(3, cpu="1"))
    driver.decide()
    driver.see(node("n3", cpu="1"))
    decisions = driver.decide(after=1.0)
    assert len(placements(decisions)) == 3
    assert group_reports(decisions) == [("g1", True, "Scheduled", "")]


def test_a_woken_gang_goes_ahead_of_its_backoff_if_nothing_else_is_to_do():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), *members(3, cpu="1"))
    driver.decide()
    driver.see(node("n3", cpu="1"))
    assert len(driver.bind(after=0.1)) == 3


def test_a_node_that_helps_no_member_does_not_wake_the_gang():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), *members(3, cpu="1"))
    driver.decide()
    attempts = entry(driver).attempts
    driver.see(node("tiny", cpu="100m"))
    assert driver.decide(after=60.0) == []
    assert entry(driver).attempts == attempts


def test_pods_wait_in_silence_for_their_object():
    driver = Driver(node("a"), *members(2))
    assert driver.decide() == []
    driver.see(gang(minimum=2))
    assert len(driver.bind()) == 2


def test_a_gang_waits_for_its_quorum_in_silence():
    driver = Driver(node("a"), gang(minimum=3), *members(2))
    assert driver.decide() == []
    driver.see(*members(1, first=3))
    assert len(driver.bind()) == 3


def test_a_gated_member_holds_the_gang():
    held = pod("p3", group="g1", scheduling_gates=gated("quota"))
    driver = Driver(node("a"), gang(minimum=2), *members(2), held)
    assert driver.decide() == []
    driver.see(changed(held, spec={"scheduling_gates": ()}))
    assert len(driver.bind()) == 3


def test_a_gated_member_that_disappears_lets_the_gang_go():
    held = pod("p3", group="g1", scheduling_gates=gated("quota"))
    driver = Driver(node("a"), gang(minimum=2), *members(2), held)
    driver.decide()
    driver.lose(held)
    assert len(driver.bind()) == 2


def test_more_members_than_the_minimum_start_if_they_fit():
    all_members = members(4, cpu="1")
    driver = Driver(*nodes(3, cpu="1"), gang(minimum=2), *all_members)
    decisions = driver.decide()
    assert sorted(placements(decisions)) == ["p1", "p2", "p3"]
    assert list(pod_reports(decisions)) == ["p4"]
    for one in all_members[:3]:
        driver.confirm(one, on=placements(decisions)[one.metadata.name])
    driver.see(node("n4", cpu="1"))
    assert driver.bind(after=1.0) == {"p4": "n4"}


def test_members_that_come_after_the_start_are_bound_as_they_fit():
    first = members(2, cpu="1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2), *first)
    driver.bind_and_confirm(*first)
    driver.see(*members(1, first=3, cpu="1"))
    late = driver.decide()
    assert binds(late) == []
    assert group_reports(late) == []
    assert pod_reports(late) == {"p3": ("Unschedulable", "0/2 nodes are available: 2 Insufficient cpu.")}
    driver.see(node("n3", cpu="1"))
    assert driver.bind(after=1.0) == {"p3": "n3"}


def test_a_gang_that_lost_members_needs_its_minimum_again():
    first, second = members(2, cpu="1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2), first, second)
    driver.decide()
    driver.lose(first, second)
    driver.see(*members(1, first=3, cpu="1"))
    assert driver.bind() == {}
    driver.see(*members(1, first=4, cpu="1"))
    assert len(driver.bind()) == 2


def test_a_basic_group_binds_what_fits():
    driver = Driver(*nodes(2, cpu="1"), basic_group(), *members(3, cpu="1"))
    decisions = driver.decide()
    assert sorted(placements(decisions)) == ["p1", "p2"]
    assert group_reports(decisions) == [("g1", True, "Scheduled", "")]
    assert list(pod_reports(decisions)) == ["p3"]


def test_members_bound_by_others_count_for_the_minimum():
    driver = Driver(node("a", cpu="2"), gang(minimum=2), pod("p1", cpu="1", group="g1", on="a"))
    driver.see(*members(1, first=2, cpu="1"))
    decisions = driver.decide()
    assert placements(decisions) == {"p2": "a"}
    assert group_reports(decisions) == [("g1", True, "Scheduled", "")]


def test_a_gang_found_running_without_a_report_is_reported():
    """As after a crash between binding the last member and writing the condition."""
    driver = Driver(node("a"), gang(minimum=2), *members(2, on="a"))
    assert group_reports(driver.decide()) == [("g1", True, "Scheduled", "")]
    assert driver.decide() == []


def test_a_gang_found_half_bound_is_finished():
    driver = Driver(node("a"), gang(minimum=4), *members(2, on="a"), *members(2, first=3))
    decisions = driver.decide()
    assert sorted(placements(decisions)) == ["p3", "p4"]
    assert group_reports(decisions) == [("g1", True, "Scheduled", "")]


def test_a_gang_reported_as_scheduled_is_never_reported_otherwise():
    podgroup = gang(minimum=2, conditions=[initially_scheduled("True", "Scheduled")])
    driver = Driver(node("a", cpu="1"), podgroup, *members(2, cpu="1"))
    decisions = driver.decide()
    assert binds(decisions) == []
    [told] = [one for one in decisions if isinstance(one, ReportGroup)]
    assert (told.scheduled, told.minimum_running) == (True, False)
    assert told.message.startswith("only 1 of the 2 pods that must start together fit")
    assert set(pod_reports(decisions)) == {"p1", "p2"}


def test_the_same_report_is_not_repeated():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), *members(3, cpu="1"))
    assert group_reports(driver.decide())
    driver.see(node("n1", cpu="1", labels={"changed": "yes"}))
    assert driver.decide(after=60.0) == []
    assert entry(driver).attempts == 2


def test_what_the_object_already_says_is_not_reported_again():
    driver = Driver(node("a", cpu="2"), gang(minimum=3), *members(3, cpu="1"))
    ((_, _, reason, message),) = group_reports(driver.decide())
    said = initially_scheduled("False", reason, message)
    again = Driver(node("a", cpu="2"), gang(minimum=3, conditions=[said]), *members(3, cpu="1"))
    assert group_reports(again.decide()) == []


def test_lowering_the_minimum_lets_the_gang_start():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), *members(3, cpu="1"))
    driver.decide()
    driver.see(gang(minimum=2))
    assert len(driver.bind()) == 2


def test_raising_the_minimum_holds_a_gang_that_has_not_started():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), *members(3, cpu="1"))
    driver.decide()
    driver.see(gang(minimum=5), *nodes(9, cpu="1"))
    [(_, _, *told)] = group_reports(driver.decide(after=60.0))
    assert told == ["WaitingForPods", "3 of the 5 pods it needs exist"]
    assert entry(driver) is None


def test_a_group_recreated_with_another_policy_follows_the_new_one():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3, uid="first"), *members(3, cpu="1"))
    driver.decide()
    driver.lose(gang(minimum=3, uid="first"))
    assert driver.bind() == {}
    driver.see(basic_group(uid="second"))
    decisions = driver.decide()
    assert len(placements(decisions)) == 2
    assert group_reports(decisions) == [("g1", True, "Scheduled", "")]


def test_a_group_deleted_while_it_waits_is_not_tried():
    podgroup = gang(minimum=3)
    driver = Driver(*nodes(2, cpu="1"), podgroup, *members(3, cpu="1"))
    driver.decide()
    driver.lose(podgroup)
    driver.see(*nodes(9, cpu="1"))
    assert driver.decide(after=600.0) == []
    assert entry(driver) is None


def test_a_contradiction_is_told_to_group_and_members():
    options = EngineOptions(members_must_match=True)
    driver = Driver(node("a"), gang(minimum=2, priority=5), *members(2), options=options)
    decisions = driver.decide()
    text = "all pods in a single pod group should have the same priority as the pod group's priority, got 0 and 5"
    assert group_reports(decisions) == [("g1", False, "SchedulerError", text)]
    assert pod_reports(decisions) == {"p1": ("SchedulerError", text), "p2": ("SchedulerError", text)}


def test_groups_of_other_schedulers_are_left_alone():
    driver = Driver(node("a"), gang(minimum=2), *members(2, scheduler_name="other"))
    assert driver.decide() == []


def test_groups_come_by_their_priority_among_pods():
    driver = Driver(
        node("a", cpu="2"),
        pod("single", cpu="1", priority=1),
        gang(minimum=2, priority=5),
        *members(2, cpu="1", priority=5),
    )
    assert sorted(driver.bind()) == ["p1", "p2"]


def test_a_refused_member_comes_back_behind_a_penalty_and_joins_the_others():
    first, second = members(2, cpu="1")
    driver = Driver(*nodes(3, cpu="1"), gang(minimum=2), first, second)
    bound = driver.bind()
    driver.confirm(second, on=bound["p2"])
    driver.refuse(first, bound["p1"])
    assert driver.bind() == {}
    assert entry(driver).place is QueueState.ERROR_BACKOFF
    assert driver.bind(after=0.9) == {}
    assert list(driver.bind(after=0.1)) == ["p1"]


def test_nobody_is_bound_on_the_strength_of_bindings_that_may_still_be_refused():
    first, second, late = members(3, cpu="1")
    driver = Driver(*nodes(3, cpu="1"), gang(minimum=2), first, second)
    bound = driver.bind()
    driver.see(late)
    assert driver.bind() == {}
    driver.refuse(first, bound["p1"])
    driver.refuse(second, bound["p2"])
    assert driver.bind() == {}
    assert sorted(driver.bind(after=1.0)) == ["p1", "p2", "p3"]


def test_who_came_later_follows_as_soon_as_the_others_are_bound():
    first, second, late = members(3, cpu="1")
    driver = Driver(*nodes(3, cpu="1"), gang(minimum=2), first, second)
    bound = driver.bind()
    driver.see(late)
    driver.confirm(first, on=bound["p1"])
    assert driver.bind() == {}
    driver.confirm(second, on=bound["p2"])
    assert list(driver.bind()) == ["p3"]


def test_confirmations_of_the_others_do_not_shorten_the_penalty():
    first, second = members(2, cpu="1")
    driver = Driver(*nodes(3, cpu="1"), gang(minimum=2), first, second)
    bound = driver.bind()
    driver.refuse(first, bound["p1"])
    assert driver.bind() == {}
    driver.confirm(second, on=bound["p2"])
    assert driver.bind(after=0.1) == {}
    assert entry(driver).place is QueueState.ERROR_BACKOFF


def test_many_refusals_at_once_are_one_failure():
    many = members(8, cpu="1")
    driver = Driver(*nodes(8, cpu="1"), gang(minimum=8), *many)
    bound = driver.bind()
    for one in many:
        driver.refuse(one, bound[one.metadata.name])
    driver.decide()
    assert entry(driver).attempts == 1
    assert len(driver.bind(after=1.0)) == 8


def test_a_refused_member_that_another_has_bound_meanwhile_is_not_bound_again():
    first, second = members(2, cpu="1")
    driver = Driver(*nodes(3, cpu="1"), gang(minimum=2), first, second)
    bound = driver.bind()
    refuse_member(driver, first, bound["p1"])
    driver.confirm(first, on="n3")
    decisions = driver.decide()
    assert binds(decisions) == []
    assert group_reports(decisions) == [], "the other binding is still on its way"
    driver.confirm(second, on=bound["p2"])
    assert group_reports(driver.decide()) == [("g1", True, "Scheduled", "")]
    assert entry(driver) is None
    assert driver.decide(after=60.0) == []


def test_an_object_that_is_made_anew_meanwhile_is_told_once_the_bindings_are_seen():
    """It is not known yet whether the bindings of an earlier decision hold."""
    both = members(2, cpu="1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2), *both)
    bound = driver.bind()
    driver.lose(gang(minimum=2))
    driver.see(gang(minimum=2, uid="another"))
    assert group_reports(driver.decide()) == []
    driver.confirm(both[0], on=bound["p1"])
    assert group_reports(driver.decide()) == []
    driver.confirm(both[1], on=bound["p2"])
    assert group_reports(driver.decide()) == [("g1", True, "Scheduled", "")]


def test_a_gang_with_a_refused_member_is_reported_when_it_has_really_started():
    first, second = members(2, cpu="1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2), first, second)
    bound = driver.bind()
    driver.confirm(second, on=bound["p2"])
    refuse_member(driver, first, bound["p1"])
    assert driver.decide() == []
    assert group_reports(driver.decide(after=1.0)) == [("g1", True, "Scheduled", "")]


def test_a_gang_that_once_was_scheduled_is_not_reported_again_after_a_refusal():
    first, second = members(2, cpu="1")
    podgroup = gang(minimum=2)
    driver = Driver(*nodes(2, cpu="1"), podgroup, first, second)
    bound = driver.bind()
    driver.see(changed(podgroup, status={"conditions": (initially_scheduled("True", "Scheduled"),)}))
    refuse_member(driver, first, bound["p1"])
    driver.decide()
    assert group_reports(driver.decide(after=1.0)) == []


def test_a_confirmed_binding_does_not_wake_a_gang_that_waits_for_room():
    single = pod("single", cpu="1", created="2025-01-01T00:00:00Z")
    driver = Driver(node("a", cpu="4"), gang(minimum=4), *members(4, cpu="1"), single)
    driver.decide()
    driver.see(node("b", cpu="100m"))
    driver.decide()
    driver.decide(after=30.0)
    attempts = entry(driver).attempts
    driver.confirm(single, on="a")
    driver.decide(after=30.0)
    assert entry(driver).attempts == attempts


def test_a_member_deleted_while_waiting_leaves_the_gang_short():
    gone, *rest = members(3, cpu="1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), gone, *rest)
    driver.decide()
    driver.lose(gone)
    driver.see(*nodes(9, cpu="1"))
    [(_, _, *told)] = group_reports(driver.decide())
    assert told == ["WaitingForPods", "2 of the 3 pods it needs exist"]
    assert entry(driver) is None


def test_a_member_on_its_way_out_is_not_bound():
    leaving, *rest = members(3, cpu="1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2), leaving, *rest)
    driver.see(changed(leaving, metadata={"deletion_timestamp": "2026-01-01T00:01:00Z"}))
    assert sorted(driver.bind()) == ["p2", "p3"]


def test_the_last_member_gone_leaves_nothing_behind():
    alone = pod("p1", group="g1")
    driver = Driver(node("a"), gang(minimum=2), alone)
    driver.decide()
    driver.lose(alone)
    driver.lose(gang(minimum=2))
    assert driver.decide() == []
    assert list(driver.engine._knowledge.groups) == []
    assert len(driver.engine._knowledge.state.classes._classes) == 0


def test_groups_of_the_same_name_in_two_namespaces_are_two_groups():
    elsewhere = [
        changed(one, metadata={"namespace": "other", "uid": f"other-{i}"}) for i, one in enumerate(members(2))
    ]
    driver = Driver(node("a"), gang(minimum=2), *members(1), *elsewhere)
    assert driver.bind() == {}


def started_gang(minimum=3):
    started = members(minimum, cpu="1")
    driver = Driver(*nodes(minimum, cpu="1"), gang(minimum=minimum), *started)
    bound = driver.bind_and_confirm(*started)
    driver.decide()
    return driver, [changed(one, spec={"node_name": bound[one.metadata.name]}) for one in started]


def test_a_gang_that_fell_below_its_minimum_says_so_once_and_forms_again():
    driver, (first, second, _) = started_gang()
    driver.lose(first)
    left, rest = (
        "of the 3 pods that must run together are left",
        "others start only if the minimum is reached again",
    )
    told = f"2 {left} (p1 on n1 was deleted); {rest}"
    assert group_warnings(driver.decide()) == [("g1", "BelowMinimum", told)]
    driver.lose(second)
    assert driver.decide(after=1.0) == []
    driver.see(*members(1, first=4, cpu="1"))
    assert driver.decide(after=1.0) == []
    driver.see(*members(1, first=5, cpu="1"))
    assert sorted(driver.bind(after=1.0)) == ["p4", "p5"]
    driver.lose(*members(2, first=4, cpu="1"))
    told = f"1 {left} (p4 on n1 was deleted, p5 on n2 was deleted); {rest}"
    assert group_warnings(driver.decide(after=1.0)) == [("g1", "BelowMinimum", told)]


def test_a_gang_whose_members_complete_has_lost_nobody():
    driver, (first, second, _) = started_gang()
    driver.see(changed(first, status={"phase": "Succeeded"}))
    assert driver.decide() == []
    driver.lose(second)
    assert driver.decide() == []


def test_a_failed_member_is_a_loss():
    driver, (first, _, _) = started_gang()
    driver.see(changed(first, status={"phase": "Failed", "reason": "NodeLost"}))
    [(_, reason, text)] = group_warnings(driver.decide())
    assert reason == "BelowMinimum"
    assert "(p1 on n1 failed: NodeLost)" in text


def test_what_evicted_a_member_is_told_in_its_own_words():
    driver, (first, _, _) = started_gang()
    drained = PodCondition(
        type="DisruptionTarget",
        status="True",
        reason="EvictionByEvictionAPI",
        message="Eviction API: evicting",
    )
    driver.lose(changed(first, status={"conditions": (drained,)}))
    [(_, _, text)] = group_warnings(driver.decide())
    assert "(p1 on n1 was disrupted: Eviction API: evicting)" in text


def test_a_gang_that_is_being_deleted_is_not_pitied():
    driver, (first, _, _) = started_gang()
    driver.see(changed(gang(minimum=3), metadata={"deletion_timestamp": "2026-01-01T00:00:00Z"}))
    driver.lose(first)
    assert group_warnings(driver.decide()) == []


def test_a_gang_that_lacks_room_for_many_is_not_tried_for_every_place_that_becomes_free():
    driver = Driver(*nodes(4, cpu="1"), *[pod(f"x{i}", cpu="1", on=f"n{i}") for i in range(1, 5)])
    driver.see(gang(minimum=3), *members(3, cpu="1"))
    driver.decide()
    driver.lose(pod("x1", cpu="1", on="n1"))
    driver.decide(after=5.0)
    assert driver.engine.tried() == ()
    driver.lose(pod("x2", cpu="1", on="n2"), pod("x3", cpu="1", on="n3"))
    assert len(driver.bind(after=5.0)) == 3


def test_a_gang_whose_priority_rises_moves_up_before_its_turn():
    driver = Driver(gang(minimum=1, priority=5), *members(1, cpu="1", priority=5))
    driver.engine.decide(driver.now)
    driver.see(pod("p6", cpu="1", priority=6))
    driver.see(
        gang(minimum=1, priority=9, uid="another"), changed(members(1, cpu="1")[0], spec={"priority": 9})
    )
    driver.see(node("n1", cpu="1"))
    assert driver.bind(after=20.0) == {"p1": "n1"}
