import pytest

from posse.engine.groups.admission import not_ready
from posse.engine.groups.group_book import GroupBook
from posse.engine.keys import GroupKey
from posse.engine.reporting.hold_messages import hold_text
from posse.model.workload import SchedulingConstraints, TopologyConstraint
from tests.support.builders import NAMESPACE, basic_group, gang, gated, pod
from tests.support.engine_parts import attached, record_of, state_of

KEY = GroupKey(NAMESPACE, "g1")


def hold(podgroup, *pods, members_must_match=False):
    book = GroupBook(members_must_match=members_must_match)
    state = state_of()
    for one in pods:
        record = attached(state, one, one.spec.node_name) if one.spec.node_name else record_of(state, one)
        book.join(record, KEY)
    if podgroup is not None:
        book.put(podgroup)
    return not_ready(book, book.get(KEY))


def test_a_complete_group_may_be_tried():
    assert hold(gang(minimum=2), pod("a"), pod("b")) is None
    assert hold(basic_group(), pod("a")) is None


def test_members_wait_for_their_object():
    waits = hold(None, pod("a"))
    assert (waits.reason, waits.is_error) == ("WaitingForPodGroup", False)
    assert "g1" in hold_text(waits)


def test_a_gang_waits_for_its_quorum():
    waits = hold(gang(minimum=3), pod("a"), pod("b"))
    assert (waits.reason, hold_text(waits)) == ("WaitingForPods", "2 of the 3 pods it needs exist")
    assert not waits.is_error


def test_members_that_are_on_nodes_count_for_the_quorum():
    assert hold(gang(minimum=3), pod("a", on="n1"), pod("b", on="n1"), pod("c")) is None


def test_one_gated_member_holds_the_whole_group():
    waits = hold(gang(minimum=1), pod("a"), pod("b", scheduling_gates=gated("quota")))
    assert (waits.reason, waits.is_error) == ("SchedulingGated", False)
    assert hold_text(waits) == "1 of its pods has scheduling gates: b (quota)"


def test_of_many_gated_members_a_few_are_named():
    shut = [pod(f"p{i}", scheduling_gates=gated("quota", "data")) for i in range(5)]
    assert hold_text(hold(gang(minimum=1), *shut)) == (
        "5 of its pods have scheduling gates: p0 (quota, data), p1 (quota, data), p2 (quota, data) and 2 more"
    )


@pytest.mark.parametrize(
    ("podgroup", "pods", "message"),
    [
        (
            gang(minimum=1),
            [pod("a"), pod("b", scheduler_name="other")],
            (
                "all pods in a single pod group should have the same .spec.schedulerName set, "
                'got: "default-scheduler" and "other"'
            ),
        ),
        (
            gang(minimum=1, priority=5),
            [pod("a", priority=5), pod("b")],
            "all pods in a single pod group should have the same priority as the pod group's priority, got 0 and 5",
        ),
        (
            gang(minimum=1, priority=0, preemption_policy="PreemptLowerPriority"),
            [pod("a", preemption_policy="Never")],
            (
                "all pods in a single pod group should have the same preemption policy as the pod group's "
                "preemption policy, got Never and PreemptLowerPriority"
            ),
        ),
        (
            gang(minimum=1, priority=0),
            [pod("a", preemption_policy="Never"), pod("b")],
            (
                "all pods in a single pod group should have the same preemption policy, "
                "got Never and PreemptLowerPriority"
            ),
        ),
    ],
    ids=["scheduler", "priority", "preemption", "policies"],
)
def test_a_group_that_contradicts_itself_is_an_error(podgroup, pods, message):
    waits = hold(podgroup, *pods, members_must_match=True)
    assert (waits.reason, hold_text(waits), waits.is_error) == ("SchedulerError", message, True)


def test_equal_priorities_and_policies_do_not_contradict():
    podgroup = gang(minimum=1, priority=5, preemption_policy="Never")
    assert hold(podgroup, pod("a", priority=5, preemption_policy="Never")) is None
    assert hold(gang(minimum=1), pod("a", preemption_policy="PreemptLowerPriority"), pod("b")) is None
    assert hold(gang(minimum=1), pod("a", preemption_policy="Never")) is None


@pytest.mark.parametrize("describe", [gang, basic_group])
def test_the_priority_and_policy_of_members_are_ignored(describe):
    podgroup = describe(priority=5, preemption_policy="PreemptLowerPriority")
    pods = [pod("a", priority=7), pod("b", preemption_policy="Never")]
    assert hold(podgroup, *pods) is None
    assert hold(podgroup, *pods, members_must_match=True).is_error


def test_topology_is_no_contradiction():
    in_one_rack = SchedulingConstraints(topology=(TopologyConstraint(key="rack"),))
    assert hold(gang(minimum=1, scheduling_constraints=in_one_rack), pod("a")) is None
