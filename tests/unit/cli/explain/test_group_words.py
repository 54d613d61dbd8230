"""The sentences of posse gangs and posse explain, and of conditions and events."""

from dataclasses import replace

import pytest

from posse.cli.explain.group_words import cause, headline, shown_state
from posse.cli.explain.history import condition_lines, happening_lines, happenings, preemptors
from posse.cli.explain.text import group_lines, pod_lines
from posse.cli.reading.ended_members import Fates, fates_of
from posse.engine.groups.forms import INITIALLY_SCHEDULED, VOLCANO, WORKLOAD_REF
from posse.engine.keys import GroupKey
from posse.engine.reporting.remedy_messages import BEHIND
from posse.engine.statement import Reservation
from posse.model.meta import Condition
from posse.model.pod import PodCondition
from posse.model.timestamps import parse_timestamp
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import (
    NAMESPACE,
    basic_group,
    changed,
    gang,
    gated,
    in_rack,
    initially_scheduled,
    node,
    nodes,
    one_domain,
    pod,
    pods,
    taint,
)
from tests.support.engine_driver import Driver
from tests.support.group_forms import member, workload
from tests.support.storage_objects import using

NOW = parse_timestamp("2026-01-01T01:00:00Z")
STARTED = [initially_scheduled("True", "Scheduled")]
NOBODY = Fates()


def situation(*objects):
    (now,) = Driver(*objects).engine.situations()
    return now


def lines(*objects, name="g1", fates=NOBODY):
    return list(group_lines(Driver(*objects).engine.explain(GroupKey(NAMESPACE, name)), fates, "5m"))


def test_a_group_whose_pods_have_succeeded_has_finished():
    now = situation(gang(minimum=2, conditions=STARTED))
    assert shown_state(now, Fates(2)) == "Finished"
    assert headline(now, Fates(2)) == "PodGroup test/g1 has finished: 2 pods succeeded."
    assert shown_state(now, NOBODY) == "Finished", "none of its pods is left that could wait"


def test_a_group_that_lost_members_is_below_its_minimum():
    now = situation(node("n1"), gang(minimum=2, conditions=STARTED), pod("a", on="n1", group="g1"))
    assert shown_state(now, NOBODY) == "BelowMinimum"
    assert headline(now, NOBODY) == (
        "PodGroup test/g1 has started, but only 1 of the 2 pods it needs are on nodes now: "
        "1 of the 2 pods it needs exist."
    )


def test_members_that_have_succeeded_are_no_loss():
    done = pod("b", on="n1", group="g1", phase="Succeeded")
    now = situation(node("n1"), gang(minimum=2, conditions=STARTED), pod("a", on="n1", group="g1"), done)
    assert (shown_state(now, Fates(1)), cause(now, Fates(1))) == ("Scheduled", "")


def test_members_that_have_failed_are_not_called_missing():
    told = lines(gang(minimum=2), fates=Fates(failed=2))
    assert told[0] == "PodGroup test/g1 has failed: 2 pods failed."
    assert "  pods           2: 2 failed" in told


def test_a_started_group_whose_members_have_failed():
    now = situation(node("n1"), gang(minimum=3, conditions=STARTED))
    assert headline(now, Fates(failed=2)) == ("PodGroup test/g1 has failed: 2 pods failed.")


def test_a_group_that_ran_without_anybody_writing_it_down_has_finished():
    now = situation(gang(minimum=2))
    assert cause(now, Fates(succeeded=2, failed=1)) == "2 pods succeeded, 1 pod failed"
    assert shown_state(now, Fates(succeeded=1, failed=1)) == "Failed"


def test_members_that_terminate_are_told_apart_from_those_that_stay():
    leaving = pods(2, first=7, on="n1", group="g1", deleted="2026-01-01T00:00:00Z")
    told = lines(
        node("n1"), gang(minimum=2), *pods(6, on="n1", group="g1"), *leaving, fates=Fates(preempted=2)
    )
    assert told[0] == (
        "PodGroup test/g1 has started: all 8 pods are on nodes. 2 of its pods are terminating, preempted."
    )
    assert "  pods           8: 6 on nodes, 2 terminating" in told


@pytest.mark.parametrize(
    ("preempted", "text"),
    [
        (0, "2 of its pods are terminating"),
        (1, "2 of its pods are terminating, 1 of them preempted"),
        (2, "2 of its pods are terminating, preempted"),
    ],
)
def test_the_list_tells_who_is_terminating(preempted, text):
    leaving = pods(2, on="n1", group="g1", deleted="2026-01-01T00:00:00Z")
    assert cause(situation(node("n1"), gang(), *leaving), Fates(preempted=preempted)) == text


