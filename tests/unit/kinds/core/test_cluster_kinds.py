"""Nodes, namespaces, priority classes, storage classes and volumes: kinds that belong to the cluster as a whole."""

import pytest

from posse.kinds.registry import (
    CSI_DRIVER,
    CSI_NODE,
    NAMESPACE,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    PRIORITY_CLASS,
    STORAGE_CLASS,
)

NODE_OBJECT = {
    "metadata": {"name": "n1"},
    "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]},
    "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": 110, "example.com/gpu": 8}},
}


def test_good_node(problems):
    assert problems(NODE, NODE_OBJECT) == []


def test_a_node_may_offer_more_than_can_be_counted_in_thousandths(problems):
    obj = {"metadata": {"name": "n1"}, "status": {"allocatable": {"ex.com/bytes": "100Pi"}}}
    assert problems(NODE, obj) == []


def test_allocatable_is_capacity_unless_said():
    node = {"status": {"capacity": {"cpu": "4"}}}
    NODE.rules.default(node)
    assert node["status"]["allocatable"] == {"cpu": "4"}
    said = {"status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"}}}
    NODE.rules.default(said)
    assert said["status"]["allocatable"] == {"cpu": "3"}


def test_a_new_node_keeps_its_status():
    node = {"metadata": {}, "status": {"capacity": {"cpu": "4"}}}
    NODE.rules.prepare_create(node)
    assert node["status"] == {"capacity": {"cpu": "4"}}


def test_status_updates_of_a_node_may_touch_labels_but_not_spec():
    old = {"metadata": {"name": "n"}, "spec": {"unschedulable": True}, "status": {"a": 1}}
    new = {"metadata": {"name": "n", "labels": {"l": "1"}}, "spec": {}, "status": {"a": 2}}
    NODE.rules.prepare_status_update(new, old)
    assert new == {
        "metadata": {"name": "n", "labels": {"l": "1"}},
        "spec": {"unschedulable": True},
        "status": {"a": 2},
    }


NODE_CASES = {
    "no key": ({"spec": {"taints": [{"effect": "NoSchedule"}]}}, "spec.taints[0].key: Required value"),
    "no effect": ({"spec": {"taints": [{"key": "a"}]}}, "spec.taints[0].effect: Required value"),
    "effect": (
        {"spec": {"taints": [{"key": "a", "effect": "No"}]}},
        (
            'spec.taints[0].effect: Unsupported value: "No": '
            'supported values: "NoExecute", "NoSchedule", "PreferNoSchedule"'
        ),
    ),
    "twice": (
        {"spec": {"taints": [{"key": "a", "effect": "NoExecute", "value": v} for v in "xy"]}},
        'spec.taints[1]: Duplicate value: {"key":"a","value":"y","effect":"NoExecute"}',
    ),
    "negative": (
        {"status": {"allocatable": {"cpu": "-4"}}},
        'status.allocatable[cpu]: Invalid value: "-4": must be greater than or equal to 0',
    ),
    "part of a device": (
        {"status": {"allocatable": {"example.com/gpu": "1.5"}}},
        'status.allocatable[example.com/gpu]: Invalid value: "1.5": must be an integer',
    ),
    "condition without a type": (
        {"status": {"conditions": [{"status": "True"}]}},
        "status.conditions[0].type: Required value",
    ),
    "condition without a status": (
        {"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Fine"}]}},
        'status.conditions[1].status: Unsupported value: "": supported values: "False", "True", "Unknown"',
    ),
}


@pytest.mark.parametrize(("patch", "problem"), NODE_CASES.values(), ids=NODE_CASES.keys())
def test_refused_node(problems, update_problems, patch, problem):
    assert problems(NODE, NODE_OBJECT, patch) == [problem]
    assert update_problems(NODE, NODE_OBJECT, patch) == [problem]


def test_conditions_a_node_had_before_there_were_rules_do_not_hold_it_up(update_problems):
    node = NODE_OBJECT | {"status": {"conditions": [{"type": "Ready"}]}}
    more = {"status": {"conditions": [{"type": "Fine", "status": "True"}, {"type": "Ready"}]}}
    assert update_problems(NODE, node, more) == []


