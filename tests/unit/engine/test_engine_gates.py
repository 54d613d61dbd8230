"""What feature gates change about decisions: each on and off, for the same cluster."""

import pytest

from posse.engine.decisions import Form
from posse.engine.engine import EngineOptions
from posse.model.feature_gates import ALL_GATES, NEEDS, Gate
from posse.model.workload import SchedulingConstraints, TopologyConstraint
from tests.builders import basic_group, gang, node, pod
from tests.driving import Driver, binds, group_reports
from tests.group_form_parts import describing, member, named

CONSTRAINTS = SchedulingConstraints(topology=(TopologyConstraint(key="rack"),))


def without(gate):
    return ALL_GATES - {gate} - {one for one, needs in NEEDS.items() if gate in needs}


def driven(gates, *objects):
    return Driver(node("n1", cpu="2"), *objects, options=EngineOptions(gates=gates))


def too_large(form):
    """A gang of three where only two fit."""
    return [describing(form, 3), *(member(f"p{i}", form, cpu="1") for i in (1, 2, 3))]


@pytest.mark.parametrize("gate", [Gate.GENERIC_WORKLOAD, Gate.GANG_SCHEDULING])
@pytest.mark.parametrize("form", Form, ids=lambda form: form.name)
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
    driver.see(named(late, Form.POSSE), node("n2", cpu="9"))
    assert driver.bind(after=10) == {"p1": "n2"}


def test_gang_scheduling_off_groups_that_go_are_no_matter():
    driver = driven(without(Gate.GANG_SCHEDULING), *too_large(Form.NATIVE))
    driver.lose(describing(Form.NATIVE, 3))
    assert sorted(driver.bind()) == ["p1", "p2"]


@pytest.mark.parametrize(
    ("gate", "impossible", "answer"),
    [
        (Gate.COMPOSITE_POD_GROUP, {"parent_composite_pod_group_name": "parent"}, "SchedulerError"),
        (
            Gate.TOPOLOGY_AWARE_WORKLOAD_SCHEDULING,
            {"scheduling_constraints": CONSTRAINTS},
            "Unschedulable",
        ),
    ],
)
def test_gate_off_what_a_stored_group_asks_for_is_not_acted_upon(gate, impossible, answer):
    objects = [gang(minimum=1, **impossible), pod("p1", cpu="1", group="g1")]
    assert [reason for _, _, reason, _ in group_reports(driven(ALL_GATES, *objects).decide())] == [answer]
    assert driven(without(gate), *objects).bind() == {"p1": "n1"}


def test_pod_group_preemption_policy_off_members_are_not_held_to_that_of_the_group():
    objects = [
        gang(minimum=1, preemption_policy="PreemptLowerPriority"),
        pod("p1", cpu="1", group="g1", preemption_policy="Never"),
    ]
    assert driven(ALL_GATES, *objects).bind() == {}
    assert driven(without(Gate.POD_GROUP_PREEMPTION_POLICY), *objects).bind() == {"p1": "n1"}


def test_desired_count_off_nobody_waits_for_pods_that_are_expected():
    objects = [basic_group(expected=3), pod("p1", cpu="1", group="g1")]
    assert driven(ALL_GATES, *objects).bind() == {}
    assert driven(without(Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT), *objects).bind() == {"p1": "n1"}


def test_desired_count_off_a_gang_waits_for_its_minimum_all_the_same():
    gates = without(Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT)
    assert driven(gates, gang(minimum=2), pod("p1", cpu="1", group="g1")).bind() == {}


@pytest.mark.parametrize(
    "gate", [Gate.WORKLOAD_AWARE_PREEMPTION, Gate.DELAYED_PREEMPTION, Gate.WORKLOAD_WITH_JOB]
)
def test_gates_without_effect_change_no_decision(gate):
    objects = [gang(minimum=2), pod("p1", cpu="1", group="g1"), pod("p2", cpu="1", group="g1")]
    assert driven(without(gate), *objects).decide() == driven(ALL_GATES, *objects).decide()
