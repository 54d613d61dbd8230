"""What of a pod may change after its creation, and what a gated pod may still be told."""

import pytest

from posse.kinds.registry import POD

TERM = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x"]}]}
NARROWER = {"matchExpressions": [*TERM["matchExpressions"], {"key": "b", "operator": "Exists"}]}
TOLERATION = {"key": "a", "operator": "Exists", "effect": "NoExecute"}
FORBIDDEN = (
    "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"
    "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
    "tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def node_affinity(*terms):
    selector = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}


POD_OBJECT = {
    "metadata": {"name": "p", "namespace": "ns"},
    "spec": {
        "containers": [{"name": "c", "image": "i:1"}],
        "initContainers": [{"name": "d", "image": "i:1"}],
        "activeDeadlineSeconds": 100,
        "terminationGracePeriodSeconds": -5,
        "tolerations": [TOLERATION],
        "nodeSelector": {"disk": "ssd"},
        "affinity": node_affinity(TERM),
        "schedulingGroup": {"podGroupName": "g"},
    },
}
GATED = {
    "metadata": {"name": "p", "namespace": "ns"},
    "spec": POD_OBJECT["spec"] | {"schedulingGates": [{"name": "a.b/c"}, {"name": "a.b/d"}]},
}

ALLOWED = {
    "image": (POD_OBJECT, {"containers": [{"name": "c", "image": "i:2", "imagePullPolicy": "IfNotPresent"}]}),
    "deadline": (POD_OBJECT, {"activeDeadlineSeconds": 50}),
    "grace": (POD_OBJECT, {"terminationGracePeriodSeconds": 1}),
    "toleration": (POD_OBJECT, {"tolerations": [TOLERATION, {"operator": "Exists"}]}),
    "toleration seconds": (POD_OBJECT, {"tolerations": [TOLERATION | {"tolerationSeconds": 9}]}),
    "gate removed": (GATED, {"schedulingGates": [{"name": "a.b/d"}]}),
    "all gates removed": (GATED, {"schedulingGates": None}),
    "selector while gated": (GATED, {"nodeSelector": {"disk": "ssd", "gpu": "yes"}}),
    "narrower while gated": (GATED, {"affinity": node_affinity(NARROWER)}),
    "preference while gated": (
        GATED,
        {
            "affinity": {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": TERM}]
                }
            }
        },
    ),
    "first affinity while gated": (
        {"metadata": GATED["metadata"], "spec": {**GATED["spec"], "affinity": {}}},
        {"affinity": node_affinity(TERM, NARROWER)},
    ),
}


@pytest.mark.parametrize(("pod", "patch"), ALLOWED.values(), ids=ALLOWED.keys())
def test_allowed(update_problems, pod, patch):
    assert update_problems(POD, pod, {"spec": patch}) == []


NODES = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
REFUSED = {
    "node name": (POD_OBJECT, {"nodeName": "n"}, [f"{FORBIDDEN}; changed: spec.nodeName"]),
    "group": (
        POD_OBJECT,
        {"schedulingGroup": {"podGroupName": "h"}},
        [f"{FORBIDDEN}; changed: spec.schedulingGroup"],
    ),
    "priority and requests": (
        POD_OBJECT,
        {
            "priority": 1,
            "containers": [{"name": "c", "image": "i:1", "resources": {"requests": {"cpu": "1"}}}],
        },
        [f"{FORBIDDEN}; changed: spec.containers, spec.priority"],
    ),
    "container added": (
        POD_OBJECT,
        {"initContainers": [{"name": "d", "image": "i:1"}, {"name": "e", "image": "i:1"}]},
        [f"{FORBIDDEN}; changed: spec.initContainers"],
    ),
    "grace": (
        POD_OBJECT,
        {"terminationGracePeriodSeconds": 2},
        [f"{FORBIDDEN}; changed: spec.terminationGracePeriodSeconds"],
    ),
    "selector once ungated": (
        POD_OBJECT,
        {"nodeSelector": {"gpu": "yes"}},
        [f"{FORBIDDEN}; changed: spec.nodeSelector"],
    ),
    "pod affinity while gated": (
        GATED,
        {"affinity": {"podAffinity": {}}},
        [f"{FORBIDDEN}; changed: spec.affinity"],
    ),
    "longer deadline": (
        POD_OBJECT,
        {"activeDeadlineSeconds": 101},
        ["spec.activeDeadlineSeconds: Invalid value: 101: must be less than or equal to previous value"],
    ),
    "no deadline": (
        POD_OBJECT,
        {"activeDeadlineSeconds": None},
        [
            "spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"
        ],
    ),
    "toleration removed": (
        POD_OBJECT,
        {"tolerations": []},
        ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
    ),
    "gate added": (
        GATED,
        {"schedulingGates": [{"name": "a.b/e"}]},
        [
            "spec.schedulingGates[0]: Forbidden: only deletion is allowed, but found new scheduling gate 'a.b/e'"
        ],
    ),
    "other nodes while gated": (
        GATED,
        {"nodeSelector": {"disk": "hdd"}},
        [
            (
                'spec.nodeSelector: Invalid value: {"disk":"hdd"}: '
                "only additions are allowed to spec.nodeSelector (no mutations or deletions)"
            )
        ],
    ),
    "term dropped while gated": (
        GATED,
        {"affinity": None},
        [
            f"{NODES}: Invalid value: []: no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        ],
    ),
    "term changed while gated": (
        GATED,
        {"affinity": node_affinity({"matchExpressions": [{"key": "z", "operator": "Exists"}]})},
        [
            (
                f'{NODES}[0]: Invalid value: {{"matchExpressions":[{{"key":"z","operator":"Exists"}}]}}: '
                "only additions are allowed (no mutations or deletions)"
            )
        ],
    ),
}


@pytest.mark.parametrize(("pod", "patch", "expected"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(update_problems, pod, patch, expected):
    assert update_problems(POD, pod, {"spec": patch}) == expected


def test_status_is_free_but_for_names(update_problems):
    assert update_problems(POD, POD_OBJECT, {"status": {"phase": "Running", "podIP": "10.0.0.1"}}) == []
    found = update_problems(POD, POD_OBJECT, {"status": {"nominatedNodeName": "A_b"}})
    assert found[0].startswith(
        'status.nominatedNodeName: Invalid value: "A_b": a lowercase RFC 1123 subdomain'
    )


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ({"status": "True"}, "status.conditions[0].type: Required value"),
        (
            {"type": "Ready", "status": "Maybe"},
            (
                'status.conditions[0].status: Unsupported value: "Maybe": '
                'supported values: "False", "True", "Unknown"'
            ),
        ),
    ],
)
def test_conditions_say_what_holds_and_whether(update_problems, condition, problem):
    assert update_problems(POD, POD_OBJECT, {"status": {"conditions": [condition]}}) == [problem]
    had_it = POD_OBJECT | {"status": {"conditions": [condition]}}
    assert update_problems(POD, had_it, {"status": {"phase": "Running"}}) == []


@pytest.mark.parametrize("change", [None, {"podGroup": "other"}, {"podGroupReplicaKey": "2"}])
def test_membership_of_a_workload_is_for_good(update_problems, change):
    reference = {"name": "w", "podGroup": "g", "podGroupReplicaKey": "1"}
    spec = {**POD_OBJECT["spec"], "schedulingGroup": None, "workloadRef": reference}
    member = {"metadata": POD_OBJECT["metadata"], "spec": spec}
    [problem] = update_problems(POD, member, {"spec": {"workloadRef": change}})
    assert problem == f"{FORBIDDEN}; changed: spec.workloadRef"
