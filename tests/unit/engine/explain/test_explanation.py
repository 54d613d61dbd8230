"""What the engine tells of a group or a pod when it is asked, and that asking changes nothing."""

import pytest

from posse.engine.explain.capacity_limits import NeverFits
from posse.engine.explain.group_status import Counts, State
from posse.engine.explain.queue_order import Ahead
from posse.engine.groups.forms import COSCHEDULING, FORMS, WORKLOAD_REF
from posse.engine.keys import GroupKey
from posse.engine.reporting.cause_messages import shortfall_text
from posse.engine.reporting.messages import preemption_text
from tests.support.builders import (
    NAMESPACE,
    basic_group,
    gang,
    gated,
    initially_scheduled,
    node,
    nodes,
    pod,
    pods,
    taint,
)
from tests.support.engine_driver import Driver
from tests.support.group_forms import coscheduling_gang, describing, member

GPU = "example.com/gpu"


def told(driver, name="g1", **parts):
    """Explain the group, and see to it that nothing is changed by that."""
    key = GroupKey(NAMESPACE, name, **parts)
    before = picture(driver.engine)
    explanation = driver.engine.explain(key)
    assert picture(driver.engine) == before
    assert driver.engine.explain(key) == explanation
    return explanation


def told_of_pod(driver, name):
    before = picture(driver.engine)
    explanation = driver.engine.explain_pod(f"uid-{name}")
    assert picture(driver.engine) == before
    return explanation


def picture(engine):
    """Everything that decisions are made from, as plain values."""
    known, state = engine._knowledge, engine._knowledge.state
    return {
        "requested": state.nodes.requested.tolist(),
        "scoring": state.nodes.scoring_requested.tolist(),
        "by priority": {
            priority: state.usage.requested(priority).tolist()
            for priority in state.usage.priorities()
            if state.usage.requested(priority).any()
        },
        "turn": state.turn,
        "pods on": {name: list(there) for name, there in state._pods_on.items()},
        "pods": [(r.ref.name, r.node, r.nominated, r.volumes, r.reported) for r in known.pods.values()],
        "improved": list(state._improved_rows),
        "queue": [(key, entry.place) for key, entry in known.backlog._entries.items()],
        "groups": [(group.key, group.scheduled, group.reported) for group in known.groups],
        "unsettled": dict(known.unsettled_groups),
    }


def test_a_gang_that_fits_is_told_where_it_would_go():
    driver = Driver(*nodes(2, cpu="2"), gang(minimum=3), *pods(3, cpu="1", group="g1"))
    explanation = told(driver)
    assert explanation.situation.state is State.FITS
    assert sum(count for _, count in explanation.situation.placement) == 3
    assert [name for name, _ in explanation.situation.placement] == ["n1", "n2"]
    assert explanation.situation.counts == Counts(members=3, on_nodes=0, waiting=3, gated=0, missing=0)
    assert explanation.obstacles == ()
    assert explanation.ahead == Ahead(0, 0)


def test_having_been_asked_the_engine_decides_as_if_it_had_not():
    objects = [
        *nodes(5, cpu="3"),
        gang("big", minimum=9),
        *pods(9, cpu="2", group="big"),
        gang("small", minimum=3),
        *pods(3, first=20, cpu="1", group="small"),
        *pods(4, first=30, cpu="1"),
    ]
    asked, unasked = Driver(*objects), Driver(*objects)
    for name in ("big", "small"):
        told(asked, name)
    told_of_pod(asked, "p31")
    assert asked.decide() == unasked.decide()


def test_a_gang_that_does_not_fit_is_told_what_is_in_the_way():
    driver = Driver(
        *nodes(3, cpu="4"),
        pod("small", cpu="1", on="n1"),
        gang("owner", minimum=1, priority=7),
        pod("large", cpu="3", on="n2", group="owner", priority=7),
        gang(minimum=4),
        *pods(4, cpu="3", group="g1"),
    )
    explanation = told(driver)
    now = explanation.situation
    assert now.state is State.WAITING
    assert now.message.startswith(
        "only 2 of the 4 pods that must start together fit; with those placed, 2 lack cpu (3 each)"
    )
    assert now.proof is not None
    assert now.proof.doubts == ()
    (obstacle,) = explanation.obstacles
    assert (obstacle.number, obstacle.fit, obstacle.resource) == (4, 2, "cpu")
    assert obstacle.example.name == "p3"
    assert obstacle.requests == (("cpu", "3"),)
    assert [(one.rule, one.reason, one.nodes) for one in obstacle.refusals] == [
        ("NodeResourcesFit", "Insufficient cpu", 3)
    ]
    assert [(room.node, room.free, room.capacity) for room in obstacle.closest] == [
        ("n2", "1", "4"),
        ("n3", "1", "4"),
    ]
    assert [(holder.priority, holder.amount, holder.pods) for holder in obstacle.holders] == [
        (7, "3", 1),
        (0, "1", 1),
    ]
    assert obstacle.holders[0].who == GroupKey(NAMESPACE, "owner")
    assert now.out_of_reach == NeverFits(closed=())


