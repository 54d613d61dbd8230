"""Why these victims and no others, as `posse explain` tells it."""

from posse.cli.explain.preemption_words import held_room, making_room
from posse.engine.explain.preemption import PreemptionStatus, ReservedCapacity
from posse.engine.keys import GroupKey, PodRef
from posse.engine.preemption.cost import Cost
from posse.engine.state.pod_record import LEADER_ANNOTATION
from posse.engine.verdict import NoVictims
from posse.model.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from posse.model.meta import LabelSelector, ObjectMeta
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import NAMESPACE, changed, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver


def told_of_pod(*objects, cpu="1"):
    driver = Driver(*objects, pod("high", cpu=cpu, priority=9))
    return list(making_room(driver.engine.explain_pod("uid-high").making_room))


def low(name, on, priority=0, **description):
    return pod(name, on=on, priority=priority, **({"cpu": "1"} | description))


def since(hour, one):
    return changed(one, status={"start_time": f"2026-01-01T{hour}:00:00Z"})


def test_less_important_victims_are_preferred():
    told = told_of_pod(*nodes(2, cpu="1"), low("a", "n1", 5), low("b", "n2", 2))
    assert told[1:] == [
        "would be evicted: test/b",
        "at a cost of 1 pod, priority 2 at most",
        "rather than test/a on n1: of priority 5, which is higher",
    ]


def test_fewer_victims_are_preferred():
    many = [low(f"a{i}", "n1", cpu="250m") for i in range(4)]
    told = told_of_pod(*nodes(2, cpu="1"), *many, low("b", "n2"))
    assert told[1:] == [
        "would be evicted: test/b",
        "at a cost of 1 pod, priority 0 at most",
        "rather than test/a0, test/a1, test/a2 and 1 more on n1: 4 pods, which is more",
    ]


def test_priorities_that_add_up_to_less_are_preferred():
    told = told_of_pod(
        *nodes(2, cpu="2"),
        low("a", "n1", 5),
        low("b", "n1", 4),
        low("c", "n2", 5),
        low("d", "n2", 1),
        cpu="2",
    )
    assert told[1] == "would be evicted: test/c, test/d"
    assert told[-1] == "rather than test/a, test/b on n1: their priorities add up to more"


def test_equal_costs_are_said_to_be_equal():
    told = told_of_pod(*nodes(2, cpu="1"), low("a", "n1"), low("b", "n2"))
    assert told[-1].endswith(": it costs the same")


def test_later_starters_are_preferred():
    told = told_of_pod(*nodes(2, cpu="1"), since("09", low("a", "n1")), since("10", low("b", "n2")))
    assert told[1:] == [
        "would be evicted: test/b",
        "at a cost of 1 pod, priority 0 at most",
        "rather than test/a on n1: which started earlier",
    ]


def test_single_pods_are_preferred_to_a_group_that_goes_as_a_whole():
    unit = gang("unit", minimum=1, priority=0, disruption_mode=DisruptionMode(all=AllDisruptionMode()))
    group = [unit, since("10", low("a", "n1", group="unit"))]
    told = told_of_pod(*nodes(2, cpu="1"), *group, since("09", low("b", "n2")))
    assert told[1] == "would be evicted: test/b"
    assert told[-1].endswith(": of a group that is evicted as a whole, which ranks above single pods")


def test_a_worker_is_preferred_to_the_leader_that_owns_it():
    leader, worker = since("10", low("leader", "n1")), since("09", low("worker", "n2"))
    worker = changed(worker, metadata={"annotations": {LEADER_ANNOTATION: "leader"}})
    told = told_of_pod(*nodes(2, cpu="1"), leader, worker)
    assert told[1] == "would be evicted: test/worker"
    assert told[-1] == "rather than test/leader on n1: which would take 1 pod along that they own"


def test_disruption_budgets_are_kept_where_they_can_be():
    budget = PodDisruptionBudget(
        metadata=ObjectMeta(name="b", namespace=NAMESPACE),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": "db"})),
        status=PodDisruptionBudgetStatus(disruptions_allowed=0),
    )
    protected = changed(low("a", "n1"), metadata={"labels": {"app": "db"}})
    told = told_of_pod(budget, *nodes(2, cpu="1"), protected, low("b", "n2", 5))
    assert told[-1] == "rather than test/a on n1: beyond a disruption budget"
    told = told_of_pod(budget, node("n1", cpu="1"), protected)
    assert told[-1] == "at a cost of 1 pod, priority 0 at most; beyond a disruption budget"


def test_a_group_that_goes_as_one_is_one_unit_beyond_its_budget():
    told = list(
        making_room(PreemptionStatus(NoVictims(), (PodRef(NAMESPACE, "a", ""),) * 4, Cost(1, 0, 2**33, 4)))
    )
    assert told[-1] == "at a cost of 4 pods, priority 0 at most; among them 1 unit beyond a disruption budget"


def test_where_nobody_can_be_evicted_that_is_all_there_is_to_say():
    assert len(told_of_pod(node("n1", cpu="1"), low("a", "n1", 9))) == 1


def test_a_group_is_told_what_it_could_have_had_evicted_instead():
    """Where it would like to go best, one more pod would have to leave."""
    there = [low("a", "n1", cpu="3"), low("b", "n2", 1, cpu="2"), low("c", "n2", cpu="1")]
    driver = Driver(node("n1", cpu="4"), node("n2", cpu="4"), *there, gang(minimum=1, priority=9))
    driver.see(*pods(1, cpu="4", group="g1", priority=9))
    told = list(making_room(driver.engine.explain(GroupKey(NAMESPACE, "g1")).making_room))
    assert told[1:3] == ["would be evicted: test/a", "at a cost of 1 pod, priority 0 at most"]
    assert all(line.startswith("rather than ") for line in told[3:])


def test_while_victims_are_leaving_it_is_said_of_them():
    driver = Driver(*nodes(2, cpu="1"), low("a", "n1"), low("b", "n2", 5), pod("high", cpu="1", priority=9))
    driver.decide()
    assert list(making_room(driver.engine.explain_pod("uid-high").making_room)) == [
        "preempting 1 pod; waiting for 1 to terminate.",
        "terminating: test/a",
        "at a cost of 1 pod, priority 0 at most",
        "rather than test/b on n2: of priority 5, which is higher",
    ]


def test_what_would_be_cheaper_by_now_is_said_to_be_so():
    there = [low("a", "n1", 3), low("b", "n2", 5)]
    driver = Driver(*nodes(2, cpu="1"), *there, pod("high", cpu="1", priority=9))
    driver.decide()
    driver.lose(there[1])
    driver.see(node("n2", cpu="1"), low("c", "n2"))
    told = list(making_room(driver.engine.explain_pod("uid-high").making_room))
    assert told[-1] == "rather than test/c on n2: which would now be enough too, and cost less"


def test_others_are_told_for_whom_room_is_held():
    driver = Driver(*nodes(2, cpu="1"), low("a", "n1"), low("b", "n2"), gang(minimum=2, priority=9))
    driver.see(*pods(2, cpu="1", group="g1", priority=9), low("late", ""))
    driver.decide()
    told = list(held_room(driver.engine.explain_pod("uid-late").reserved))
    assert told == ["on 2 nodes for podgroup test/g1, priority 9, which is preempting"]


def test_of_many_for_whom_room_is_held_some_are_named():
    rooms = [ReservedCapacity(GroupKey(NAMESPACE, f"g{i}"), 9, 1) for i in range(7)]
    told = list(held_room(rooms))
    assert told[0] == "on 1 node for podgroup test/g0, priority 9, which is preempting"
    assert told[5:] == ["and for 2 more"]