def test_the_list_tells_whose_end_a_gang_waits_for():
    there = [pod(f"low{i}", cpu="1", on=f"n{i}") for i in (1, 2)]
    driver = Driver(*nodes(2, cpu="1"), *there, gang(priority=9), *pods(2, cpu="1", group="g1", priority=9))
    driver.decide()
    driver.lose(there[0])
    (now,) = driver.engine.situations()
    assert cause(now, Fates()).endswith("; waits for 1 pod to terminate, preempted for it")


def test_a_group_that_is_being_deleted_says_so():
    going = changed(gang(), metadata={"deletion_timestamp": "2026-01-01T00:00:00Z"})
    now = situation(node("n1"), going, pod("a", on="n1", group="g1"))
    assert cause(now, Fates(failed=1)).endswith("; it is being deleted; 2 pods still name it")
    assert headline(now, Fates(failed=1)).endswith(". It is being deleted; 2 pods still name it.")


def test_a_pod_that_is_being_deleted_says_so_on_its_node():
    there = pod("p", on="n1", deleted="2026-01-01T00:00:00Z")
    told = pod_lines(Driver(node("n1"), there).engine.explain_pod("uid-p"))
    assert next(told) == "Pod test/p is on node n1, and is being deleted."


def test_a_pod_that_is_being_evicted_says_for_whom():
    driver = Driver(node("n1", cpu="1"), pod("low", cpu="1", on="n1"), pod("high", cpu="1", priority=5))
    driver.decide()
    told = pod_lines(driver.engine.explain_pod("uid-low"))
    way = "to make way for pod test/high, priority 5."
    assert next(told) == f"Pod test/low is on node n1, and is being deleted {way}"


def test_whoever_waits_is_told_of_room_that_is_held_for_others():
    driver = Driver(node("n1", cpu="1"), pod("low", cpu="1", on="n1"), pod("high", cpu="1", priority=5))
    driver.decide()
    driver.see(pod("late", cpu="1"), gang(minimum=1), pod("p1", cpu="1", group="g1"))
    stories = [
        pod_lines(driver.engine.explain_pod("uid-late")),
        group_lines(driver.engine.explain(GroupKey(NAMESPACE, "g1")), Fates(), "1m"),
    ]
    for story in map(list, stories):
        heading = story.index("Capacity reserved for others")
        assert story[heading + 1] == "  on 1 node for pod test/high, priority 5, which is preempting"


def test_a_gang_that_was_evicted_whole_says_by_what_and_when():
    mark = Condition(
        type="DisruptionTarget",
        status="True",
        reason="PreemptionByScheduler",
        message="default-scheduler: preempting to accommodate a higher priority pod test/boss",
        last_transition_time="2026-01-01T00:00:09Z",
    )
    now = situation(gang(minimum=2, conditions=[*STARTED, mark]))
    preempted = "it was preempted by pod test/boss at 2026-01-01T00:00:09Z"
    assert cause(now, NOBODY) == f"0 of the 2 pods it needs exist; {preempted}"
    assert headline(now, NOBODY).endswith(f". {preempted[0].upper()}{preempted[1:]}.")
    [line] = Driver(gang(minimum=2, conditions=[*STARTED, mark])).engine.overview().groups
    assert (
        line.message == "0 of the 2 pods it needs exist; preempted by pod test/boss at 2026-01-01T00:00:09Z"
    )


def test_only_evictions_for_the_sake_of_others_are_called_preemption():
    marks = [
        PodCondition(type="DisruptionTarget", status="True", reason=reason)
        for reason in ("PreemptionByScheduler", "EvictionByEvictionAPI")
    ]
    members = [
        pod(f"p{i}", deleted="2026-01-01T00:00:00Z", conditions=(mark,)) for i, mark in enumerate(marks)
    ]
    assert fates_of([*members, pod("stays", conditions=(marks[0],))]) == Fates(preempted=1)
    ended = [pod(f"e{i}", phase="Failed", conditions=(mark,)) for i, mark in enumerate(marks)]
    assert fates_of(ended) == Fates(failed=2, failed_preempted=1)
    assert fates_of(ended).in_words == "2 failed (1 preempted)"