def test_members_of_the_group_itself_are_not_named_as_holding_what_it_lacks():
    there = pod("p0", cpu="1", on="n1", group="g1")
    driver = Driver(node("n1", cpu="2"), gang(minimum=3), there, *pods(2, cpu="1", group="g1"))
    (obstacle,) = told(driver).obstacles
    assert obstacle.holders == ()


@pytest.mark.parametrize(("taken", "bigger"), [("n1", False), ("", True)])
def test_a_gang_bigger_than_the_cluster_is_told_so(taken, bigger):
    minimum = 3 if bigger else 2
    others = [pod("other", cpu="1", on=taken)] if taken else []
    driver = Driver(*nodes(2, cpu="1"), *others, gang(minimum=minimum), *pods(minimum, cpu="1", group="g1"))
    explanation = told(driver)
    assert explanation.situation.out_of_reach == (NeverFits(closed=()) if bigger else None)


@pytest.mark.parametrize(
    ("there", "wanted", "closed"),
    [
        (nodes(3), {"node_selector": {"disk": "fast"}}, {"NodeAffinity": 3}),
        (
            [node("n1", unschedulable=True), node("n2", taints=[taint("k")])],
            {},
            {"NodeUnschedulable": 1, "TaintToleration": 1},
        ),
        ([node("n1", unschedulable=True), node("n2", cpu="1")], {}, {"NodeUnschedulable": 1}),
        ([node("n1", cpu="1", unschedulable=True), node("n2", cpu="1")], {}, {}),
    ],
)
def test_nodes_that_are_closed_do_not_make_the_cluster_small(there, wanted, closed):
    members = pods(4, cpu="1", group="g1", **wanted)
    reach = told(Driver(*there, gang(minimum=4), *members)).situation.out_of_reach
    assert {one.rule: one.nodes for one in reach.closed} == closed
    alone = told_of_pod(Driver(*there, pod("p", cpu="2", **wanted)), "p").out_of_reach
    assert {one.rule: one.nodes for one in alone.closed} == closed


def test_members_that_differ_are_described_one_class_after_the_other():
    driver = Driver(
        *nodes(2, cpu="4", **{GPU: "1"}),
        gang(minimum=6),
        *pods(3, cpu="1", requests={GPU: "1"}, group="g1"),
        *pods(2, first=4, cpu="9", group="g1"),
        pod("p6", cpu="1", node_selector={"disk": "fast"}, group="g1"),
    )
    explanation = told(driver)
    assert [(one.number, one.fit, one.resource) for one in explanation.obstacles] == [
        (3, 2, GPU),
        (2, 0, "cpu"),
        (1, 0, ""),
    ]
    assert shortfall_text(explanation.obstacles[2].shortfall) == "1 finds no node"
    assert explanation.obstacles[2].refusals[0].rule == "NodeAffinity"
    assert explanation.undescribed == 0


def test_of_very_many_classes_only_the_first_are_described():
    driver = Driver(
        node(cpu="1"), gang(minimum=12), *(pod(f"p{i}", cpu=f"{i}", group="g1") for i in range(2, 14))
    )
    explanation = told(driver)
    assert (len(explanation.obstacles), explanation.undescribed) == (8, 4)


def test_a_started_gang_whose_further_members_find_no_node():
    driver = Driver(
        node("n1", cpu="2"),
        gang(minimum=2, conditions=[initially_scheduled("True", "Scheduled")]),
        *pods(2, cpu="1", on="n1", group="g1"),
        pod("late", cpu="1", group="g1"),
    )
    explanation = told(driver)
    assert (explanation.situation.state, explanation.situation.has_started) == (State.SCHEDULED, True)
    assert explanation.situation.message.startswith("none of its waiting pods fits")
    assert [one.example.name for one in explanation.obstacles] == ["late"]


