"""What kubectl looks for in these documents is spelled out here, since it fails without saying what it missed."""

import msgspec
import pytest

from posse.kinds.openapi import openapi_v2, openapi_v3
from posse.kinds.registry import KINDS

SERVED = sorted({(kind.group, version) for kind in KINDS for version in kind.versions})
REFERENCE = "#/components/schemas/"


@pytest.fixture(scope="module", params=SERVED, ids=["/".join(filter(None, served)) for served in SERVED])
def served(request):
    group, version = request.param
    kinds = [kind for kind in KINDS if kind.group == group and version in kind.versions]
    return group, version, kinds, openapi_v3(group, version)


def nodes(data):
    """Every object anywhere in a document."""
    if isinstance(data, dict):
        yield data
    for item in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from nodes(item)


def references(document):
    return {node["$ref"] for node in nodes(document) if isinstance(node.get("$ref"), str)}


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield path, method, operation


def schema(group, version, name):
    return openapi_v3(group, version)["components"]["schemas"][name]


def test_every_reference_leads_to_a_schema(served):
    *_, document = served
    assert {reference.removeprefix(REFERENCE) for reference in references(document)} <= set(
        document["components"]["schemas"]
    )


def test_each_kind_can_be_patched_with_validation_on_the_server(served):
    group, version, kinds, document = served
    for kind in kinds:
        wanted = {"group": group, "version": version, "kind": kind.name}
        patches = [
            operation
            for _, method, operation in operations(document)
            if method == "patch" and operation["x-kubernetes-group-version-kind"] == wanted
        ]
        assert patches
        for operation in patches:
            assert {"fieldValidation", "dryRun", "fieldManager"} <= {
                p["name"] for p in operation["parameters"]
            }
            assert "application/strategic-merge-patch+json" in operation["requestBody"]["content"]


def test_creation_and_replacement_promise_field_validation(served):
    *_, document = served
    for path, method, operation in operations(document):
        if method in {"post", "put"}:
            assert "fieldValidation" in {p["name"] for p in operation["parameters"]}, path


def test_a_resource_path_leads_to_the_kind_and_the_kind_to_one_schema(served):
    group, version, kinds, document = served
    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    for kind in kinds:
        wanted = {"group": group, "version": version, "kind": kind.name}
        assert document["paths"][f"{root}/{kind.plural}"]["get"]["x-kubernetes-group-version-kind"] == wanted
        found = [
            name
            for name, schema in document["components"]["schemas"].items()
            if wanted in schema.get("x-kubernetes-group-version-kind", [])
        ]
        assert len(found) == 1
        assert {"apiVersion", "kind", "metadata"} <= set(
            document["components"]["schemas"][found[0]]["properties"]
        )


def test_status_is_served_where_the_kind_has_it(served):
    *_, kinds, document = served
    for kind in kinds:
        has_path = any(path.endswith(f"/{kind.plural}/{{name}}/status") for path in document["paths"])
        assert has_path == kind.has_status


def test_path_variables_are_declared(served):
    *_, document = served
    for path, item in document["paths"].items():
        declared = [parameter["name"] for parameter in item.get("parameters", [])]
        assert declared == [name for name in ("namespace", "name") if f"{{{name}}}" in path]


def test_schemas_speak_the_dialect_of_kubernetes(served):
    *_, document = served
    for node in nodes(document["components"]["schemas"]):
        assert "anyOf" not in node
        assert node.get("type") != "null"
        assert "items" in node or node.get("type") != "array"
        if isinstance(node.get("$ref"), str):
            assert list(node) == ["$ref"]


def test_documents_are_json_and_always_the_same(served):
    group, version, _, document = served
    assert msgspec.json.encode(document) == msgspec.json.encode(openapi_v3(group, version))


def test_operation_ids_are_unique_over_all_documents():
    ids = [
        op["operationId"] for group, version in SERVED for *_, op in operations(openapi_v3(group, version))
    ]
    assert len(ids) == len(set(ids))
    assert {
        "createCoreV1NamespacedPod",
        "listCoreV1PodForAllNamespaces",
        "patchSchedulingV1beta1NamespacedPodGroupStatus",
    } <= set(ids)


