"""The definitions of our kinds: of the form that API servers ask for, and saying what our own validation says."""

import json

import pytest

from posse.installation.crds import POSSE_KINDS, definitions
from posse.installation.set_definitions import set_definitions
from posse.model.structure import fields_of

WORKLOADS, POD_GROUPS, COMPOSITES = definitions()
JOB_SETS, LEADER_WORKER_SETS = set_definitions(["jobsets", "leaderworkersets"])
GROUPS = pytest.mark.parametrize(
    "definition", [WORKLOADS, POD_GROUPS, COMPOSITES], ids=lambda d: d["metadata"]["name"]
)
ALL = pytest.mark.parametrize(
    "definition",
    [WORKLOADS, POD_GROUPS, COMPOSITES, JOB_SETS, LEADER_WORKER_SETS],
    ids=lambda d: d["metadata"]["name"],
)
FIXED = ("schedulingConstraints", "disruptionMode", "priorityClassName", "priority", "preemptionPolicy")
TEMPLATES = ("podGroupTemplates", "compositePodGroupTemplates")
KNOWN_TYPES = {"object", "array", "string", "integer", "boolean"}
KNOWN_KEYWORDS = {
    "default",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minimum",
    "pattern",
    "properties",
    "required",
    "type",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
}


def schema_of(definition):
    (version,) = definition["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]


def nodes(schema, path=""):
    """Every schema within a schema, with its path."""
    yield path, schema
    for name, member in schema.get("properties", {}).items():
        yield from nodes(member, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")


def at(schema, path):
    return dict(nodes(schema))[path]


def messages(schema, *, about):
    return [
        rule["message"] for rule in schema["x-kubernetes-validations"] if rule.get("fieldPath", "") == about
    ]


@ALL
def test_schemas_are_structural(definition):
    for path, node in nodes(schema_of(definition)):
        kind = node.get("type")
        assert node.get("x-kubernetes-int-or-string") or kind in KNOWN_TYPES, path
        assert set(node) <= KNOWN_KEYWORDS, path
        assert ("items" in node) == (kind == "array"), path
        assert "enum" not in node or kind == "string", path
        assert set(node.get("required", [])) <= set(node.get("properties", {})), path


@ALL
def test_items_that_are_paired_by_a_key_must_have_it(definition):
    for path, node in nodes(schema_of(definition)):
        for key in node.get("x-kubernetes-list-map-keys", []):
            assert key in node["items"]["required"], path


@GROUPS
def test_nothing_that_rules_look_at_is_without_bounds(definition):
    """An API server refuses rules whose cost it cannot bound."""
    for path, node in nodes(schema_of(definition)["properties"]["spec"]):
        if node["type"] == "array":
            assert node["maxItems"] <= 8, path
        elif node["type"] == "string":
            assert "maxLength" in node or "enum" in node, path


@ALL
def test_rules_say_what_is_wrong_and_where(definition):
    for path, node in nodes(schema_of(definition)):
        for rule in node.get("x-kubernetes-validations", []):
            assert rule["message"], path
            blamed = rule.get("fieldPath", "")
            assert not blamed or f"{path}{blamed}" in dict(nodes(schema_of(definition))), rule


def test_sets_have_the_limits_of_their_fields():
    spec = schema_of(JOB_SETS)["properties"]["spec"]
    job = spec["properties"]["replicatedJobs"]["items"]
    assert job["required"] == ["name", "template"], "the name of the group is filled in"
    assert job["properties"]["template"]["x-kubernetes-preserve-unknown-fields"]
    assert {"network", "managedBy", "gangConfig"} <= {
        rule["fieldPath"][1:] for rule in spec["x-kubernetes-validations"]
    }
    spec = schema_of(LEADER_WORKER_SETS)["properties"]["spec"]["properties"]
    assert (spec["replicas"]["minimum"], spec["replicas"]["default"]) == (0, 1)
    template = spec["leaderWorkerTemplate"]["properties"]
    assert "Default" in template["restartPolicy"]["enum"], "an old name is accepted"
    rolling = spec["rolloutStrategy"]["properties"]["rollingUpdateConfiguration"]["properties"]
    assert rolling["maxSurge"]["x-kubernetes-int-or-string"]


def test_names_and_scope_are_those_of_our_kinds():
    assert [definition["metadata"]["name"] for definition in definitions()] == [
        "workloads.scheduling.posse.dev",
        "podgroups.scheduling.posse.dev",
        "compositepodgroups.scheduling.posse.dev",
    ]
    assert {definition["spec"]["scope"] for definition in definitions()} == {"Namespaced"}


def test_only_groups_have_a_status():
    has_status = {
        definition["spec"]["names"]["kind"]: "subresources" in definition["spec"]["versions"][0]
        for definition in definitions()
    }
    assert has_status == {kind.name: kind.has_status for kind in POSSE_KINDS}


def json_fields(struct):
    return {
        name: shape
        for name, shape in fields_of(struct).items()
        if name not in {"apiVersion", "kind", "metadata"}
    }


def assert_holds_all_of(schema, struct, levels=0):
    for name, shape in json_fields(struct).items():
        member = schema["properties"][name]
        if shape.struct is None or member.get("maxItems") == 0:
            continue
        assert_holds_all_of(member["items"] if shape.holds == "list" else member, shape.struct, levels + 1)


@pytest.mark.parametrize("kind", POSSE_KINDS, ids=lambda kind: kind.name)
def test_no_field_of_a_kind_is_left_out(kind):
    """What a definition does not name, the API server drops."""
    (definition,) = (item for item in definitions() if item["spec"]["names"]["kind"] == kind.name)
    assert_holds_all_of(schema_of(definition), kind.struct)


@pytest.mark.parametrize(
    ("definition", "path", "fixed"),
    [
        (POD_GROUPS, ".spec", {"parentCompositePodGroupName", "workloadRef", "resourceClaims", *FIXED}),
        (COMPOSITES, ".spec", {"parentCompositePodGroupName", "workloadRef", *FIXED}),
        (WORKLOADS, ".spec.podGroupTemplates[]", {"resourceClaims", *FIXED}),
        (WORKLOADS, ".spec.compositePodGroupTemplates[]", {*TEMPLATES, *FIXED}),
        (WORKLOADS, ".spec", {"controllerRef", *TEMPLATES}),
    ],
)
def test_what_is_fixed_at_creation_is_fixed_by_a_rule(definition, path, fixed):
    schema = at(schema_of(definition), path)
    ruled = {
        name for name in schema["properties"] if "field is immutable" in messages(schema, about=f".{name}")
    }
    assert ruled == fixed


def test_the_size_of_a_gang_may_change_and_its_policy_may_not():
    policy = at(schema_of(POD_GROUPS), ".spec.schedulingPolicy")
    assert messages(policy, about="") == ["must specify exactly one of: `basic`, `gang`"]
    assert messages(policy, about=".gang") == [
        "field cannot be cleared once set",
        "field cannot be set once created",
    ]
    assert messages(at(schema_of(POD_GROUPS), ".spec"), about=".schedulingPolicy") == []


def test_groups_are_disrupted_one_by_one_unless_they_say_otherwise():
    for definition in (POD_GROUPS, COMPOSITES):
        assert at(schema_of(definition), ".spec.disruptionMode")["default"] == {"single": {}}
    assert "default" not in at(schema_of(WORKLOADS), ".spec.podGroupTemplates[].disruptionMode")


def test_pods_can_name_every_group_by_a_label():
    assert at(schema_of(POD_GROUPS), ".metadata.name")["maxLength"] == 63


def test_trees_of_templates_end_where_they_may_be_no_deeper():
    path = ".spec" + 3 * ".compositePodGroupTemplates[]"
    schema = schema_of(WORKLOADS)
    assert at(schema, f"{path}.podGroupTemplates[].schedulingPolicy.gang.minCount")["minimum"] == 1
    assert at(schema, f"{path}.compositePodGroupTemplates")["maxItems"] == 0


def test_a_definition_is_small_enough_for_kubectl_apply():
    """It is kept in an annotation as well."""
    assert all(len(json.dumps(definition)) < 200_000 for definition in definitions())


@ALL
def test_columns_point_at_fields_that_exist(definition):
    (version,) = definition["spec"]["versions"]
    paths = dict(nodes(schema_of(definition)))
    for column in version["additionalPrinterColumns"]:
        place = column["jsonPath"].partition("[?")[0]
        assert place == ".metadata.creationTimestamp" or place in paths, column
