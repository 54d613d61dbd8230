"""Whatever is sent, an object is either taken or refused in words; nothing else ever happens.

Valid objects are damaged at random places: types changed, fields dropped, lists repeated, odd texts and numbers put in.
"""

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.kinds.admission import admit_create
from posse.kinds.machinery.errors import ApiError, FieldError, invalid
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    DEVICE_CLASS,
    NAMESPACE,
    NODE,
    POD,
    POD_GROUP,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    WORKLOAD,
)
from posse.model.decoding import ShapeError, decode
from tests.support.effort import up_to

METADATA = {
    "name": "x",
    "namespace": "ns",
    "labels": {"app": "a"},
    "annotations": {"note": "text"},
    "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u", "controller": True}],
    "finalizers": ["example.com/guard"],
    "creationTimestamp": "2026-01-01T00:00:00Z",
}
GROUP_SPEC = {
    "schedulingConstraints": {"topology": [{"key": "rack"}]},
    "disruptionMode": {"all": {}},
    "priorityClassName": "high",
    "priority": 1000,
    "preemptionPolicy": "PreemptLowerPriority",
}
CONDITION = {
    "type": "PodGroupInitiallyScheduled",
    "status": "True",
    "reason": "Scheduled",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
LEAF = {
    "name": "leaf",
    "schedulingPolicy": {"gang": {"minCount": 2}},
    "resourceClaims": [{"name": "c", "resourceClaimName": "claim"}],
    **GROUP_SPEC,
}
BRANCH = {
    "name": "branch",
    "schedulingPolicy": {"gang": {"minGroupCount": 1}},
    "podGroupTemplates": [LEAF],
    **GROUP_SPEC,
}
REQUIREMENT = {"key": "a", "operator": "In", "values": ["x"]}
POD_TERM = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [REQUIREMENT]}, "namespaces": ["n"]}
NODE_TERM = {
    "matchExpressions": [REQUIREMENT, {"key": "n", "operator": "Gt", "values": ["3"]}],
    "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
}
SELECTOR = {"cel": {"expression": "device.driver == 'gpu.example.com'"}}
DEVICE_REQUEST = {
    "deviceClassName": "gpu",
    "selectors": [SELECTOR],
    "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute"}],
    "capacity": {"requests": {"memory": "1Gi"}},
}
ALLOCATED = {"driver": "gpu.example.com", "pool": "n/gpus", "device": "gpu-0"}
VALID = {
    POD_GROUP: {
        "metadata": METADATA,
        "spec": {
            **GROUP_SPEC,
            "schedulingPolicy": {"gang": {"minCount": 3}},
            "parentCompositePodGroupName": "parent",
            "workloadRef": {"workloadName": "wl", "templateName": "t"},
            "resourceClaims": [{"name": "c", "resourceClaimName": "claim"}],
        },
        "status": {"conditions": [CONDITION], "resourceClaimStatuses": [{"name": "c"}]},
    },
    COMPOSITE_POD_GROUP: {
        "metadata": METADATA,
        "spec": {
            **GROUP_SPEC,
            "schedulingPolicy": {"gang": {"minGroupCount": 3}},
            "workloadRef": {"workloadName": "wl", "templateName": "t"},
        },
        "status": {"conditions": [CONDITION]},
    },
    WORKLOAD: {
        "metadata": METADATA,
        "spec": {
            "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"},
            "compositePodGroupTemplates": [
                BRANCH | {"name": "root", "podGroupTemplates": [], "compositePodGroupTemplates": [BRANCH]}
            ],
        },
    },
    POD: {
        "metadata": METADATA,
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "i:1",
                    "ports": [{"containerPort": 80, "hostPort": 80}],
                    "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": 2, "example.com/gpu": "1"}},
                    "env": [{"name": "A"}],
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                }
            ],
            "initContainers": [{"name": "i", "image": "i", "restartPolicy": "Always"}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "p"}}],
            "priorityClassName": "high",
            "nodeSelector": {"a": "b"},
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [NODE_TERM]},
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": 1, "preference": NODE_TERM}
                    ],
                },
                "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [POD_TERM]},
            },
            "tolerations": [
                {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
            ],
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2}
            ],
            "schedulingGates": [{"name": "example.com/gate"}],
            "schedulingGroup": {"podGroupName": "g"},
            "overhead": {"cpu": "10m"},
            "resources": {"requests": {"cpu": "3"}},
        },
        "status": {"containerStatuses": [{"name": "c", "ready": True, "state": {"running": {}}}]},
    },
    NODE: {
        "metadata": {"name": "n"},
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        "status": {
            "capacity": {"cpu": "4"},
            "allocatable": {"cpu": "3"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        },
    },
    RESOURCE_SLICE: {
        "metadata": {"name": "s"},
        "spec": {
            "driver": "gpu.example.com",
            "pool": {"name": "n/gpus", "generation": 1, "resourceSliceCount": 1},
            "nodeName": "n",
            "devices": [
                {
                    "name": "gpu-0",
                    "allowMultipleAllocations": True,
                    "attributes": {"model": {"string": "a100"}, "example.com/driver": {"version": "1.2.3"}},
                    "capacity": {
                        "memory": {
                            "value": "40Gi",
                            "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}},
                        }
                    },
                    "taints": [{"key": "a", "effect": "NoExecute"}],
                    "consumesCounters": [{"counterSet": "set", "counters": {"slices": {"value": "1"}}}],
                    "bindingConditions": ["attached"],
                    "bindingFailureConditions": ["failed"],
                }
            ],
        },
    },
    RESOURCE_CLAIM: {
        "metadata": METADATA,
        "spec": {
            "devices": {
                "requests": [
                    {"name": "gpu", "exactly": DEVICE_REQUEST},
                    {"name": "any", "firstAvailable": [{"name": "big", **DEVICE_REQUEST}]},
                ],
                "constraints": [{"requests": ["gpu", "any/big"], "matchAttribute": "example.com/numa"}],
                "config": [{"opaque": {"driver": "gpu.example.com", "parameters": {}}}],
            }
        },
        "status": {
            "allocation": {"devices": {"results": [{"request": "gpu", **ALLOCATED}]}},
            "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}],
            "devices": [{**ALLOCATED, "conditions": [CONDITION], "data": {}}],
        },
    },
    DEVICE_CLASS: {
        "metadata": {"name": "c"},
        "spec": {"selectors": [SELECTOR], "extendedResourceName": "example.com/gpu"},
    },
}
NOW = 1_767_225_600.0

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(
        ["", "-1", "1e999999999", "A_b", "a" * 300, "Gt", "Exists", "NoExecute", [], {}, [{}], [[]]]
    ),
)