def test_schema_names_are_those_clients_know():
    core = openapi_v3("", "v1")["components"]["schemas"]
    assert {
        "io.k8s.api.core.v1.Pod",
        "io.k8s.api.core.v1.PodList",
        "io.k8s.api.core.v1.PodSpec",
        "io.k8s.api.core.v1.Binding",
        "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        "io.k8s.apimachinery.pkg.api.resource.Quantity",
    } <= set(core)
    assert "io.k8s.api.events.v1.Event" in openapi_v3("events.k8s.io", "v1")["components"]["schemas"]
    for version in ("v1beta1", "v1alpha3"):
        names = openapi_v3("scheduling.k8s.io", version)["components"]["schemas"]
        assert f"io.k8s.api.scheduling.{version}.PodGroupSpec" in names
        assert (f"io.k8s.api.scheduling.{version}.CompositePodGroup" in names) == (version == "v1alpha3")


def test_older_versions_are_described_in_their_own_shape():
    package = "io.k8s.api.scheduling.v1alpha1"
    assert set(schema("scheduling.k8s.io", "v1alpha1", f"{package}.WorkloadSpec")["properties"]) == {
        "controllerRef",
        "podGroups",
    }
    assert set(schema("scheduling.k8s.io", "v1alpha1", f"{package}.PodGroup")["properties"]) == {
        "name",
        "policy",
    }
    package = "io.k8s.api.scheduling.v1alpha2"
    spec = schema("scheduling.k8s.io", "v1alpha2", f"{package}.PodGroupSpec")["properties"]
    assert spec["disruptionMode"]["type"] == "string"
    assert "podGroupTemplateRef" in spec
    schema("scheduling.k8s.io", "v1alpha2", f"{package}.GangSchedulingPolicy")


def test_kinds_of_one_name_are_told_apart_by_their_group():
    definitions = openapi_v2()["definitions"]
    assert {
        "io.k8s.api.scheduling.v1alpha1.PodGroup",
        "dev.posse.scheduling.v1alpha1.PodGroup",
        "io.x-k8s.scheduling.v1alpha1.PodGroup",
        "sh.volcano.scheduling.v1beta1.PodGroup",
    } <= set(definitions)
    ids = [operation["operationId"] for _, _, operation in operations(openapi_v2())]
    assert len(ids) == len(set(ids))
    assert "createSchedulingVolcanoShV1beta1NamespacedPodGroup" in ids


