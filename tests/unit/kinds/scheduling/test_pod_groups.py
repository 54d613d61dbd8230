"""PodGroup: defaults, and each rule with the field and the words it is refused with."""

import pytest

from posse.kinds.registry import POD_GROUP

LABEL_HINT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN_HINT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
IMMUTABLE = "Invalid value: null: field is immutable"

GANG = {
    "metadata": {"name": "pg", "namespace": "ns"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}},
}
BASIC = {"metadata": {"name": "pg", "namespace": "ns"}, "spec": {"schedulingPolicy": {"basic": {}}}}
FULL = {
    "metadata": {"name": "pg", "namespace": "ns"},
    "spec": {
        "parentCompositePodGroupName": "parent",
        "workloadRef": {"workloadName": "wl", "templateName": "workers"},
        "schedulingPolicy": {"gang": {"minCount": 3}},
        "schedulingConstraints": {"topology": [{"key": "example.com/rack"}]},
        "resourceClaims": [
            {"name": "a", "resourceClaimName": "claim"},
            {"name": "b", "resourceClaimTemplateName": "template"},
        ],
        "disruptionMode": {"all": {}},
        "priorityClassName": "high",
        "priority": 1_000_000_000,
        "preemptionPolicy": "Never",
    },
}


@pytest.mark.parametrize("group", [GANG, BASIC, FULL], ids=["gang", "basic", "full"])
def test_good_groups(problems, group):
    assert problems(POD_GROUP, group) == []


def test_defaults():
    group = {"metadata": {}, "spec": {"schedulingPolicy": {"basic": {}}}}
    POD_GROUP.rules.default(group)
    assert group["spec"] == {"schedulingPolicy": {"basic": {}}, "disruptionMode": {"single": {}}}


def test_who_does_not_state_the_policy_in_an_update_leaves_it_as_it_is():
    old = {"spec": {"preemptionPolicy": "Never"}}
    new = {"spec": {}}
    POD_GROUP.rules.prepare_update(new, old)
    assert new["spec"]["preemptionPolicy"] == "Never"


def test_defaults_leave_what_is_set():
    group = {"spec": {"disruptionMode": {"all": {}}, "preemptionPolicy": "Never"}}
    POD_GROUP.rules.default(group)
    assert group == {"spec": {"disruptionMode": {"all": {}}, "preemptionPolicy": "Never"}}


def test_status_is_cleared_on_create():
    group = {"metadata": {}, "status": {"conditions": []}}
    POD_GROUP.rules.prepare_create(group)
    assert "status" not in group