def test_new_namespace():
    namespace = {"metadata": {"name": "team"}, "status": {"phase": "Terminating"}}
    NAMESPACE.rules.default(namespace)
    NAMESPACE.rules.prepare_create(namespace)
    assert namespace == {
        "metadata": {"name": "team", "labels": {"kubernetes.io/metadata.name": "team"}},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def test_namespace_finalizers_are_not_the_main_resources_business():
    old = {"metadata": {"name": "a"}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
    new = {"metadata": {"name": "a"}, "spec": {"finalizers": []}}
    NAMESPACE.rules.prepare_update(new, old)
    assert (new["spec"], new["status"]) == (old["spec"], old["status"])


def priority_class(name, value, **fields):
    return {"metadata": {"name": name}, "value": value, **fields}


PRIORITY_CASES = {
    "user": (priority_class("high", 1_000_000_000), []),
    "system": (priority_class("system-node-critical", 2_000_001_000), []),
    "too high": (
        priority_class("high", 1_000_000_001),
        ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
    ),
    "reserved": (
        priority_class("system-mine", 1),
        [
            (
                "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use "
                "only. error: system-mine is not a known system priority class"
            )
        ],
    ),
    "system, other value": (
        priority_class("system-node-critical", 1),
        [
            (
                "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use "
                "only. error: value of system-node-critical PriorityClass must be 2000001000"
            )
        ],
    ),
    "system, default": (
        priority_class("system-node-critical", 2_000_001_000, globalDefault=True),
        [
            (
                "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use "
                "only. error: globalDefault of system-node-critical PriorityClass must be false"
            )
        ],
    ),
    "policy": (
        priority_class("high", 1, preemptionPolicy="X"),
        ['preemptionPolicy: Unsupported value: "X": supported values: "Never", "PreemptLowerPriority"'],
    ),
}


@pytest.mark.parametrize(("obj", "expected"), PRIORITY_CASES.values(), ids=PRIORITY_CASES.keys())
def test_priority_class(problems, obj, expected):
    assert problems(PRIORITY_CLASS, obj) == expected


def test_priority_class_is_fixed(update_problems):
    old = priority_class("high", 5)
    assert update_problems(PRIORITY_CLASS, old, {"value": 6, "preemptionPolicy": "Never"}) == [
        "value: Forbidden: may not be changed in an update.",
        'preemptionPolicy: Invalid value: "Never": field is immutable',
    ]
    assert update_problems(PRIORITY_CLASS, old, {"globalDefault": True, "description": "x"}) == []


CLAIM = {
    "metadata": {"name": "c", "namespace": "ns"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
VOLUME = {
    "metadata": {"name": "v"},
    "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"}},
}


def test_storage_defaults():
    claim, volume, storage_class = {"spec": {}}, {"spec": {}}, {"provisioner": "x"}
    PERSISTENT_VOLUME_CLAIM.rules.default(claim)
    PERSISTENT_VOLUME_CLAIM.rules.prepare_create(claim)
    PERSISTENT_VOLUME.rules.default(volume)
    PERSISTENT_VOLUME.rules.prepare_create(volume)
    STORAGE_CLASS.rules.default(storage_class)
    assert claim == {"spec": {"volumeMode": "Filesystem"}, "status": {"phase": "Pending"}}
    assert volume == {
        "spec": {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
        "status": {"phase": "Pending"},
    }
    assert storage_class == {
        "provisioner": "x",
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
    }


STORAGE_CASES = {
    "claim": (PERSISTENT_VOLUME_CLAIM, CLAIM, {}, []),
    "volume": (PERSISTENT_VOLUME, VOLUME, {}, []),
    "claim without modes": (
        PERSISTENT_VOLUME_CLAIM,
        CLAIM,
        {"spec": {"accessModes": []}},
        ["spec.accessModes: Required value: at least 1 access mode is required"],
    ),
    "claim without size": (
        PERSISTENT_VOLUME_CLAIM,
        CLAIM,
        {"spec": {"resources": None}},
        ["spec.resources.requests[storage]: Required value"],
    ),
    "volume of negative size": (
        PERSISTENT_VOLUME,
        VOLUME,
        {"spec": {"capacity": {"storage": "-1"}}},
        ['spec.capacity[storage]: Invalid value: "-1": must be greater than or equal to 0'],
    ),
    "volume on no node": (
        PERSISTENT_VOLUME,
        VOLUME,
        {"spec": {"nodeAffinity": {"required": {}}}},
        [
            (
                "spec.nodeAffinity.required.nodeSelectorTerms: Required value: "
                "must have at least one node selector term"
            )
        ],
    ),
    "volume with empty affinity": (
        PERSISTENT_VOLUME,
        VOLUME,
        {"spec": {"nodeAffinity": {}}},
        ["spec.nodeAffinity.required: Required value"],
    ),
    "class without provisioner": (
        STORAGE_CLASS,
        {"metadata": {"name": "s"}},
        {},
        ["provisioner: Required value"],
    ),
    "drivers of a node": (
        CSI_NODE,
        {"metadata": {"name": "n"}},
        {"spec": {"drivers": [{"name": "d", "nodeID": "i", "allocatable": {"count": 3}}]}},
        [],
    ),
    "driver without identity": (
        CSI_NODE,
        {"metadata": {"name": "n"}},
        {"spec": {"drivers": [{"name": "", "allocatable": {"count": -1}}]}},
        [
            "spec.drivers[0].name: Required value",
            "spec.drivers[0].nodeID: Required value",
            "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0",
        ],
    ),
    "driver": (CSI_DRIVER, {"metadata": {"name": "csi.example.com"}}, {}, []),
    "binding mode": (
        STORAGE_CLASS,
        {"metadata": {"name": "s"}, "provisioner": "x"},
        {"volumeBindingMode": "Late"},
        [
            (
                'volumeBindingMode: Unsupported value: "Late": '
                'supported values: "Immediate", "WaitForFirstConsumer"'
            )
        ],
    ),
}


@pytest.mark.parametrize(
    ("kind", "obj", "patch", "expected"), STORAGE_CASES.values(), ids=STORAGE_CASES.keys()
)
def test_storage(problems, kind, obj, patch, expected):
    assert problems(kind, obj, patch) == expected


def test_access_modes_are_known(problems):
    found = problems(PERSISTENT_VOLUME, VOLUME, {"spec": {"accessModes": ["Sometimes"]}})
    assert found[0].startswith(
        'spec.accessModes: Unsupported value: "Sometimes": supported values: "ReadOnlyMany"'
    )


def test_storage_class_is_fixed(update_problems):
    old = {"metadata": {"name": "s"}, "provisioner": "x"}
    patch = {"provisioner": "y", "parameters": {"a": "b"}, "volumeBindingMode": "WaitForFirstConsumer"}
    assert update_problems(STORAGE_CLASS, old, patch) == [
        "provisioner: Forbidden: updates to provisioner are forbidden.",
        "parameters: Forbidden: updates to parameters are forbidden.",
        'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ]