def test_who_needed_the_room_is_known_from_events():
    by = {"kind": "PodGroup", "namespace": "team", "name": "urgent"}
    events = [
        event(1, "a", reason="Preempted", related=by),
        event(2, "b", reason="Preempted", related=by),
        event(3, "a", reason="Preempted"),
        event(4, "a", related={"kind": "Pod", "name": "x"}),
    ]
    assert preemptors(events, {"a", "b"}) == ["podgroup team/urgent"]
    assert preemptors(events, {"c"}) == []


def test_a_group_that_would_fit_is_shown_what_its_scheduler_says():
    """Only the scheduler knows what it reserves for others."""
    told = "Capacity on 1 node is reserved for pod group test/g2; what is free of it counts as used."
    condition = Condition(type=INITIALLY_SCHEDULED, status="False", reason="Unschedulable", message=told)
    group = changed(gang(minimum=1), status={"conditions": (condition,)})
    now = situation(*nodes(1, cpu="1"), group, pod(cpu="1", group="g1"))
    why = f"it would fit in what is free; its scheduler last said: {told}"
    assert (cause(now, NOBODY), headline(now, NOBODY)) == (why, f"PodGroup test/g1 waits: {why}")


def test_a_group_that_a_reservation_holds_back_is_told_for_which_group():
    holder = GroupKey(NAMESPACE, "g2")
    now = situation(*nodes(1, cpu="1"), gang(minimum=1), pod(cpu="2", group="g1"))
    told = cause(replace(now, reservation=Reservation(3, holder)), NOBODY)
    assert told.endswith("; 3 nodes reserved for test/g2")


def test_a_group_that_fits_waits_only_for_its_scheduler():
    now = situation(*nodes(2, cpu="1"), gang(minimum=2), *pods(3, cpu="1", group="g1"))
    assert headline(now, NOBODY) == (
        "PodGroup test/g1 fits: it could start now without 1 pod. Its scheduler has not placed it yet."
    )
    assert cause(now, NOBODY) == "it fits now; it has not been placed yet"


def test_a_started_group_tells_why_further_pods_wait():
    there = pods(2, cpu="1", on="n1", group="g1")
    now = situation(node("n1", cpu="2"), gang(minimum=2), *there, pod("late", cpu="1", group="g1"))
    assert headline(now, NOBODY).startswith(
        "PodGroup test/g1 has started: 2 of its 3 pods are on nodes, and it needs 2; none of its waiting pods fits"
    )


def test_a_started_group_tells_that_a_further_pod_is_gated():
    shut = pod("late", group="g1", scheduling_gates=gated("x"))
    told = lines(node("n1"), gang(minimum=2), *pods(2, on="n1", group="g1"), shut)
    assert told[0].endswith("1 of its pods has scheduling gates: late (x).")
    assert "  pods           3: 2 on nodes, 1 gated" in told


@pytest.mark.parametrize(
    ("objects", "text"),
    [
        (
            [gang(minimum=1), pod("a", group="g1"), pod("b", group="g1", scheduler_name="other")],
            "PodGroup test/g1 cannot start as it is: all pods",
        ),
        (
            [gang(minimum=1), pod("a", group="g1", scheduler_name="x")],
            "PodGroup test/g1 is not scheduled by Posse: its pods are left to the scheduler 'x'.",
        ),
        (
            [member("a", WORKLOAD_REF, "w", key="k")],
            "Group a, replica k, of Workload test/w cannot be tried: Workload w does not exist yet.",
        ),
        (
            [node("n1"), workload("w", a=1), member("a", WORKLOAD_REF, "w", on="n1")],
            "Group a of Workload test/w has started: its pod is on a node.",
        ),
        ([member("a", VOLCANO)], "PodGroup test/g1 (scheduling.volcano.sh) cannot be tried"),
    ],
)
def test_first_lines_answer_the_question(objects, text):
    assert headline(situation(*objects), NOBODY).startswith(text)


def test_members_that_differ_are_told_apart():
    told = lines(
        node("n1", cpu="4"),
        gang(minimum=3),
        *pods(2, cpu="9", group="g1"),
        pod("x", group="g1", node_selector={"disk": "fast"}),
    )
    assert "  2 pods like p1 (cpu 9): 0 would fit, 2 lack cpu (9 each): 1 node has 4 free of 4" in told
    assert "    closest: n1 has 4 of 4 cpu free" in told
    assert "  1 pod like x (no requests): 0 would fit, 1 finds no node" in told
    assert "    1 node   node(s) didn't match Pod's node affinity/selector   NodeAffinity" in told
    assert (
        "  No node is large enough for one of its pods: it needs 9 of cpu, and the largest node has 4."
        in told
    )
    assert "  Proven: it cannot fit in the currently free capacity." in told