REFUSED_SPECS = {
    "no policy": (
        {"schedulingPolicy": None},
        'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
    ),
    "empty policy": (
        {"schedulingPolicy": {"gang": None}},
        'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
    ),
    "two policies": (
        {"schedulingPolicy": {"basic": {}}},
        'spec.schedulingPolicy: Invalid value: "{basic, gang}": must specify exactly one of: `basic`, `gang`',
    ),
    "minCount 0": (
        {"schedulingPolicy": {"gang": {"minCount": 0}}},
        "spec.schedulingPolicy.gang.minCount: Required value",
    ),
    "minCount absent": (
        {"schedulingPolicy": {"gang": {"minCount": None}}},
        "spec.schedulingPolicy.gang.minCount: Required value",
    ),
    "minCount -1": (
        {"schedulingPolicy": {"gang": {"minCount": -1}}},
        "spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1",
    ),
    "priority too high": (
        {"priority": 2_000_001_001},
        "spec.priority: Invalid value: 2000001001: must be less than or equal to 2000001000",
    ),
    "bad class name": (
        {"priorityClassName": "A_b"},
        f'spec.priorityClassName: Invalid value: "A_b": {SUBDOMAIN_HINT}',
    ),
    "bad preemption policy": (
        {"preemptionPolicy": "X"},
        'spec.preemptionPolicy: Unsupported value: "X": supported values: "Never", "PreemptLowerPriority"',
    ),
    "two topology entries": (
        {"schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}},
        "spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item",
    ),
    "topology without key": (
        {"schedulingConstraints": {"topology": [{}]}},
        "spec.schedulingConstraints.topology[0].key: Required value",
    ),
    "topology key with an empty prefix": (
        {"schedulingConstraints": {"topology": [{"key": "/rack"}]}},
        'spec.schedulingConstraints.topology[0].key: Invalid value: "/rack": prefix part must be non-empty',
    ),
    "empty disruption mode": (
        {"disruptionMode": {}},
        'spec.disruptionMode: Invalid value: "": must specify one of: `single`, `all`',
    ),
    "two disruption modes": (
        {"disruptionMode": {"single": {}, "all": {}}},
        'spec.disruptionMode: Invalid value: "{single, all}": must specify exactly one of: `single`, `all`',
    ),
    "parent without workload": (
        {"parentCompositePodGroupName": "p"},
        "spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set",
    ),
    "bad parent": (
        {
            "parentCompositePodGroupName": "",
            "workloadRef": {"workloadName": "w", "templateName": "t"},
        },
        f'spec.parentCompositePodGroupName: Invalid value: "": {SUBDOMAIN_HINT}',
    ),
    "bad template name": (
        {"workloadRef": {"workloadName": "w", "templateName": "A_b"}},
        f'spec.workloadRef.templateName: Invalid value: "A_b": {LABEL_HINT}',
    ),
    "too many claims": (
        {"resourceClaims": [{"name": f"c{n}", "resourceClaimName": "c"} for n in range(5)]},
        "spec.resourceClaims: Too many: 5: must have at most 4 items",
    ),
    "claim without source": (
        {"resourceClaims": [{"name": "c"}]},
        (
            'spec.resourceClaims[0]: Invalid value: "": must specify one of: `resourceClaimName`, '
            "`resourceClaimTemplateName`"
        ),
    ),
    "claim with two sources": (
        {"resourceClaims": [{"name": "c", "resourceClaimName": "a", "resourceClaimTemplateName": "b"}]},
        (
            'spec.resourceClaims[0]: Invalid value: "{resourceClaimName, resourceClaimTemplateName}": must specify '
            "exactly one of: `resourceClaimName`, `resourceClaimTemplateName`"
        ),
    ),
    "claim without name": (
        {"resourceClaims": [{"resourceClaimName": "c"}]},
        "spec.resourceClaims[0].name: Required value",
    ),
    "same claim name twice": (
        {
            "resourceClaims": [
                {"name": "c", "resourceClaimName": "a"},
                {"name": "c", "resourceClaimName": "b"},
            ]
        },
        'spec.resourceClaims[1]: Duplicate value: {"name":"c","resourceClaimName":"b"}',
    ),
    "bad claim source": (
        {"resourceClaims": [{"name": "c", "resourceClaimName": "A"}]},
        f'spec.resourceClaims[0].resourceClaimName: Invalid value: "A": {SUBDOMAIN_HINT}',
    ),
}


@pytest.mark.parametrize(("spec", "problem"), REFUSED_SPECS.values(), ids=REFUSED_SPECS.keys())
def test_refused_on_create(problems, spec, problem):
    assert problems(POD_GROUP, GANG, {"spec": spec}) == [problem]


def test_empty_workload_reference_misses_both_names(problems):
    assert problems(POD_GROUP, GANG, {"spec": {"workloadRef": {}}}) == [
        "spec.workloadRef.workloadName: Required value",
        "spec.workloadRef.templateName: Required value",
    ]


def test_several_errors_are_all_told(problems):
    assert len(problems(POD_GROUP, GANG, {"metadata": {"name": ""}, "spec": {"disruptionMode": {}}})) == 2


def test_basic_group_without_spec(problems):
    assert problems(POD_GROUP, {"metadata": {"name": "pg", "namespace": "ns"}}) == [
        'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'
    ]


FIXED = {
    "parentCompositePodGroupName": "other",
    "workloadRef": {"templateName": "leader"},
    "schedulingConstraints": None,
    "resourceClaims": None,
    "disruptionMode": {"all": None, "single": {}},
    "priorityClassName": "low",
    "priority": 0,
    "preemptionPolicy": "PreemptLowerPriority",
}


@pytest.mark.parametrize("field", FIXED)
def test_fixed_after_creation(update_problems, field):
    patch = {"spec": {field: FIXED[field]}}
    assert update_problems(POD_GROUP, FULL, patch) == [f"spec.{field}: {IMMUTABLE}"]


def test_setting_a_fixed_field_later_is_a_change(update_problems):
    assert update_problems(POD_GROUP, GANG, {"spec": {"priority": 0}}) == [f"spec.priority: {IMMUTABLE}"]


def test_removing_the_workload_of_a_child(update_problems):
    assert update_problems(POD_GROUP, FULL, {"spec": {"workloadRef": None}}) == [
        "spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set",
        f"spec.workloadRef: {IMMUTABLE}",
    ]


@pytest.mark.parametrize(
    ("group", "policy", "expected"),
    [
        (GANG, {"gang": {"minCount": 7}}, []),
        (
            GANG,
            {"gang": {"minCount": -1}},
            [
                "spec.schedulingPolicy.gang.minCount: Invalid value: -1: must be greater than or equal to 1",
            ],
        ),
        (
            GANG,
            {"gang": None, "basic": {}},
            [
                f"spec.schedulingPolicy.basic: {IMMUTABLE}",
                "spec.schedulingPolicy.gang: Invalid value: null: field cannot be cleared once set",
            ],
        ),
        (
            BASIC,
            {"gang": {"minCount": 0}, "basic": None},
            [
                f"spec.schedulingPolicy.basic: {IMMUTABLE}",
                "spec.schedulingPolicy.gang: Invalid value: null: field cannot be set once created",
            ],
        ),
        (
            GANG,
            {"gang": None},
            [
                'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`',
                "spec.schedulingPolicy.gang: Invalid value: null: field cannot be cleared once set",
            ],
        ),
    ],
)
def test_changes_of_policy(update_problems, group, policy, expected):
    assert update_problems(POD_GROUP, group, {"spec": {"schedulingPolicy": policy}}) == expected


def test_what_was_accepted_once_is_not_judged_again(update_problems):
    group = {
        "metadata": {"name": "pg", "namespace": "ns"},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": 0}},
            "priorityClassName": "A_b",
            "disruptionMode": {},
        },
    }
    assert update_problems(POD_GROUP, group, {"metadata": {"labels": {"a": "b"}}}) == []


