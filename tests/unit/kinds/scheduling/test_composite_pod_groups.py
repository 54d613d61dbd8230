"""CompositePodGroup: what differs from PodGroup, and that what is shared holds here too."""

import pytest

from posse.kinds.registry import COMPOSITE_POD_GROUP
from posse.model.decoding import unknown_fields

IMMUTABLE = "Invalid value: null: field is immutable"
GROUP = {
    "metadata": {"name": "cpg", "namespace": "ns"},
    "spec": {
        "workloadRef": {"workloadName": "wl", "templateName": "root"},
        "schedulingPolicy": {"gang": {"minGroupCount": 2}},
        "schedulingConstraints": {"topology": [{"key": "block"}]},
        "priorityClassName": "high",
        "priority": 5,
    },
}


def test_good(problems):
    assert problems(COMPOSITE_POD_GROUP, GROUP) == []
    assert problems(COMPOSITE_POD_GROUP, GROUP, {"spec": {"parentCompositePodGroupName": "up"}}) == []


def test_defaults():
    group = {"metadata": {}}
    COMPOSITE_POD_GROUP.rules.default(group)
    assert group["spec"] == {"disruptionMode": {"single": {}}}


REFUSED_SPECS = {
    "no workload": ({"workloadRef": None}, ["spec.workloadRef: Required value"]),
    "empty workload": (
        {"workloadRef": {"workloadName": None, "templateName": ""}},
        ["spec.workloadRef.workloadName: Required value", "spec.workloadRef.templateName: Required value"],
    ),
    "no policy": (
        {"schedulingPolicy": None},
        ['spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'],
    ),
    "two policies": (
        {"schedulingPolicy": {"basic": {}}},
        [
            'spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`'
        ],
    ),
    "minGroupCount 0": (
        {"schedulingPolicy": {"gang": {"minGroupCount": 0}}},
        ["spec.schedulingPolicy.gang.minGroupCount: Required value"],
    ),
    "minGroupCount -2": (
        {"schedulingPolicy": {"gang": {"minGroupCount": -2}}},
        ["spec.schedulingPolicy.gang.minGroupCount: Invalid value: -2: must be greater than or equal to 1"],
    ),
    "two topology entries": (
        {"schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}},
        ["spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item"],
    ),
    "priority": (
        {"priority": 2_000_001_001},
        ["spec.priority: Invalid value: 2000001001: must be less than or equal to 2000001000"],
    ),
}


@pytest.mark.parametrize(("spec", "expected"), REFUSED_SPECS.values(), ids=REFUSED_SPECS.keys())
def test_refused_on_create(problems, spec, expected):
    assert problems(COMPOSITE_POD_GROUP, GROUP, {"spec": spec}) == expected


FIXED = {
    "parentCompositePodGroupName": "up",
    "workloadRef": {"templateName": "other"},
    "schedulingConstraints": {"topology": [{"key": "rack"}]},
    "disruptionMode": {"single": None, "all": {}},
    "priorityClassName": "low",
    "priority": 6,
    "preemptionPolicy": "Never",
}


@pytest.mark.parametrize("field", FIXED)
def test_nearly_the_whole_spec_is_fixed(update_problems, field):
    patch = {"spec": {field: FIXED[field]}}
    assert update_problems(COMPOSITE_POD_GROUP, GROUP, patch) == [f"spec.{field}: {IMMUTABLE}"]


def test_the_minimum_may_change_but_not_the_policy(update_problems):
    fewer = {"spec": {"schedulingPolicy": {"gang": {"minGroupCount": 1}}}}
    assert update_problems(COMPOSITE_POD_GROUP, GROUP, fewer) == []
    basic = {"spec": {"schedulingPolicy": {"gang": None, "basic": {}}}}
    assert update_problems(COMPOSITE_POD_GROUP, GROUP, basic)
    none = {"spec": {"schedulingPolicy": {"gang": {"minGroupCount": 0}}}}
    assert update_problems(COMPOSITE_POD_GROUP, GROUP, none) == [
        "spec.schedulingPolicy.gang.minGroupCount: Required value"
    ]


def test_status_conditions_are_checked(update_problems):
    patch = {"status": {"conditions": [{"type": "CompositePodGroupInitiallyScheduled", "status": "True"}]}}
    assert update_problems(COMPOSITE_POD_GROUP, GROUP, patch) == [
        "status.conditions[0].lastTransitionTime: Required value: must be set",
        "status.conditions[0].reason: Required value: must be set",
    ]


def test_a_group_of_groups_expects_no_number_of_pods():
    body = {"spec": {"schedulingPolicy": {"basic": {"desiredCount": 3}}}}
    assert unknown_fields(COMPOSITE_POD_GROUP.struct, body) == ["spec.schedulingPolicy.basic.desiredCount"]