def test_rules_that_close_nodes_are_named_where_the_rest_is_too_small():
    there = [node("n1", unschedulable=True), node("n2", taints=[taint("k")]), node("n3", cpu="1")]
    told = lines(*there, gang(minimum=3), *pods(3, cpu="1", group="g1"))
    closed = "1 node(s) were unschedulable, 1 node(s) had untolerated taint(s)"
    assert told[0].endswith(f"2 lack cpu (1 each): 1 node has none left; closed: {closed}.")
    assert (
        f"  It would not fit on the nodes open to it even if nothing else ran there; closed: {closed}."
        in told
    )
    assert not any("larger than the cluster" in line for line in told)


def test_the_rule_that_closes_every_node_is_named_once():
    told = lines(*nodes(3), gang(), *pods(2, group="g1", node_selector={"disk": "fast"}))
    assert told[0].count("3 node(s) didn't match Pod's node affinity/selector") == 1
    assert "bigger" not in "".join(told)


def test_a_pod_that_no_node_is_open_to_is_told_by_which_rules():
    driver = Driver(node("n1", unschedulable=True), node("n2", taints=[taint("k")]), pod("p", cpu="1"))
    told = list(pod_lines(driver.engine.explain_pod("uid-p")))
    assert told[0] == (
        "Pod test/p waits: it finds no node: "
        "1 node(s) were unschedulable, 1 node(s) had untolerated taint(s)."
    )


def test_what_no_node_is_open_to_is_not_measured_against_the_nodes_open_to_it():
    selector = {"node_selector": {"disk": "fast"}}
    driver = Driver(*nodes(2), pod("p", **selector), gang(), *pods(2, group="g1", **selector))
    closed = "closed: 2 node(s) didn't match Pod's node affinity/selector."
    told = list(pod_lines(driver.engine.explain_pod("uid-p")))
    assert f"  No node would take it, even if it were empty; {closed}" in told
    told = list(group_lines(driver.engine.explain(GroupKey(NAMESPACE, "g1")), NOBODY, "5m"))
    assert f"  No node would take one of its pods, even if it were empty; {closed}" in told


def test_a_pod_larger_than_any_node_is_not_called_one_of_its_pods():
    driver = Driver(node("n1", cpu="1"), pod("p", cpu="2"))
    told = list(pod_lines(driver.engine.explain_pod("uid-p")))
    assert "  No node is large enough for it: it needs 2 of cpu, and the largest node has 1." in told


def test_what_is_missing_for_a_pod_itself_is_not_counted_by_nodes():
    driver = Driver(*nodes(2), pod("p", volumes=using("nope")))
    told = next(pod_lines(driver.engine.explain_pod("uid-p")))
    assert told == 'Pod test/p waits: it finds no node: persistentvolumeclaim "nope" not found.'


def test_a_finished_group_misses_no_pods():
    assert "  pods           0: none" in lines(gang(minimum=2, conditions=STARTED))


def test_very_many_sorts_and_nodes_are_summed_up():
    pod_sets = [pod(f"p{i}", cpu=f"{i}", group="g1") for i in range(2, 13)]
    assert "  pods of 3 other classes find no node either" in lines(
        node(cpu="1"), gang(minimum=11), *pod_sets
    )
    (places,) = [
        line
        for line in lines(*nodes(10, cpu="1"), gang(minimum=10), *pods(10, cpu="1", group="g1"))
        if "would go to" in line
    ]
    assert places.endswith(" and 2 more nodes")


def test_where_the_engine_is_in_doubt_an_exact_search_is_made():
    """Each node takes one pod of either size; no two nodes are equal, so there are more ways than the engine goes through."""
    unequal = [node(f"n{i}", cpu=f"{5000 + i}m") for i in range(30)]
    members = [*pods(20, cpu="3", group="g1"), *pods(20, first=21, cpu="4", group="g1")]
    told = lines(*unequal, gang(minimum=40), *members)
    assert "  Proven by an exact search: it cannot fit in the currently free capacity." in told


def test_what_would_let_a_group_start():
    told = lines(node("n1", cpu="4"), gang(minimum=4), *pods(5, cpu="2", group="g1"))
    heading = told.index("Each of these would let it start")
    assert told[heading + 1 :] == ["  1 more node like n1", "  a minCount of 2 instead of 4"]


