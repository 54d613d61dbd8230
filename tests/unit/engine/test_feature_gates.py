"""What feature gates change about decisions: each on and off, for the same cluster."""

import pytest

from posse.engine.groups.forms import FORMS, NATIVE, POSSE
from posse.engine.options import EngineOptions
from posse.model.feature_gates import ALL_GATES, NEEDS, Gate
from posse.model.workload import (
    AllDisruptionMode,
    DisruptionMode,
    SchedulingConstraints,
    TopologyConstraint,
)
from tests.support.builders import basic_group, composite, gang, node, pod
from tests.support.engine_driver import Driver, binds, evicted, group_reports
from tests.support.group_forms import describing, member, named

CONSTRAINTS = SchedulingConstraints(topology=(TopologyConstraint(key="rack"),))


def child(name, minimum, parent="root", **spec):
    return gang(name, minimum, parent_composite_pod_group_name=parent, **spec)


def without(gate):
    return ALL_GATES - {gate} - {one for one, needs in NEEDS.items() if gate in needs}


def driven(gates, *objects, members_must_match=False):
    options = EngineOptions(gates=gates, members_must_match=members_must_match)
    return Driver(node("n1", cpu="2"), *objects, options=options)


def too_large(form):
    """A gang of three where only two fit."""
    return [describing(form, 3), *(member(f"p{i}", form, cpu="1") for i in (1, 2, 3))]


@pytest.mark.parametrize("gate", [Gate.GENERIC_WORKLOAD, Gate.GANG_SCHEDULING])
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_generic_workload_or_gang_scheduling_off_members_are_scheduled_one_by_one(form, gate):
    on = driven(ALL_GATES, *too_large(form))
    assert on.bind() == {}
    off = driven(without(gate), *too_large(form))
    decisions = off.decide()
    assert [len(bind.placements) for bind in binds(decisions)] == [1, 1]
    assert all(bind.group is None for bind in binds(decisions))
    assert group_reports(decisions) == []
    assert off.engine.overview().groups == ()


def test_gang_scheduling_off_pods_do_not_wait_for_their_group_to_exist():
    orphan = pod("p1", cpu="1", group="g1")
    assert driven(ALL_GATES, orphan).bind() == {}
    assert driven(without(Gate.GANG_SCHEDULING), orphan).bind() == {"p1": "n1"}


def test_gang_scheduling_off_a_pod_that_comes_to_name_a_group_stands_for_itself():
    late = pod("p1", cpu="9")
    driver = driven(without(Gate.GANG_SCHEDULING), late)
    driver.decide()
    driver.see(named(late, POSSE), node("n2", cpu="9"))
    assert driver.bind(after=10) == {"p1": "n2"}


def test_gang_scheduling_off_groups_that_go_are_no_matter():
    driver = driven(without(Gate.GANG_SCHEDULING), *too_large(NATIVE))
    driver.lose(describing(NATIVE, 3))
    assert sorted(driver.bind()) == ["p1", "p2"]


@pytest.mark.parametrize(
    ("gate", "impossible", "answer"),
    [
        (Gate.COMPOSITE_POD_GROUP, {"parent_composite_pod_group_name": "parent"}, []),
        (
            Gate.TOPOLOGY_AWARE_WORKLOAD_SCHEDULING,
            {"scheduling_constraints": CONSTRAINTS},
            ["Unschedulable"],
        ),
    ],
)
def test_gate_off_what_a_stored_group_asks_for_is_not_acted_upon(gate, impossible, answer):
    objects = [gang(minimum=1, **impossible), pod("p1", cpu="1", group="g1")]
    assert [reason for _, _, reason, _ in group_reports(driven(ALL_GATES, *objects).decide())] == answer
    assert driven(without(gate), *objects).bind() == {"p1": "n1"}


def test_pod_group_preemption_policy_off_members_are_not_held_to_that_of_the_group():
    objects = [
        gang(minimum=1, priority=0, preemption_policy="PreemptLowerPriority"),
        pod("p1", cpu="1", group="g1", preemption_policy="Never"),
    ]
    off = without(Gate.POD_GROUP_PREEMPTION_POLICY)
    assert driven(ALL_GATES, *objects, members_must_match=True).bind() == {}
    assert driven(off, *objects, members_must_match=True).bind() == {"p1": "n1"}


@pytest.mark.parametrize("members_must_match", [False, True])
def test_workload_aware_preemption_off_a_group_counts_with_the_lowest_priority_of_its_pods(
    members_must_match,
):
    group = [
        gang(minimum=2, priority=1000, preemption_policy="Never"),
        pod("p1", cpu="1", group="g1", priority=10),
        pod("p2", cpu="1", group="g1", priority=5),
    ]
    single = pod("single", cpu="2", priority=7, created="2027-01-01T00:00:00Z")
    off = without(Gate.WORKLOAD_AWARE_PREEMPTION)
    assert driven(off, *group, members_must_match=members_must_match).bind() == {"p1": "n1", "p2": "n1"}
    assert driven(off, *group, single).bind() == {"single": "n1"}