def test_a_started_gang_has_nothing_in_its_way():
    driver = Driver(node("n1"), gang(minimum=2), *pods(2, on="n1", group="g1"))
    explanation = told(driver)
    assert (explanation.situation.state, explanation.situation.message) == (State.SCHEDULED, "")
    assert (explanation.obstacles, explanation.ahead) == ((), None)


def test_a_basic_group_starts_what_fits_and_says_what_does_not():
    driver = Driver(node("n1", cpu="1"), basic_group(), *pods(2, cpu="1", group="g1"))
    explanation = told(driver)
    assert (explanation.situation.state, explanation.situation.policy) == (State.FITS, "Basic")
    assert explanation.situation.placement == (("n1", 1),)
    assert "Insufficient cpu" in explanation.situation.message


def test_what_passes_in_a_moment_does_not_count_as_waiting():
    driver = Driver(node("n1", cpu="4"), basic_group(expected=5), *pods(2, cpu="1", group="g1"))
    now = told(driver).situation
    assert (now.state, now.expected, now.placement) == (State.FITS, 5, (("n1", 2),))


@pytest.mark.parametrize(
    ("objects", "state", "message"),
    [
        (pods(2, group="g1"), State.WAITING_FOR_GROUP, "PodGroup g1 does not exist yet"),
        ([gang(minimum=3), *pods(2, group="g1")], State.WAITING_FOR_PODS, "2 of the 3 pods it needs exist"),
        ([gang(minimum=2)], State.WAITING_FOR_PODS, "0 of the 2 pods it needs exist"),
        (
            [gang(minimum=2), pod("a", group="g1"), pod("b", group="g1", scheduling_gates=gated("x"))],
            State.GATED,
            "1 of its pods has scheduling gates: b (x)",
        ),
        (
            [gang(minimum=2), pod("a", group="g1"), pod("b", group="g1", scheduler_name="other")],
            State.INVALID,
            (
                "all pods in a single pod group should have the same .spec.schedulerName set, "
                'got: "default-scheduler" and "other"'
            ),
        ),
        (
            [gang(minimum=2), *pods(2, group="g1", scheduler_name="other")],
            State.FOREIGN,
            "its pods are left to the scheduler 'other'",
        ),
    ],
)
def test_a_group_that_is_not_tried_is_told_why(objects, state, message):
    explanation = told(Driver(node(), *objects))
    assert (explanation.situation.state, explanation.situation.message) == (state, message)
    assert (explanation.obstacles, explanation.ahead, explanation.situation.placement) == ((), None, ())
    assert explanation.situation.out_of_reach is None


def test_a_gated_member_is_not_counted_among_those_that_wait_as_well():
    shut = pod("shut", group="g1", scheduling_gates=gated("x"))
    driver = Driver(node("n1"), gang(minimum=3), *pods(3, on="n1", group="g1"), shut)
    assert told(driver).situation.counts == Counts(members=4, on_nodes=3, waiting=0, gated=1, missing=0)


def test_what_is_asked_for_in_all_and_not_there_is_named():
    asking = coscheduling_gang(minimum=2, min_resources={"cpu": "9"})
    driver = Driver(node(cpu="2"), asking, *_two_members(COSCHEDULING))
    explanation = told(driver, form=COSCHEDULING.name)
    assert explanation.situation.message.startswith("its minResources ask for 9 of cpu")
    assert (explanation.situation.state, explanation.obstacles) == (State.WAITING, ())


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_groups_of_every_form_are_explained(form):
    parts = {"pod_group": "a"} if form is WORKLOAD_REF else {}
    driver = Driver(node("n1", cpu="1"), describing(form), *_two_members(form, cpu="1"))
    explanation = told(driver, form=form.name, **parts)
    assert explanation.situation.exists
    assert (explanation.situation.policy, explanation.situation.minimum) == ("Gang", 2)
    assert explanation.situation.state is State.WAITING
    assert [one.fit for one in explanation.obstacles] == [1]


def _two_members(form, **description):
    return [member(f"p{i}", form, **description) for i in range(2)]


def test_nobody_has_heard_of_it():
    assert Driver(node()).engine.explain(GroupKey(NAMESPACE, "g1")) is None
    assert Driver(node()).engine.explain_pod("uid-x") is None