def test_what_would_let_a_group_start_that_must_be_in_one_rack():
    racks = [node(f"{rack}{i}", cpu="2", labels={"rack": rack}) for rack in "ab" for i in range(2)]
    told = lines(*racks, gang(minimum=3, **one_domain("rack")), *pods(3, cpu="2", group="g1"))
    heading = told.index("Each of these would let it start")
    assert told[heading + 1 :] == [
        "  1 more node like a0 in rack a",
        "  1 more node like b0 in rack b",
        "  a minCount of 2 instead of 3",
        "  recreating it without the topology constraint",
    ]


def test_who_would_have_to_be_evicted_by_hand_so_that_a_group_starts():
    running = [pod(f"old{i}", cpu="2", on="n1") for i in range(2)]
    told = lines(node("n1", cpu="4"), *running, gang(minimum=1), pod("a", cpu="2", group="g1"))
    assert told[told.index("Each of these would let it start") + 1 :] == [
        "  1 more node like n1",
        "  evicting pod test/old0",
        "  evicting pod test/old1",
    ]


def test_a_group_that_is_evicted_as_one_is_named_as_one():
    whole = gang("old", 2, disruption_mode=DisruptionMode(all=AllDisruptionMode()))
    running = [pod(f"old{i}", cpu="2", on="n1", group="old") for i in range(2)]
    told = lines(node("n1", cpu="4"), whole, *running, gang(minimum=1), pod("a", cpu="2", group="g1"))
    assert "  evicting podgroup test/old" in told


def test_what_makes_way_by_itself_is_not_asked_for():
    """The lesser pod leaves for one of the two; it takes one more node, not two."""
    low = pod("low", cpu="2", on="n1", priority=-1)
    told = lines(
        node("n1", cpu="2"), low, gang(minimum=2, priority=5), *pods(2, cpu="2", group="g1", priority=5)
    )
    assert told[told.index("Each of these would let it start") + 1 :] == [
        "  1 more node like n1",
        "  a minCount of 1 instead of 2",
    ]


def test_the_size_of_a_group_is_told_as_its_policy_has_it():
    assert "Basic, 7 pods expected, priority 0" in lines(basic_group(expected=7))[1]
    assert "Gang, at least 3 together, priority 0" in lines(gang(minimum=3))[1]
    assert "Basic, priority 0" in lines(basic_group())[1]


def test_who_comes_first_is_counted_in_words():
    told = lines(
        node(cpu="1"),
        *(pod(f"old{i}", cpu="9", created="2025-01-01T00:00:00Z") for i in range(2)),
        gang(minimum=2),
        *pods(2, cpu="1", group="g1"),
    )
    assert "  queue          2 pods ahead of it, not blocking it" in told


def test_capacity_for_a_group_may_go_to_what_is_ahead_of_it_in_the_queue():
    waiting = pods(2, cpu="1", group="g1")
    told = lines(node("n1", cpu="1"), gang(minimum=2), *waiting)
    assert f"  {BEHIND}." not in told
    told = lines(node("n1", cpu="1"), pod("ahead", cpu="2"), gang(minimum=2), *waiting)
    assert f"  {BEHIND}." in told


def test_what_has_reserved_capacity_ahead_of_it_is_not_said_not_to_block_it():
    driver = Driver(node("n1", cpu="1"), pod("low", cpu="1", on="n1"), pod("high", cpu="1", priority=5))
    driver.see(pod("behind", cpu="1"))
    driver.decide()
    told = list(pod_lines(driver.engine.explain_pod("uid-behind")))
    assert "  queue      1 pod ahead of it" in told


def test_a_pod_that_needs_room_names_who_would_go():
    driver = Driver(node("n1", cpu="1"), pod("low", cpu="1", on="n1"), pod("high", cpu="1", priority=5))
    told = list(pod_lines(driver.engine.explain_pod("uid-high")))
    assert told[0] == "Pod test/high waits: it lacks cpu (1): 1 node has none left."
    assert "  would be evicted: test/low" in told
    assert "  pod test/low   1 with 1 pod   priority 0" in told


def test_a_group_that_needs_room_names_who_would_go():
    there = [pod(f"low{i}", cpu="1", on="n1") for i in range(10)]
    urgent = gang(minimum=10, priority=5)
    told = lines(node("n1", cpu="10"), *there, urgent, *pods(10, cpu="1", group="g1", priority=5))
    heading = told.index("Preemption")
    assert told[heading + 1] == "  found a placement for podgroup, preempting 10 victims."
    assert told[heading + 2].startswith("  would be evicted: test/low0, test/low1, ")
    assert told[heading + 2].endswith(" and 2 more")