class Cluster:
    def get(self, kind, _namespace, name):
        if kind is NAMESPACE:
            return {"metadata": {"name": name}}
        return {"metadata": {"name": name}, "value": 1000} if name == "high" else None

    def list(self, _kind, _namespace):
        return []


def places(node, path=()):
    """All paths into a JSON value, the value itself excluded."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from places(child, (*path, key))


def damage(draw, obj):
    *above, last = draw(st.sampled_from(list(places(obj))))
    parent = obj
    for key in above:
        parent = parent[key]
    match draw(st.sampled_from(["replace", "drop", "repeat", "wrap"])):
        case "drop":
            del parent[last]
        case "repeat" if isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
        case "wrap":
            parent[last] = [copy.deepcopy(parent[last])]
        case _:
            parent[last] = copy.deepcopy(draw(junk))


@st.composite
def damaged_objects(draw):
    kind = draw(st.sampled_from(list(VALID)))
    obj = copy.deepcopy(VALID[kind])
    for _ in range(draw(st.integers(0, 3))):
        if list(places(obj)):
            damage(draw, obj)
    return kind, obj


def judged(kind, obj):
    """The way of a create request; None when the object is refused before its values are looked at."""
    kind.rules.default(obj)
    try:
        admit_create(kind, obj, Cluster())
        kind.rules.prepare_create(obj)
        return kind.rules.validate(decode(kind.struct, obj))
    except (ApiError, ShapeError):
        return None


def test_the_undamaged_objects_are_good():
    for kind, obj in VALID.items():
        assert judged(kind, copy.deepcopy(obj)) == []


@settings(max_examples=up_to(300), deadline=None)
@given(damaged_objects())
def test_a_new_object_is_taken_or_refused_in_words(damaged):
    kind, obj = damaged
    errors = judged(kind, obj)
    if errors is None:
        return
    assert all(isinstance(error, FieldError) and error.field and error.body() for error in errors)
    if errors:
        assert invalid(kind, "x", errors).status["details"]["causes"]
    else:
        assert all(column.cell(obj, NOW) is not None for column in kind.columns)


@settings(max_examples=up_to(300), deadline=None)
@given(damaged_objects())
def test_a_change_is_taken_or_refused_in_words(damaged):
    kind, obj = damaged
    before = copy.deepcopy(VALID[kind])
    kind.rules.default(before)
    kind.rules.default(obj)
    try:
        new, old = decode(kind.struct, obj), decode(kind.struct, before)
    except ShapeError:
        return
    for errors in (kind.rules.validate_update(new, old), kind.rules.validate_update(old, new)):
        assert all(isinstance(error, FieldError) and error.body() for error in errors)
    assert kind.rules.validate_update(new, new) == [] or kind is WORKLOAD


@settings(max_examples=up_to(100), deadline=None)
@given(damaged_objects())
def test_preparing_never_touches_the_old_object(damaged):
    kind, obj = damaged
    old = copy.deepcopy(VALID[kind])
    for prepare in (kind.rules.prepare_update, kind.rules.prepare_status_update):
        new = copy.deepcopy(obj)
        if isinstance(new.get("metadata"), dict):
            prepare(new, old)
        assert old == VALID[kind]
