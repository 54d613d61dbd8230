"""Groups as custom resources: what the API server makes of our definitions, in the release that needs them and the newest."""

import pytest
import yaml

from posse.control_plane.assets import NATIVE, find_program
from tests.cluster.posse_command import posse
from tests.support.stock_kubectl import Kubectl

pytestmark = pytest.mark.cluster

GANG = {"schedulingPolicy": {"gang": {"minCount": 2}}}
COMPOSITE = {"schedulingPolicy": {"gang": {"minGroupCount": 2}}}
REFERENCE = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
FLAT = {"podGroupTemplates": [{"name": "a", **GANG}, {"name": "b", **GANG}]}


def tree(levels, priorities=(None,)):
    """A Workload with so many levels of composite templates, and priorities from the top down."""
    node = {"podGroupTemplates": [{"name": "leaf", **GANG, **priority(priorities[-1])}]}
    for level in range(levels, 0, -1):
        inner = {"name": f"level-{level}", **COMPOSITE, **priority(priorities[0]), **node}
        node = {"compositePodGroupTemplates": [inner]}
    return node


def priority(value):
    return {} if value is None else {"priority": value}


@pytest.fixture(scope="module", params=["plane_without_groups", "plane"], ids=["1.33", "1.37"])
def kubectl(request, tmp_path_factory):
    control_plane = request.getfixturevalue(request.param)
    program = str(find_program(NATIVE, "kubectl"))
    stock = Kubectl(program, control_plane.kubeconfig(), tmp_path_factory.mktemp("home"))
    posse(control_plane, "install", "--form", "crd", "--apply")
    stock("wait crd --for condition=established --timeout 20s --all")
    return stock


def written(kind, spec, name="it"):
    identity = {"apiVersion": "scheduling.posse.dev/v1alpha1", "kind": kind, "metadata": {"name": name}}
    return yaml.safe_dump(identity | {"spec": spec})