def test_conditions_and_phases_are_told_as_they_are():
    condition = {
        "type": "Unschedulable",
        "status": "True",
        "reason": "NotEnough",
        "message": "too little",
        "lastTransitionTime": "2026-01-01T00:59:00Z",
    }
    assert condition_lines({"status": {"phase": "Inqueue", "conditions": [condition]}}, NOW) == [
        "phase Inqueue",
        "Unschedulable=True (NotEnough), since 60s: too little",
    ]
    assert condition_lines({"status": {"conditions": [{"type": "A", "status": "False"}]}}, NOW) == ["A=False"]
    assert condition_lines({}, NOW) == condition_lines(None, NOW) == []


@pytest.mark.parametrize(
    ("verdict", "kind", "status", "is_told"),
    [
        (None, "PodScheduled", "False", False),
        ("lacks cpu", "PodScheduled", "False", False),
        ("lacks memory", "PodScheduled", "False", True),
        ("lacks memory", "Unschedulable", "True", True),
        ("", "PodGroupInitiallyScheduled", "False", True),
        ("lacks memory", "PodGroupInitiallyScheduled", "True", False),
        ("lacks memory", "Ready", "False", False),
    ],
)
def test_a_refusal_that_says_something_else_is_from_another_time(verdict, kind, status, is_told):
    condition = {
        "type": kind,
        "status": status,
        "message": "it lacks cpu",
        "lastTransitionTime": "2026-01-01T00:55:00Z",
    }
    (line,) = condition_lines({"status": {"conditions": [condition]}}, NOW, verdict)
    note = " [written up to 5m ago; the current state is above]" if is_told else ""
    assert line == f"{kind}={status}, since 5m: it lacks cpu{note}"


def event(number, uid, message="no room", **more):
    about = {"kind": "Pod", "name": f"p{uid}", "uid": uid}
    return {
        "metadata": {"uid": f"event-{number}"},
        "involvedObject": about,
        "reason": "FailedScheduling",
        "message": message,
        "lastTimestamp": f"2026-01-01T00:{number:02}:00Z",
        **more,
    }


def test_events_that_say_the_same_are_told_once():
    events = [event(1, "b"), event(2, "a"), event(3, "other"), event(2, "a"), event(5, "a", "gone", count=3)]
    assert happening_lines(happenings(events, {"a", "b"}), NOW) == [
        "58m ago  FailedScheduling  pod/pa and 1 more: no room",
        "55m ago, 3 times  FailedScheduling  pod/pa: gone",
    ]


def test_that_many_pods_were_placed_is_told_once_wherever_they_went():
    placed = [event(n, uid, f"assigned p{uid} to n{n}", reason="Scheduled") for n, uid in enumerate("abc")]
    assert happening_lines(happenings(placed, {"a", "b", "c"}), NOW) == [
        "58m ago  Scheduled  pod/pa and 2 more: Successfully assigned to their nodes"
    ]
    assert happening_lines(happenings(placed, {"b"}), NOW) == [
        "59m ago  Scheduled  pod/pb: assigned pb to n1"
    ]


def test_only_the_latest_events_are_told_whichever_way_they_give_their_time():
    series = {
        "series": {"count": 7, "lastObservedTime": "2026-01-01T00:59:30.000000Z"},
        "lastTimestamp": None,
    }
    found = happenings(
        [event(i, "a", f"message {i}") for i in range(9)] + [event(9, "a", "x", **series)], {"a"}
    )
    assert [one.message for one in found] == [*(f"message {i}" for i in range(4, 9)), "x"]
    assert found[-1].count == 7
    assert happenings([event(1, "a", lastTimestamp=None, eventTime=None)], {"a"})[0].last_seen == ""


def test_what_no_rack_can_hold_is_told_of_the_rack_that_comes_closest():
    racks = [*in_rack("r1", "a", "b", cpu="1"), *in_rack("r2", "c", "d", "e", cpu="1")]
    told = lines(*racks, gang(minimum=4, **one_domain()), *pods(4, cpu="1", group="g1"))
    assert any(
        line.endswith("Gang, at least 4 together, all in one rack, priority 0, created 5m ago")
        for line in told
    )
    assert "What is in its way, in rack r2, which comes closest" in told
    assert (
        "  It is larger than any rack: too few of its pods would fit even if nothing else ran there." in told
    )