def test_workload_aware_preemption_off_a_tree_counts_with_the_lowest_priority_of_its_pods():
    tree = [
        composite("root", 2, priority=1000),
        child("g1", 1, "root", priority=1000),
        child("g2", 1, "root", priority=1000),
        pod("p1", cpu="1", group="g1", priority=10),
        pod("p2", cpu="1", group="g2", priority=5),
    ]
    single = pod("single", cpu="2", priority=7, created="2027-01-01T00:00:00Z")
    off = without(Gate.WORKLOAD_AWARE_PREEMPTION)
    assert driven(off, *tree).bind() == {"p1": "n1", "p2": "n1"}
    assert driven(off, *tree, single).bind() == {"single": "n1"}
    assert driven(ALL_GATES, *tree, single).bind() == {"p1": "n1", "p2": "n1"}


def test_desired_count_off_nobody_waits_for_pods_that_are_expected():
    objects = [basic_group(expected=3), pod("p1", cpu="1", group="g1")]
    assert driven(ALL_GATES, *objects).bind() == {}
    assert driven(without(Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT), *objects).bind() == {"p1": "n1"}


def test_desired_count_off_a_gang_waits_for_its_minimum_all_the_same():
    gates = without(Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT)
    assert driven(gates, gang(minimum=2), pod("p1", cpu="1", group="g1")).bind() == {}


ONE_BY_ONE = without(Gate.WORKLOAD_AWARE_PREEMPTION)
AT_ONCE = ONE_BY_ONE - {Gate.DELAYED_PREEMPTION}


def urgent_gang(minimum, **description):
    members = [pod(f"m{i}", group="g1", priority=9, **({"cpu": "1"} | description)) for i in range(minimum)]
    return [gang(minimum=minimum, priority=9), *members]


def whole_group(*names):
    mode = DisruptionMode(all=AllDisruptionMode())
    yield gang("low", minimum=1, priority=0, disruption_mode=mode)
    yield from (pod(name, cpu="1", on="n1", group="low", priority=0) for name in names)


def test_workload_aware_preemption_off_members_have_room_made_one_by_one():
    lows = [pod("a", cpu="1", on="n1"), pod("b", cpu="1", on="n1")]
    driver = driven(ONE_BY_ONE, *lows, *urgent_gang(2))
    decisions = driver.decide()
    assert evicted(decisions) == ["a", "b"]
    driver.lose(*lows)
    assert driver.bind() == {"m0": "n1", "m1": "n1"}


def test_workload_aware_preemption_off_nobody_else_goes_while_the_first_victims_end():
    lows = [pod("a", cpu="1", on="n1"), pod("b", cpu="1", on="n1")]
    driver = driven(ONE_BY_ONE, *lows, pod("c", cpu="1", on="n2"), node("n2", cpu="1"), *urgent_gang(2))
    assert len(evicted(driver.decide())) == 2
    assert evicted(driver.decide(after=400)) == []


def test_workload_aware_preemption_off_groups_that_go_as_one_do_so_no_more():
    everybody = driven(ALL_GATES, *whole_group("a", "b"), *urgent_gang(1)).decide()
    assert evicted(everybody) == ["a", "b"]
    assert len(evicted(driven(ONE_BY_ONE, *whole_group("a", "b"), *urgent_gang(1)).decide())) == 1


def test_workload_aware_preemption_off_a_pod_evicts_one_of_a_group_that_goes_as_one():
    urgent = pod("p", cpu="1", priority=9)
    assert evicted(driven(ALL_GATES, *whole_group("a", "b"), urgent).decide()) == ["a", "b"]
    assert len(evicted(driven(ONE_BY_ONE, *whole_group("a", "b"), urgent).decide())) == 1


def test_delayed_preemption_nobody_is_evicted_for_a_gang_that_does_not_fit_even_so():
    lows = [pod("a", cpu="1", on="n1"), pod("b", cpu="1", on="n1", priority=9)]
    for gates in (ALL_GATES, ONE_BY_ONE, without(Gate.DELAYED_PREEMPTION)):
        assert evicted(driven(gates, *lows, *urgent_gang(2)).decide()) == []


def test_delayed_preemption_off_victims_go_though_the_gang_does_not_fit_even_so():
    lows = [pod("a", cpu="1", on="n1"), pod("b", cpu="1", on="n1", priority=9)]
    driver = driven(AT_ONCE, *lows, *urgent_gang(2))
    decisions = driver.decide()
    assert evicted(decisions) == ["a"]
    ((_, _, _, message),) = group_reports(decisions)
    assert message.endswith("preempting 1 victim for some of its pods, though it does not fit yet.")
    driver.lose(lows[0])
    assert evicted(driver.decide(after=400)) == []


def test_workload_aware_preemption_off_equal_members_that_fit_nowhere_are_not_tried_again_and_again():
    driver = driven(ONE_BY_ONE, pod("a", cpu="1", on="n1"), *urgent_gang(3, cpu="9"))
    assert evicted(driver.decide()) == []


def test_workload_with_job_off_changes_no_decision():
    objects = [gang(minimum=2), pod("p1", cpu="1", group="g1"), pod("p2", cpu="1", group="g1")]
    off = driven(without(Gate.WORKLOAD_WITH_JOB), *objects)
    assert off.decide() == driven(ALL_GATES, *objects).decide()