@pytest.mark.parametrize(
    ("kind", "spec", "complaint"),
    [
        ("PodGroup", {}, "spec.schedulingPolicy: Required value"),
        (
            "PodGroup",
            {"schedulingPolicy": {}},
            "spec.schedulingPolicy: Invalid value: must specify exactly one of: `basic`, `gang`",
        ),
        (
            "PodGroup",
            {"schedulingPolicy": {"gang": {"minCount": 1}, "basic": {}}},
            "spec.schedulingPolicy: Invalid value: must specify exactly one of: `basic`, `gang`",
        ),
        (
            "PodGroup",
            {"schedulingPolicy": {"gang": {}}},
            "spec.schedulingPolicy.gang.minCount: Required value",
        ),
        (
            "PodGroup",
            {"schedulingPolicy": {"gang": {"minCount": 0}}},
            "spec.schedulingPolicy.gang.minCount in body should be greater than or equal to 1",
        ),
        (
            "PodGroup",
            {"schedulingPolicy": {"basic": {"desiredCount": 0}}},
            "spec.schedulingPolicy.basic.desiredCount in body should be greater than or equal to 1",
        ),
        (
            "PodGroup",
            GANG | {"priority": 2_000_001_001},
            "spec.priority in body should be less than or equal to",
        ),
        ("PodGroup", GANG | {"preemptionPolicy": "Ask"}, 'spec.preemptionPolicy: Unsupported value: "Ask"'),
        (
            "PodGroup",
            GANG | {"parentCompositePodGroupName": "p"},
            "spec.workloadRef: Required value: must be set when parentCompositePodGroupName is set",
        ),
        (
            "PodGroup",
            GANG | {"schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}},
            "spec.schedulingConstraints.topology: Too many: 2",
        ),
        (
            "PodGroup",
            GANG | {"schedulingConstraints": {"topology": [{"key": "no key"}]}},
            "spec.schedulingConstraints.topology[0].key",
        ),
        (
            "PodGroup",
            GANG | {"disruptionMode": {"single": {}, "all": {}}},
            "spec.disruptionMode: Invalid value: must specify exactly one of: `single`, `all`",
        ),
        (
            "PodGroup",
            GANG | {"resourceClaims": [{"name": "c"}]},
            "spec.resourceClaims[0]: Invalid value: must specify exactly one of: `resourceClaimName`, `resourceClaimTemplateName`",
        ),
        ("CompositePodGroup", COMPOSITE, "spec.workloadRef: Required value"),
        ("CompositePodGroup", REFERENCE, "spec.schedulingPolicy: Required value"),
        (
            "CompositePodGroup",
            COMPOSITE | {"workloadRef": {"workloadName": "w"}},
            "spec.workloadRef.templateName: Required value",
        ),
        (
            "Workload",
            {},
            "spec: Invalid value: must specify exactly one of: `podGroupTemplates`, `compositePodGroupTemplates`",
        ),
        (
            "Workload",
            {"podGroupTemplates": [{"name": "a", **GANG}] * 2},
            "spec.podGroupTemplates[1]: Duplicate value",
        ),
        (
            "Workload",
            {"podGroupTemplates": [{"name": f"t{i}", **GANG} for i in range(9)]},
            "spec.podGroupTemplates: Too many: 9",
        ),
        ("Workload", {"podGroupTemplates": [{"name": "No_Label", **GANG}]}, "spec.podGroupTemplates[0].name"),
        (
            "Workload",
            {"podGroupTemplates": [{"name": "a", **GANG, "priority": 1}, {"name": "b", **GANG}]},
            "all priority and priorityClassName values must be identical",
        ),
        (
            "Workload",
            tree(2, (1, 2)),
            "all priority and priorityClassName values must be identical",
        ),
        (
            "Workload",
            {"compositePodGroupTemplates": [{"name": "a", **COMPOSITE}]},
            "spec.compositePodGroupTemplates[0]: Invalid value: must have at least one child",
        ),
        ("Workload", tree(4), ".compositePodGroupTemplates: Too many: 1: must have at most 0 items"),
        (
            "Workload",
            FLAT | {"controllerRef": {"kind": "Job"}},
            "spec.controllerRef.name: Required value",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_field(kubectl, kind, spec, complaint):
    told = kubectl.refused("apply --dry-run=server -f -", manifest=written(kind, spec)).replace(
        '"object": ', ""
    )
    assert complaint in told.replace("Invalid value: null: ", "Invalid value: ")


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        ("PodGroup", GANG),
        ("PodGroup", {"schedulingPolicy": {"basic": {}}}),
        (
            "PodGroup",
            GANG
            | REFERENCE
            | {
                "parentCompositePodGroupName": "p",
                "schedulingConstraints": {"topology": [{"key": "example.com/rack"}]},
                "resourceClaims": [{"name": "c", "resourceClaimTemplateName": "t"}],
                "disruptionMode": {"all": {}},
                "priority": 10**9,
                "priorityClassName": "high",
                "preemptionPolicy": "Never",
            },
        ),
        ("CompositePodGroup", COMPOSITE | REFERENCE),
        ("Workload", FLAT),
        ("Workload", tree(3)),
        ("Workload", tree(2, (7, 7)) | {"controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"}}),
    ],
)
def test_what_makes_sense_is_kept_whole(kubectl, kind, spec):
    kubectl("create -f -", manifest=written(kind, spec))
    kept = yaml.safe_load(kubectl(f"get {kind.lower()}s.scheduling.posse.dev it -o yaml"))["spec"]
    kubectl(f"delete {kind.lower()}s.scheduling.posse.dev it")
    if kind != "Workload" and "disruptionMode" not in spec:
        assert kept.pop("disruptionMode") == {"single": {}}
    assert kept == spec


@pytest.mark.parametrize(
    ("kind", "before", "after", "complaint"),
    [
        (
            "PodGroup",
            GANG,
            {"schedulingPolicy": {"basic": {}}},
            "spec.schedulingPolicy.gang: Invalid value: field cannot be cleared once set",
        ),
        (
            "PodGroup",
            {"schedulingPolicy": {"basic": {}}},
            GANG,
            "spec.schedulingPolicy.gang: Invalid value: field cannot be set once created",
        ),
        ("PodGroup", GANG, GANG | {"priority": 5}, "spec.priority: Invalid value: field is immutable"),
        (
            "PodGroup",
            GANG | REFERENCE,
            GANG,
            "spec.workloadRef: Invalid value: field is immutable",
        ),
        (
            "PodGroup",
            GANG,
            GANG | {"disruptionMode": {"all": {}}},
            "spec.disruptionMode: Invalid value: field is immutable",
        ),
        (
            "CompositePodGroup",
            COMPOSITE | REFERENCE,
            COMPOSITE | {"workloadRef": {"workloadName": "w", "templateName": "other"}},
            "spec.workloadRef: Invalid value: field is immutable",
        ),
        (
            "Workload",
            FLAT,
            {"podGroupTemplates": [*FLAT["podGroupTemplates"], {"name": "c", **GANG}]},
            "spec.podGroupTemplates: Forbidden: item may not be added",
        ),
        (
            "Workload",
            FLAT,
            {"podGroupTemplates": FLAT["podGroupTemplates"][:1]},
            "spec.podGroupTemplates: Forbidden: item may not be removed",
        ),
        (
            "Workload",
            FLAT,
            {"podGroupTemplates": [item | {"priority": 4} for item in FLAT["podGroupTemplates"]]},
            "spec.podGroupTemplates[0].priority: Invalid value: field is immutable",
        ),
        ("Workload", FLAT, tree(1), "spec.podGroupTemplates: Invalid value: field is immutable"),
        (
            "Workload",
            FLAT,
            FLAT | {"controllerRef": {"kind": "Job", "name": "j"}},
            "spec.controllerRef: Invalid value: field is immutable",
        ),
    ],
)
def test_what_is_fixed_stays(kubectl, kind, before, after, complaint):
    kubectl("create -f -", manifest=written(kind, before))
    told = kubectl.refused("replace -f -", manifest=written(kind, after))
    kubectl(f"delete {kind.lower()}s.scheduling.posse.dev it")
    for value in ('"object": ', "null: ", '"array": ', '"integer": '):
        told = told.replace(f"Invalid value: {value}", "Invalid value: ")
    assert complaint in told


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("PodGroup", GANG, {"schedulingPolicy": {"gang": {"minCount": 5}}}),
        (
            "PodGroup",
            {"schedulingPolicy": {"basic": {}}},
            {"schedulingPolicy": {"basic": {"desiredCount": 5}}},
        ),
        (
            "Workload",
            FLAT,
            {
                "podGroupTemplates": [
                    {"name": "b", "schedulingPolicy": {"gang": {"minCount": 5}}},
                    {"name": "a", **GANG},
                ]
            },
        ),
    ],
)
def test_sizes_may_change(kubectl, kind, before, after):
    kubectl("create -f -", manifest=written(kind, before))
    kubectl("replace -f -", manifest=written(kind, after))
    kubectl(f"delete {kind.lower()}s.scheduling.posse.dev it")