def test_who_has_its_turn_earlier_is_counted():
    driver = Driver(
        node("n1", cpu="1"),
        *(pod(f"old{i}", cpu="1", created="2025-01-01T00:00:00Z") for i in range(2)),
        pod("gated", cpu="1", created="2025-01-01T00:00:00Z", scheduling_gates=gated("x")),
        gang("urgent", minimum=2, priority=9),
        *(pod(f"u{i}", cpu="1", group="urgent", priority=9) for i in range(2)),
        gang(minimum=2),
        *pods(2, cpu="1", group="g1"),
        pod("young", cpu="1", created="2026-06-01T00:00:00Z"),
    )
    assert told(driver).ahead == Ahead(pods=2, groups=1)
    assert told_of_pod(driver, "young").ahead == Ahead(pods=2, groups=2)
    driver.decide()
    assert told(driver).ahead == Ahead(pods=1, groups=1), "one of the old pods has its node by now"


def test_a_group_that_makes_room_is_told_for_whom():
    there = pods(2, cpu="1", on="n1")
    members = [pod(f"m{i}", cpu="1", group="g1", priority=5) for i in range(2)]
    driver = Driver(node("n1", cpu="2"), *there, gang(minimum=2, priority=5), *members)
    explanation = told(driver)
    assert [victim.name for victim in explanation.making_room.victims] == ["p1", "p2"]
    assert "preempting 2 victims" in preemption_text(explanation.making_room.progress)
    assert explanation.situation.state is State.WAITING


def test_room_that_is_kept_for_others_is_not_offered():
    nominee = pod("vip", cpu="1", priority=9)
    driver = Driver(node("n1", cpu="1"), pod("low", cpu="1", on="n1"), nominee)
    driver.decide()
    driver.lose(pod("low", cpu="1", on="n1"))
    driver.see(gang(minimum=1), pod("p1", cpu="1", group="g1"))
    assert told(driver).situation.state is State.WAITING
    assert told_of_pod(driver, "vip").target == "n1"


def test_a_pod_that_would_start_now():
    driver = Driver(node("n1"), pod("p"))
    explanation = told_of_pod(driver, "p")
    assert (explanation.target, explanation.obstacle, explanation.held) == ("n1", None, "")


def test_a_pod_that_makes_room_is_told_for_whom():
    driver = Driver(node("n1", cpu="1"), pod("low", cpu="1", on="n1"), pod("high", cpu="1", priority=5))
    explanation = told_of_pod(driver, "high")
    assert [victim.name for victim in explanation.making_room.victims] == ["low"]
    assert "found a potential placement for pod on node n1" in preemption_text(
        explanation.making_room.progress
    )
    assert shortfall_text(explanation.obstacle.shortfall) == "1 lacks cpu (1): 1 node has none left"
    assert [holder.who.name for holder in explanation.obstacle.holders] == ["low"]


def test_a_pod_for_which_eviction_would_not_help():
    driver = Driver(node("n1", cpu="1"), pod("p", cpu="3"))
    explanation = told_of_pod(driver, "p")
    assert explanation.making_room.victims == ()
    assert preemption_text(explanation.making_room.progress).endswith(
        "1 Preemption is not helpful for scheduling."
    )
    assert [one.reason for one in explanation.obstacle.refusals] == ["Insufficient cpu"]


def test_without_nodes_a_pod_is_told_so_little_as_there_is_to_say():
    explanation = told_of_pod(Driver(pod("p", cpu="3")), "p")
    assert (explanation.making_room.progress, explanation.obstacle.refusals) == (None, ())


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        ({"group": "g1"}, "it is tried together with its group"),
        ({"deleted": "2026-01-02T00:00:00Z"}, "it is being deleted"),
        ({"scheduling_gates": gated("x", "y")}, "it has scheduling gates (x, y)"),
        ({"scheduling_gates": gated("x"), "group": "g1"}, "it has scheduling gates (x)"),
        ({"deleted": "2026-01-02T00:00:00Z", "group": "g1"}, "it is being deleted"),
    ],
)
def test_a_pod_that_is_not_tried_is_told_why(description, reason):
    explanation = told_of_pod(Driver(node(), pod("p", **description)), "p")
    assert (explanation.held, explanation.target, explanation.obstacle) == (reason, "", None)


def test_a_pod_on_a_node_is_where_it_is():
    assert told_of_pod(Driver(node("n1"), pod("p", on="n1")), "p").node == "n1"


def test_situations_of_all_groups_come_in_the_order_of_their_first_sight():
    driver = Driver(node(), gang("b"), gang("a"), pod("p", group="c"))
    assert [(one.key.name, one.state) for one in driver.engine.situations()] == [
        ("b", State.WAITING_FOR_PODS),
        ("a", State.WAITING_FOR_PODS),
        ("c", State.WAITING_FOR_GROUP),
    ]
