"""What a feature gate that is off takes away from objects: what clients send is dropped, what is stored stays."""

import random

import pytest

from posse.apiserver.service import ApiService
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    NAMESPACE,
    POD,
    POD_GROUP,
    POSSE_POD_GROUP,
    PRIORITY_CLASS,
    WORKLOAD,
)
from posse.model.feature_gates import ALL_GATES, NEEDS, Gate
from posse.store.store import Store
from posse.transport.patches import MERGE_PATCH, Patch

NS = "default"
CONSTRAINTS = {"topology": [{"key": "example.com/rack"}]}
REFERENCE = {"workloadName": "w", "templateName": "t"}
BASIC = {"basic": {"desiredCount": 3}}


def without(gate):
    return ALL_GATES - {gate} - {one for one, needs in NEEDS.items() if gate in needs}


@pytest.fixture
def store(clock):
    store = Store(history_limit=100)
    ApiService(store, clock, random.Random(7)).create(NAMESPACE, "", {"metadata": {"name": NS}})
    return store


@pytest.fixture
def serving(store, clock):
    """Serve the same objects with other gates."""

    def serve(gates=ALL_GATES):
        return ApiService(store, clock, random.Random(7), gates)

    return serve


def group(kind=POD_GROUP, name="g", **spec):
    policy = {"schedulingPolicy": {"basic": {}}}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"name": name},
        "spec": policy | spec,
    }


def workload(*templates, **spec):
    listed = [{"name": f"t{i}", "schedulingPolicy": {"basic": {}}} | part for i, part in enumerate(templates)]
    return {
        "apiVersion": WORKLOAD.api_version,
        "kind": "Workload",
        "metadata": {"name": "w"},
        "spec": ({"podGroupTemplates": listed} if listed else {}) | spec,
    }


def scheduling_group_pod(pod):
    return pod(schedulingGroup={"podGroupName": "g"})


def spec_of(service, kind, body):
    return service.create(kind, NS, body)["spec"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("schedulingGroup", {"podGroupName": "g"}), ("workloadRef", {"name": "w", "podGroup": "workers"})],
)
def test_generic_workload_off_pods_name_no_group(serving, pod, field, value):
    assert spec_of(serving(), POD, pod("on", **{field: value}))[field] == value
    assert field not in spec_of(serving(without(Gate.GENERIC_WORKLOAD)), POD, pod("off", **{field: value}))


GROUP_FIELDS = {
    "parent": (Gate.COMPOSITE_POD_GROUP, "parentCompositePodGroupName", "parent"),
    "topology": (Gate.TOPOLOGY_AWARE_WORKLOAD_SCHEDULING, "schedulingConstraints", CONSTRAINTS),
    "disruption": (Gate.WORKLOAD_AWARE_PREEMPTION, "disruptionMode", {"all": {}}),
    "policy": (Gate.POD_GROUP_PREEMPTION_POLICY, "preemptionPolicy", "PreemptLowerPriority"),
}


@pytest.mark.parametrize(("gate", "field", "value"), GROUP_FIELDS.values(), ids=GROUP_FIELDS)
def test_gate_off_group_field_dropped(serving, gate, field, value):
    body = {"workloadRef": REFERENCE, field: value}
    assert spec_of(serving(), POD_GROUP, group(name="on", **body))[field] == value
    assert field not in spec_of(serving(without(gate)), POD_GROUP, group(name="off", **body))


def test_desired_count_off_group_field_dropped(serving):
    off = without(Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT)
    assert (
        spec_of(serving(), POD_GROUP, group(name="on", schedulingPolicy=BASIC))["schedulingPolicy"] == BASIC
    )
    spec = spec_of(serving(off), POD_GROUP, group(name="off", schedulingPolicy=BASIC))
    assert spec["schedulingPolicy"] == {"basic": {}}


@pytest.mark.parametrize("kind", [POD_GROUP, COMPOSITE_POD_GROUP], ids=["group", "composite"])
def test_preemption_policy_off_it_is_neither_defaulted_nor_judged(serving, refused, kind):
    """With the gate on, one that differs from the PriorityClass is refused; with the gate off it is not read."""
    body = group(kind, workloadRef=REFERENCE, preemptionPolicy="Never")
    assert "PreemptionPolicy (Never) must not be provided" in str(refused(serving().create, kind, NS, body))
    off = serving(without(Gate.POD_GROUP_PREEMPTION_POLICY))
    assert "preemptionPolicy" not in spec_of(off, kind, body)
    assert "preemptionPolicy" not in spec_of(off, kind, group(kind, "silent", workloadRef=REFERENCE))


def test_preemption_by_groups_off_the_policy_of_a_group_is_neither_read_nor_filled_in(serving):
    """It belongs to the priority, which means nothing then."""
    off = serving(without(Gate.WORKLOAD_AWARE_PREEMPTION))
    assert "preemptionPolicy" not in spec_of(off, POD_GROUP, group(preemptionPolicy="Never"))
    silent = spec_of(off, POD_GROUP, group(name="silent"))
    assert not {"priority", "preemptionPolicy"} & set(silent)