def test_policy_membership_is_judged_again_only_when_it_changes(update_problems):
    both = {
        "metadata": {"name": "pg", "namespace": "ns"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": 1}, "basic": {}}},
    }
    assert update_problems(POD_GROUP, both, {"spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}}) == []


CONDITION = {
    "type": "PodGroupInitiallyScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "0/3 nodes are available",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}


def test_good_status(update_problems):
    status = {
        "conditions": [CONDITION],
        "resourceClaimStatuses": [{"name": "a", "resourceClaimName": "claim-xyz"}],
    }
    assert update_problems(POD_GROUP, FULL, {"status": status}) == []


STATUS_CASES = {
    "unknown claim": (
        {"resourceClaimStatuses": [{"name": "x"}]},
        (
            'status.resourceClaimStatuses[0].name: Invalid value: "x": must match the name of an entry in '
            "`spec.resourceClaims`"
        ),
    ),
    "too many claims": (
        {"resourceClaimStatuses": [{"name": "a"}] * 5},
        "status.resourceClaimStatuses: Too many: 5: must have at most 4 items",
    ),
    "condition without type": (
        {"conditions": [CONDITION | {"type": "a/"}]},
        'status.conditions[0].type: Invalid value: "a/": name part must be non-empty',
    ),
    "condition status": (
        {"conditions": [CONDITION | {"status": "Maybe"}]},
        'status.conditions[0].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
    ),
    "condition without time": (
        {"conditions": [{**CONDITION, "lastTransitionTime": ""}]},
        "status.conditions[0].lastTransitionTime: Required value: must be set",
    ),
    "condition without reason": (
        {"conditions": [CONDITION | {"reason": ""}]},
        "status.conditions[0].reason: Required value: must be set",
    ),
    "reason too long": (
        {"conditions": [CONDITION | {"reason": "R" * 1025}]},
        "status.conditions[0].reason: Too long: may not be more than 1024 bytes",
    ),
    "message too long": (
        {"conditions": [CONDITION | {"message": "m" * 32769}]},
        "status.conditions[0].message: Too long: may not be more than 32768 bytes",
    ),
    "negative generation": (
        {"conditions": [CONDITION | {"observedGeneration": -1}]},
        "status.conditions[0].observedGeneration: Invalid value: -1: must be greater than or equal to zero",
    ),
    "same type twice": (
        {"conditions": [CONDITION, CONDITION]},
        'status.conditions[1].type: Duplicate value: "PodGroupInitiallyScheduled"',
    ),
}


@pytest.mark.parametrize(("status", "problem"), STATUS_CASES.values(), ids=STATUS_CASES.keys())
def test_refused_status(update_problems, status, problem):
    assert problem in update_problems(POD_GROUP, FULL, {"status": status})


def test_bad_reason(update_problems):
    found = update_problems(POD_GROUP, FULL, {"status": {"conditions": [CONDITION | {"reason": "1st"}]}})
    assert [text.split(" must ")[0] for text in found] == [
        'status.conditions[0].reason: Invalid value: "1st": a condition reason'
    ]


def test_status_is_not_written_by_the_main_resource_nor_spec_by_status():
    old = {"metadata": {"name": "pg", "resourceVersion": "1"}, "spec": {"a": 1}, "status": {"s": 1}}
    new = {"metadata": {"name": "pg", "labels": {"l": "1"}}, "spec": {"a": 2}, "status": {"s": 2}}
    POD_GROUP.rules.prepare_update(new, old)
    assert new["status"] == {"s": 1}
    assert new["spec"] == {"a": 2}

    new = {"metadata": {"resourceVersion": "7", "labels": {"l": "1"}}, "spec": {"a": 2}, "status": {"s": 2}}
    POD_GROUP.rules.prepare_status_update(new, old)
    assert new == {"metadata": {"name": "pg", "resourceVersion": "7"}, "spec": {"a": 1}, "status": {"s": 2}}


def test_status_that_never_was_is_dropped():
    new = {"metadata": {}, "status": {"s": 2}}
    POD_GROUP.rules.prepare_update(new, {"metadata": {}})
    assert "status" not in new


def test_update_needs_a_version():
    assert not POD_GROUP.rules.allow_unconditional_update


def expecting(count):
    return {"schedulingPolicy": {"basic": {"desiredCount": count}}}


def test_how_many_members_a_basic_group_expects_is_a_positive_number(problems):
    assert problems(POD_GROUP, BASIC, {"spec": expecting(1)}) == []
    for count in (0, -1):
        assert problems(POD_GROUP, BASIC, {"spec": expecting(count)}) == [
            f"spec.schedulingPolicy.basic.desiredCount: Invalid value: {count}: must be greater than or equal to 1"
        ]


def test_how_many_members_a_basic_group_expects_may_change(update_problems):
    expects_three = BASIC | {"spec": expecting(3)}
    assert update_problems(POD_GROUP, BASIC, {"spec": expecting(3)}) == []
    assert update_problems(POD_GROUP, expects_three, {"spec": expecting(8)}) == []
    assert update_problems(POD_GROUP, expects_three, {"spec": expecting(None)}) == []
    [refused] = update_problems(POD_GROUP, expects_three, {"spec": expecting(0)})
    assert refused.startswith("spec.schedulingPolicy.basic.desiredCount: Invalid value: 0")