def test_lists_say_how_they_are_merged():
    spec = schema("", "v1", "io.k8s.api.core.v1.PodSpec")["properties"]
    assert spec["containers"]["x-kubernetes-patch-merge-key"] == "name"
    assert spec["containers"]["x-kubernetes-patch-strategy"] == "merge"
    assert spec["volumes"]["x-kubernetes-patch-strategy"] == "merge,retainKeys"
    assert "x-kubernetes-patch-strategy" not in spec["tolerations"]
    metadata = schema("", "v1", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")["properties"]
    assert metadata["finalizers"]["x-kubernetes-patch-strategy"] == "merge"


def test_quantities_and_mixed_values_are_references():
    resources = schema("", "v1", "io.k8s.api.core.v1.ResourceRequirements")["properties"]
    quantity = {"$ref": f"{REFERENCE}io.k8s.apimachinery.pkg.api.resource.Quantity"}
    assert resources["requests"]["type"] == "object"
    assert resources["requests"]["additionalProperties"] == quantity
    budget = schema("policy", "v1", "io.k8s.api.policy.v1.PodDisruptionBudgetSpec")["properties"]
    mixed = {"$ref": f"{REFERENCE}io.k8s.apimachinery.pkg.util.intstr.IntOrString"}
    assert budget["minAvailable"]["allOf"] == [mixed]


def test_numbers_carry_their_width_and_opaque_fields_anything():
    spec = schema("", "v1", "io.k8s.api.core.v1.PodSpec")["properties"]
    assert (spec["priority"]["type"], spec["priority"]["format"]) == ("integer", "int32")
    assert spec["securityContext"]["x-kubernetes-preserve-unknown-fields"] is True


def test_the_fields_of_the_scheduling_kinds_explain_themselves():
    schemas = openapi_v3("scheduling.k8s.io", "v1alpha3")["components"]["schemas"]
    for name in (
        "PodGroup",
        "PodGroupSpec",
        "GangSchedulingPolicy",
        "CompositePodGroupSpec",
        "Workload",
        "WorkloadSpec",
    ):
        found = schemas[f"io.k8s.api.scheduling.v1alpha3.{name}"]
        assert found["description"]
        assert all(member.get("description") for member in found["properties"].values()), name


def test_pods_are_bound_with_a_binding():
    operation = openapi_v3("", "v1")["paths"]["/api/v1/namespaces/{namespace}/pods/{name}/binding"]["post"]
    assert operation["x-kubernetes-group-version-kind"] == {"group": "", "version": "v1", "kind": "Binding"}
    body = operation["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"$ref": f"{REFERENCE}io.k8s.api.core.v1.Binding"}


def test_the_older_document_holds_everything_at_once():
    document = openapi_v2()
    assert document["swagger"] == "2.0"
    for group, version in SERVED:
        current = openapi_v3(group, version)
        assert set(current["paths"]) <= set(document["paths"])
        assert set(current["components"]["schemas"]) <= set(document["definitions"])
    assert {reference.removeprefix("#/definitions/") for reference in references(document)} <= set(
        document["definitions"]
    )


def test_the_older_document_uses_only_what_its_dialect_knows():
    document = openapi_v2()
    for node in nodes(document):
        assert not {"oneOf", "allOf", "anyOf", "requestBody", "content"} & set(node)
    create = document["paths"]["/api/v1/namespaces/{namespace}/pods"]["post"]
    assert create["parameters"][-1]["schema"] == {"$ref": "#/definitions/io.k8s.api.core.v1.Pod"}
    assert {"name": "fieldValidation", "in": "query", "type": "string"} in create["parameters"]
    assert document["definitions"]["io.k8s.apimachinery.pkg.api.resource.Quantity"]["type"] == "string"


def test_limits_and_enumerations_come_from_the_constraints():
    schemas = openapi_v3("jobset.x-k8s.io", "v1alpha2")["components"]["schemas"]
    by_kind = {
        name.rpartition(".")[2]: schema["properties"]
        for name, schema in schemas.items()
        if "properties" in schema
    }
    assert by_kind["ReplicatedJob"]["replicas"]["minimum"] == 0
    assert by_kind["JobSetSpec"]["volumeClaimPolicies"]["maxItems"] == 50
    assert by_kind["StartupPolicy"]["startupPolicyOrder"]["enum"] == ["AnyOrder", "InOrder"]
    reasons = by_kind["FailurePolicyRule"]["onJobFailureReasons"]
    assert "enum" not in reasons
    assert "DeadlineExceeded" in reasons["items"]["enum"]


def test_a_number_that_may_be_left_out_may_be_zero():
    port = schema("", "v1", "io.k8s.api.core.v1.ContainerPort")["properties"]
    assert (port["containerPort"]["minimum"], port["containerPort"]["maximum"]) == (1, 65535)
    assert (port["hostPort"]["minimum"], port["hostPort"]["maximum"]) == (0, 65535)


def test_devices_show_their_limits():
    package = "io.k8s.api.resource.v1"
    schemas = openapi_v3("resource.k8s.io", "v1")["components"]["schemas"]
    members = {
        name: schemas[f"{package}.{name}"]["properties"] for name in ("Device", "CounterSet", "ResourcePool")
    }
    assert members["Device"]["taints"]["maxItems"] == 16
    assert members["CounterSet"]["counters"]["maxProperties"] == 32
    assert members["ResourcePool"]["resourceSliceCount"]["minimum"] == 1


@pytest.mark.parametrize(("group", "version"), SERVED)
def test_every_field_is_explained(group, version):
    schemas = openapi_v3(group, version)["components"]["schemas"]
    silent = [
        f"{name.rpartition('.')[2]}.{field}"
        for name, schema in schemas.items()
        for field, member in schema.get("properties", {}).items()
        if not member.get("description")
    ]
    assert silent == []


def test_the_texts_of_a_struct_go_first():
    schemas = openapi_v3("", "v1")["components"]["schemas"]
    conditions = schemas["io.k8s.api.core.v1.PodCondition"]["properties"]
    assert conditions["status"]["description"] == "True, False or Unknown."
    pod = schemas["io.k8s.api.core.v1.Pod"]["properties"]
    assert pod["status"]["description"].startswith("How it stands")


def test_nothing_is_said_that_a_client_would_not_write_again(served):
    *_, document = served
    for schema in document["components"]["schemas"].values():
        assert all(value not in ({}, []) for value in schema.values())