def test_preemption_policy_off_priorities_are_resolved_all_the_same(serving):
    off = serving(without(Gate.POD_GROUP_PREEMPTION_POLICY))
    high = {"metadata": {"name": "high"}, "value": 7, "preemptionPolicy": "Never"}
    off.create(PRIORITY_CLASS, "", high)
    spec = spec_of(off, POD_GROUP, group(priorityClassName="high"))
    assert spec["priority"] == 7
    assert "preemptionPolicy" not in spec


@pytest.mark.parametrize(
    ("gate", "field", "value"),
    [
        (Gate.TOPOLOGY_AWARE_WORKLOAD_SCHEDULING, "schedulingConstraints", CONSTRAINTS),
        (Gate.POD_GROUP_PREEMPTION_POLICY, "preemptionPolicy", "Never"),
        (Gate.WORKLOAD_AWARE_PREEMPTION, "disruptionMode", {"all": {}}),
    ],
)
def test_gate_off_template_field_dropped(serving, gate, field, value):
    spec = spec_of(serving(without(gate)), WORKLOAD, workload({}, {field: value}))
    assert [template["name"] for template in spec["podGroupTemplates"]] == ["t0", "t1"]
    assert all(field not in template for template in spec["podGroupTemplates"])


def test_desired_count_off_dropped_in_templates_at_any_depth(serving):
    leaf = {"name": "leaf", "schedulingPolicy": BASIC}
    inner = {"name": "inner", "schedulingPolicy": {"basic": {}}, "podGroupTemplates": [leaf]}
    outer = {"name": "outer", "schedulingPolicy": {"basic": {}}, "compositePodGroupTemplates": [inner]}
    off = serving(without(Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT))
    made = spec_of(off, WORKLOAD, workload(compositePodGroupTemplates=[outer]))
    found = made["compositePodGroupTemplates"][0]["compositePodGroupTemplates"][0]["podGroupTemplates"][0]
    assert found == {"name": "leaf", "schedulingPolicy": {"basic": {}}}


def test_composite_pod_group_off_a_workload_of_nothing_else_has_no_templates(serving, refused):
    leaf = {"name": "leaf", "schedulingPolicy": {"basic": {}}}
    tree = {"name": "tree", "schedulingPolicy": {"basic": {}}, "podGroupTemplates": [leaf]}
    body = workload(compositePodGroupTemplates=[tree])
    error = refused(serving(without(Gate.COMPOSITE_POD_GROUP)).create, WORKLOAD, NS, body)
    assert "must specify one of: `podGroupTemplates`, `compositePodGroupTemplates`" in str(error)


def test_gate_switched_off_later_what_is_stored_stays(serving, pod):
    gates = without(Gate.GENERIC_WORKLOAD)
    serving().create(POD, NS, scheduling_group_pod(pod))
    serving().create(POD_GROUP, NS, group(schedulingConstraints=CONSTRAINTS, schedulingPolicy=BASIC))
    patch = Patch(MERGE_PATCH, {"metadata": {"labels": {"seen": "yes"}}})
    assert serving(gates).patch(POD, NS, "p", patch)["spec"]["schedulingGroup"] == {"podGroupName": "g"}
    kept = serving(gates).patch(POD_GROUP, NS, "g", patch)["spec"]
    assert kept["schedulingConstraints"] == CONSTRAINTS
    assert kept["schedulingPolicy"] == BASIC
    assert kept["preemptionPolicy"] == "PreemptLowerPriority"


def test_gate_off_an_update_cannot_begin_to_use_the_field(serving):
    off = serving(without(Gate.WORKLOAD_BASIC_POLICY_DESIRED_COUNT))
    off.create(POD_GROUP, NS, group())
    patch = Patch(MERGE_PATCH, {"spec": {"schedulingPolicy": BASIC}})
    assert off.patch(POD_GROUP, NS, "g", patch)["spec"]["schedulingPolicy"] == {"basic": {}}
    on = serving().patch(POD_GROUP, NS, "g", patch)
    assert on["spec"]["schedulingPolicy"] == BASIC


def test_gate_switched_on_later_groups_without_a_policy_can_still_be_written(serving):
    """Filling it in then would change a field that is fixed, and keep the group from ever losing its finalizer."""
    serving(without(Gate.POD_GROUP_PREEMPTION_POLICY)).create(POD_GROUP, NS, group())
    patch = Patch(MERGE_PATCH, {"metadata": {"labels": {"seen": "yes"}}})
    written = serving().patch(POD_GROUP, NS, "g", patch)
    assert written["metadata"]["labels"] == {"seen": "yes"}
    assert "preemptionPolicy" not in written["spec"]


def test_groups_of_crds_are_not_gated(serving):
    body = group(POSSE_POD_GROUP, schedulingPolicy=BASIC)
    spec = spec_of(serving(without(Gate.GENERIC_WORKLOAD)), POSSE_POD_GROUP, body)
    assert spec["schedulingPolicy"] == BASIC