def test_names_that_no_label_can_hold_are_refused(kubectl):
    told = kubectl.refused("apply --dry-run=server -f -", manifest=written("PodGroup", GANG, "n" * 64))
    assert "metadata.name: Too long: may not be more than 63 bytes" in told


def test_columns_tell_how_a_group_stands(kubectl):
    kubectl("create -f -", manifest=written("PodGroup", GANG | REFERENCE))
    condition = {
        "type": "PodGroupInitiallyScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "only 1 of the 2 fits",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    patch = yaml.safe_dump({"status": {"conditions": [condition]}})
    kubectl("patch podgroups.scheduling.posse.dev it --subresource=status --type=merge -p", patch)
    header, row = kubectl("get podgroups.scheduling.posse.dev -o wide").splitlines()
    kubectl("delete podgroups.scheduling.posse.dev it")
    assert header.split() == ["NAME", "MIN-COUNT", "WORKLOAD", "STATUS", "AGE", "MESSAGE"]
    assert row.split()[:4] == ["it", "2", "w", "Unschedulable"]
    assert row.endswith("only 1 of the 2 fits")


def test_conditions_are_judged_like_those_of_kubernetes(kubectl):
    kubectl("create -f -", manifest=written("PodGroup", GANG))
    patch = yaml.safe_dump({"status": {"conditions": [{"type": "x", "status": "maybe", "reason": "a b"}]}})
    told = kubectl.refused(
        "patch podgroups.scheduling.posse.dev it --subresource=status --type=merge -p", patch
    )
    kubectl("delete podgroups.scheduling.posse.dev it")
    for field in ("status", "reason", "lastTransitionTime"):
        assert f"status.conditions[0].{field}" in told
