"""Groups that no admission has looked at have the priority of their class, and no other."""

import pytest

from posse.engine.groups.forms import POSSE, WORKLOAD_REF
from posse.engine.options import EngineOptions
from posse.model.feature_gates import ALL_GATES, Gate
from tests.support.builders import changed, composite, node, nodes, pod, priority_class
from tests.support.engine_driver import (
    Driver,
    evicted,
    group_reports,
    group_warnings,
    placements,
    pod_reports,
)
from tests.support.group_forms import member, posse_gang, workload

HIGH, NEVER = priority_class("high", 1000), priority_class("calm", 1000, preemption_policy="Never")
DEFAULT = priority_class("usual", 77, global_default=True)
BILLION = 1_000_000_000


def running(**spec):
    return [member(f"p{i}", POSSE, cpu="1", on="n1", **spec) for i in (1, 2)]


def attacked(podgroup, *objects, by=50):
    """The pods that a single pod of that priority evicts from a full node of a gang with this object."""
    driver = Driver(*objects, node(cpu="2"), podgroup, *running(priority=0))
    driver.decide()
    driver.see(pod("urgent", cpu="1", priority=by))
    return evicted(driver.decide())


def test_a_number_that_no_class_gives_protects_nobody():
    assert attacked(posse_gang(priority=BILLION)) != []


def test_a_number_that_its_class_does_not_have_is_replaced_by_that_of_the_class():
    low = priority_class("low", 10)
    assert attacked(posse_gang(priority=BILLION, priority_class_name="low"), low) != []
    assert attacked(posse_gang(priority_class_name="high"), HIGH) == []


def test_a_recreated_group_is_ranked_anew_while_its_pods_run():
    driver = Driver(node(cpu="2"), posse_gang(), *running(priority=0))
    driver.decide()
    driver.lose(posse_gang())
    driver.see(posse_gang(uid="again", priority=BILLION), pod("urgent", cpu="1", priority=50))
    decisions = driver.decide()
    assert evicted(decisions) != []
    [(_, reason, message)] = group_warnings(decisions)
    assert (reason, message) == (
        "InvalidPriority",
        f"spec.priority: {BILLION} is given by no PriorityClass; name one that gives it",
    )


@pytest.mark.parametrize(
    ("spec", "classes", "message"),
    [
        (
            {"priority": 5},
            [HIGH],
            "spec.priority: 5 is given by no PriorityClass; name one that gives it",
        ),
        (
            {"priority": 5, "priority_class_name": "high"},
            [HIGH],
            "spec.priority: 5 is not the value of PriorityClass high, 1000",
        ),
        (
            {"priority_class_name": "high"},
            [],
            "spec.priorityClassName: no PriorityClass with name high was found",
        ),
        (
            {"priority_class_name": "calm", "preemption_policy": "PreemptLowerPriority"},
            [NEVER],
            "spec.preemptionPolicy: PreemptLowerPriority is not that of PriorityClass calm, Never",
        ),
    ],
    ids=["no class", "other number", "unknown class", "other policy"],
)
def test_a_waiting_group_with_a_wrong_priority_is_invalid(spec, classes, message):
    pods = [member(f"p{i}", POSSE, cpu="1") for i in (1, 2)]
    decisions = Driver(*classes, node(), posse_gang(**spec), *pods).decide()
    assert placements(decisions) == {}
    assert group_reports(decisions) == [("g1", False, "Invalid", message)]
    assert set(pod_reports(decisions).values()) == {("SchedulerError", message)}


@pytest.mark.parametrize(
    ("spec", "classes"),
    [
        ({}, [DEFAULT]),
        ({"priority": 0}, []),
        ({"priority": 0}, [DEFAULT]),
        ({"priority": 77}, [DEFAULT]),
        (
            {"priority": 1000, "priority_class_name": "high", "preemption_policy": "PreemptLowerPriority"},
            [HIGH],
        ),
    ],
    ids=["nothing", "zero", "zero before a default came", "the default's", "as admission fills it in"],
)
def test_what_admission_would_have_set_is_valid(spec, classes):
    pods = [member(f"p{i}", POSSE, cpu="1") for i in (1, 2)]
    driver = Driver(*classes, node(), posse_gang(**spec), *pods)
    assert sorted(driver.bind()) == ["p1", "p2"]


def test_a_group_waits_for_its_class_and_is_tried_when_that_comes():
    pods = [member(f"p{i}", POSSE, cpu="1") for i in (1, 2)]
    driver = Driver(node(), posse_gang(priority_class_name="high"), *pods)
    assert driver.bind() == {}
    driver.see(HIGH)
    assert sorted(driver.bind()) == ["p1", "p2"]


def test_the_preemption_policy_is_that_of_the_class():
    there = [pod("old", cpu="2", on="n1")]
    pods = [member(f"p{i}", POSSE, cpu="1", priority=1000) for i in (1, 2)]
    calm = Driver(NEVER, node(cpu="2"), *there, posse_gang(priority_class_name="calm"), *pods)
    assert evicted(calm.decide()) == []
    eager = Driver(HIGH, node(cpu="2"), *there, posse_gang(priority_class_name="high"), *pods)
    assert evicted(eager.decide()) == ["old"]


def test_a_template_of_a_workload_has_the_priority_of_its_class():
    low = [pod(f"low{i}", cpu="1", on=f"n{i}", priority=10) for i in (1, 2)]
    described = workload("w", a=2, priority_class_name="high")
    pods = [member(f"p{i}", WORKLOAD_REF, "w", cpu="1") for i in (1, 2)]
    driver = Driver(HIGH, *nodes(2, cpu="1"), *low, described, *pods)
    assert evicted(driver.decide()) == ["low1", "low2"]


def test_a_number_in_a_template_of_a_workload_is_not_trusted():
    pods = [member(f"p{i}", WORKLOAD_REF, "w", cpu="1") for i in (1, 2)]
    decisions = Driver(node(), workload("w", a=2, priority=BILLION), *pods).decide()
    assert placements(decisions) == {}
    assert {reason for reason, _ in pod_reports(decisions).values()} == {"SchedulerError"}


def test_a_tree_of_custom_resources_has_the_priority_of_the_class_of_its_root():
    root = changed(composite("root", priority_class_name="high"), api_version=f"{POSSE.name}/v1alpha1")
    leaf = posse_gang("g1", 1, priority_class_name="high", parent_composite_pod_group_name="root")
    driver = Driver(HIGH, node(cpu="1"), pod("old", cpu="1", on="n1", priority=10), root, leaf)
    driver.see(member("p1", POSSE, cpu="1"))
    assert evicted(driver.decide()) == ["old"]
    forged = changed(root, spec={"priority": BILLION})
    decisions = Driver(HIGH, node(cpu="1"), forged, leaf, member("p1", POSSE, cpu="1")).decide()
    assert {reason for _, _, reason, _ in group_reports(decisions)} == {"Invalid"}
    assert "CompositePodGroup root: spec.priority" in group_reports(decisions)[0][3]


def test_without_the_gate_classes_mean_nothing():
    gates = ALL_GATES - {Gate.WORKLOAD_AWARE_PREEMPTION}
    pods = [member(f"p{i}", POSSE, cpu="1") for i in (1, 2)]
    forged = posse_gang(priority=BILLION, priority_class_name="nonsense")
    driver = Driver(node(), forged, *pods, options=EngineOptions(gates=gates))
    assert sorted(driver.bind()) == ["p1", "p2"]
