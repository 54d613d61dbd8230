"""Pods leave devices that are tainted NoExecute, at once or after the seconds that they tolerate."""

import pytest

from posse.controllers.devices.taint_eviction import DeviceTaintEviction
from posse.controllers.steps import Amend, Delete
from posse.kinds.registry import DEVICE_TAINT_RULE, POD, RESOURCE_CLAIM, RESOURCE_SLICE
from posse.model.timestamps import parse_timestamp
from tests.support.plans import steps_of

ADDED = "2026-01-01T00:00:00Z"
START = parse_timestamp(ADDED)
TAINT = {"key": "broken", "value": "yes", "effect": "NoExecute", "timeAdded": ADDED}
GANG = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "gang", "uid": "g"}


def taint_slice(*taints):
    devices = [{"name": "gpu-0", "taints": list(taints)}]
    spec = {"driver": "d", "pool": {"name": "n1"}, "devices": devices}
    return {"metadata": {"name": "s"}, "spec": spec}


def rule(selector, **taint):
    return {"metadata": {"name": "r"}, "spec": {"deviceSelector": selector, "taint": TAINT | taint}}


def claim(*tolerations, consumer=None):
    result = {"driver": "d", "pool": "n1", "device": "gpu-0", "tolerations": list(tolerations)}
    consumer = consumer or {"resource": "pods", "name": "p", "uid": "p"}
    status = {"allocation": {"devices": {"results": [result]}}, "reservedFor": [consumer]}
    return {"metadata": {"namespace": "ns", "name": "c"}, "status": status}


def pod(**spec):
    entries = [{"name": "gpu", "resourceClaimName": "c"}]
    metadata = {"namespace": "ns", "name": "p", "uid": "p"}
    return {"metadata": metadata, "spec": {"nodeName": "n1", "resourceClaims": entries, **spec}}


def controller(*objects):
    made = DeviceTaintEviction()
    for kind, obj in objects:
        made.see(kind, obj)
    return made


def is_evicted(plan):
    return [type(step) for step in steps_of(plan)] == [Amend, Delete]


def test_a_taint_of_a_slice_evicts():
    made = controller((POD, pod()), (RESOURCE_CLAIM, claim()), (RESOURCE_SLICE, taint_slice()))
    assert not is_evicted(made.plan("p", START))
    made.touched.take(10)
    made.see(RESOURCE_SLICE, taint_slice(TAINT))
    assert made.touched.take(10) == ["p"]
    assert is_evicted(made.plan("p", START))


@pytest.mark.parametrize(
    ("selector", "evicts"),
    [
        ({}, True),
        ({"driver": "d", "pool": "n1", "device": "gpu-0"}, True),
        ({"device": "gpu-1"}, False),
        (None, False),
    ],
)
def test_rules_taint_the_devices_that_they_select(selector, evicts):
    made = controller((POD, pod()), (RESOURCE_CLAIM, claim()), (DEVICE_TAINT_RULE, rule(selector)))
    assert is_evicted(made.plan("p", START)) is evicts


def test_other_effects_evict_nobody():
    made = controller(
        (POD, pod()), (RESOURCE_CLAIM, claim()), (DEVICE_TAINT_RULE, rule({}, effect="NoSchedule"))
    )
    assert not is_evicted(made.plan("p", START))


@pytest.mark.parametrize(
    ("toleration", "due"),
    [
        ({"operator": "Exists"}, None),
        ({"key": "broken", "operator": "Equal", "value": "yes"}, None),
        ({"key": "broken", "operator": "Equal", "value": "no"}, 0),
        ({"key": "broken", "operator": "Exists", "effect": "NoSchedule"}, 0),
        ({"key": "broken", "operator": "Exists", "tolerationSeconds": 30}, 30),
        ({"key": "broken", "operator": "Exists", "tolerationSeconds": -5}, 0),
    ],
)
def test_tolerations(toleration, due):
    made = controller((POD, pod()), (RESOURCE_CLAIM, claim(toleration)), (RESOURCE_SLICE, taint_slice(TAINT)))
    plan = made.plan("p", START)
    assert is_evicted(plan) is (due == 0)
    assert plan.wake_at == (START + due if due else None)
    assert is_evicted(made.plan("p", START + 30)) is (due is not None)


def test_members_of_a_group_that_holds_the_claim():
    member = pod(schedulingGroup={"podGroupName": "gang"})
    made = controller(
        (POD, member), (RESOURCE_SLICE, taint_slice(TAINT)), (RESOURCE_CLAIM, claim(consumer=GANG))
    )
    assert is_evicted(made.plan("p", START))
    stranger = controller(
        (POD, pod()), (RESOURCE_SLICE, taint_slice(TAINT)), (RESOURCE_CLAIM, claim(consumer=GANG))
    )
    assert not is_evicted(stranger.plan("p", START))
