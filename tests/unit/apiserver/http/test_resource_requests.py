"""Requests on resources over real HTTPS: verbs, answers, errors, tables, versions."""

import json

import pytest
import requests

from posse.apiserver.http.duplicate_fields import duplicate_fields

PODS = "/api/v1/namespaces/default/pods"
GROUPS = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups"
ALPHA_GROUPS = "/apis/scheduling.k8s.io/v1alpha3/namespaces/default/podgroups"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


def pod(name: str = "", **metadata) -> dict:
    named = {"name": name} if name else {}
    return {
        "metadata": {**named, **metadata},
        "spec": {"containers": [{"name": "main", "image": "img", "resources": {"requests": {"cpu": "1"}}}]},
    }


def gang(name: str, minimum: int = 2) -> dict:
    return {"metadata": {"name": name}, "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}}}


def created(response: requests.Response) -> dict:
    assert response.status_code == 201, response.text
    return response.json()


def refused(response: requests.Response, code: int, reason: str) -> dict:
    assert response.status_code == code, response.text
    assert response.headers["Content-Type"] == "application/json"
    status = response.json()
    assert (status["kind"], status["apiVersion"], status["status"]) == ("Status", "v1", "Failure")
    assert (status["code"], status["reason"]) == (code, reason)
    return status


# Creating and reading


def test_a_created_object_is_read_back_in_full(http):
    body = created(http("POST", PODS, pod("a", labels={"x": "y"})))
    assert (body["kind"], body["apiVersion"]) == ("Pod", "v1")
    assert body["metadata"]["uid"]
    read = http("GET", f"{PODS}/a")
    assert read.status_code == 200
    assert read.headers["Content-Type"] == "application/json"
    assert read.headers["Cache-Control"] == "no-cache, private"
    assert read.json() == body


def test_generate_name(http):
    names = {created(http("POST", PODS, pod(generateName="job-")))["metadata"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith("job-") and len(name) == 9 for name in names)


def test_yaml_is_read_when_the_content_type_says_so(http):
    text = "metadata: {name: a}\nspec: {containers: [{name: main, image: img}]}\n"
    assert created(http("POST", PODS, text, Content_Type="application/yaml"))["metadata"]["name"] == "a"


def test_a_list_carries_its_kind_version_and_items(http):
    for name in ("b", "a", "c"):
        created(http("POST", PODS, pod(name)))
    body = http("GET", PODS).json()
    assert (body["kind"], body["apiVersion"]) == ("PodList", "v1")
    assert [item["metadata"]["name"] for item in body["items"]] == ["a", "b", "c"]
    assert int(body["metadata"]["resourceVersion"]) >= int(body["items"][2]["metadata"]["resourceVersion"])


def test_an_empty_list(http):
    body = http("GET", PODS).json()
    assert body["items"] == []
    assert set(body["metadata"]) == {"resourceVersion"}


def test_a_list_over_all_namespaces(http):
    created(http("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}}))
    created(http("POST", PODS, pod("a")))
    created(http("POST", "/api/v1/namespaces/other/pods", pod("b")))
    items = http("GET", "/api/v1/pods").json()["items"]
    assert [item["metadata"]["namespace"] for item in items] == ["default", "other"]


def test_selectors(http):
    created(http("POST", PODS, pod("a", labels={"app": "x"})))
    created(http("POST", PODS, pod("b", labels={"app": "y"})))

    def names(query: str) -> list[str]:
        return [item["metadata"]["name"] for item in http("GET", f"{PODS}?{query}").json()["items"]]

    assert names("labelSelector=app%3Dx") == ["a"]
    assert names("labelSelector=app+notin+(x)") == ["b"]
    assert names("fieldSelector=metadata.name%3Db") == ["b"]
    assert names("labelSelector=app&fieldSelector=metadata.name%21%3Db") == ["a"]
    refused(http("GET", f"{PODS}?labelSelector=%3D%3D"), 400, "BadRequest")
    assert (
        "spec.colour"
        in refused(http("GET", f"{PODS}?fieldSelector=spec.colour%3Dred"), 400, "BadRequest")["message"]
    )


def test_a_long_list_is_read_page_by_page(http):
    for number in range(5):
        created(http("POST", PODS, pod(f"p{number}")))
    names, query = [], "limit=2"
    while True:
        page = http("GET", f"{PODS}?{query}").json()
        names += [item["metadata"]["name"] for item in page["items"]]
        if "continue" not in page["metadata"]:
            break
        assert page["metadata"]["remainingItemCount"] == 5 - len(names)
        query = f"limit=2&continue={page['metadata']['continue']}"
    assert names == ["p0", "p1", "p2", "p3", "p4"]
    refused(http("GET", f"{PODS}?limit=2&continue=nonsense"), 400, "BadRequest")
    refused(http("GET", f"{PODS}?limit=some"), 400, "BadRequest")


def test_pretty_printing(http):
    created(http("POST", PODS, pod("a")))
    assert http("GET", f"{PODS}/a?pretty=true").text.startswith('{\n  "')


# Versions


def test_one_object_in_two_versions(http):
    body = created(http("POST", ALPHA_GROUPS, gang("g")))
    assert body["apiVersion"] == "scheduling.k8s.io/v1alpha3"
    assert http("GET", f"{GROUPS}/g").json()["apiVersion"] == "scheduling.k8s.io/v1beta1"
    listed = http("GET", ALPHA_GROUPS).json()
    assert listed["apiVersion"] == "scheduling.k8s.io/v1alpha3"
    assert [item["metadata"]["name"] for item in listed["items"]] == ["g"]
    same = http("GET", f"{GROUPS}/g").json() | {"apiVersion": "scheduling.k8s.io/v1alpha3"}
    assert same == body


def test_a_patch_sees_the_version_of_its_path(http):
    created(http("POST", GROUPS, gang("g")))
    steps = [{"op": "test", "path": "/apiVersion", "value": "scheduling.k8s.io/v1alpha3"}]
    patched = http("PATCH", f"{ALPHA_GROUPS}/g", steps, Content_Type="application/json-patch+json")
    assert patched.status_code == 200
    assert patched.json()["apiVersion"] == "scheduling.k8s.io/v1alpha3"


def test_a_body_of_another_version_than_its_path_is_refused(http):
    body = gang("g") | {"apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "PodGroup"}
    status = refused(http("POST", GROUPS, body), 400, "BadRequest")
    assert "(scheduling.k8s.io/v1alpha3)" in status["message"]
    assert "(scheduling.k8s.io/v1beta1)" in status["message"]
    refused(http("POST", GROUPS, body | {"apiVersion": 7}), 400, "BadRequest")
    refused(http("POST", GROUPS, gang("g") | {"kind": "Workload"}), 400, "BadRequest")


# Changing


def test_an_update_needs_the_version_it_is_based_on(http):
    body = created(http("POST", GROUPS, gang("g")))
    body["spec"]["schedulingPolicy"]["gang"]["minCount"] = 3
    updated = http("PUT", f"{GROUPS}/g", body)
    assert updated.status_code == 200
    assert updated.json()["spec"]["schedulingPolicy"]["gang"]["minCount"] == 3
    status = refused(http("PUT", f"{GROUPS}/g", body), 409, "Conflict")
    assert "the object has been modified" in status["message"]


def test_patches_of_each_type(http):
    created(http("POST", PODS, pod("a", labels={"x": "1", "y": "2"})))
    merged = http("PATCH", f"{PODS}/a", {"metadata": {"labels": {"x": None}}}, Content_Type=MERGE)
    assert merged.json()["metadata"]["labels"] == {"y": "2"}
    strategic = http("PATCH", f"{PODS}/a", {"metadata": {"labels": {"z": "3"}}}, Content_Type=STRATEGIC)
    assert strategic.json()["metadata"]["labels"] == {"y": "2", "z": "3"}
    steps = [{"op": "replace", "path": "/metadata/labels/y", "value": "4"}]
    stepped = http("PATCH", f"{PODS}/a", steps, Content_Type="application/json-patch+json")
    assert stepped.json()["metadata"]["labels"] == {"y": "4", "z": "3"}
    assert stepped.status_code == 200


def test_patches_that_cannot_be_applied(http):
    created(http("POST", PODS, pod("a")))
    for media_type, body in (("text/plain", {}), ("application/apply-patch+cbor", "metadata:\n  name: a\n")):
        status = refused(
            http("PATCH", f"{PODS}/a", body, Content_Type=media_type), 415, "UnsupportedMediaType"
        )
        assert "application/strategic-merge-patch+json" in status["message"]
    refused(http("PATCH", f"{PODS}/a", "{", Content_Type=MERGE), 400, "BadRequest")
    refused(http("PATCH", f"{PODS}/a", [], Content_Type=MERGE), 400, "BadRequest")
    steps = [{"op": "remove", "path": "/nowhere"}]
    refused(http("PATCH", f"{PODS}/a", steps, Content_Type="application/json-patch+json"), 422, "Invalid")


def test_status_is_written_through_its_own_path(http):
    created(http("POST", GROUPS, gang("g")))
    condition = {
        "type": "PodGroupInitiallyScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "no room",
        "lastTransitionTime": "2026-01-02T03:04:05Z",
    }
    patch = {"status": {"conditions": [condition]}}
    patched = http("PATCH", f"{GROUPS}/g/status", patch, Content_Type=MERGE)
    assert patched.json()["status"]["conditions"] == [condition]
    ignored = http("PATCH", f"{GROUPS}/g", {"status": None}, Content_Type=MERGE).json()
    assert ignored["status"]["conditions"] == [condition]
    assert http("GET", f"{GROUPS}/g/status").json() == ignored


def test_binding_a_pod(http):
    created(http("POST", PODS, pod("a")))
    binding = {"metadata": {"name": "a"}, "target": {"kind": "Node", "name": "n1"}}
    status = created(http("POST", f"{PODS}/a/binding", binding))
    assert (status["kind"], status["status"]) == ("Status", "Success")
    bound = http("GET", f"{PODS}/a").json()
    assert bound["spec"]["nodeName"] == "n1"
    conditions = {entry["type"]: entry["status"] for entry in bound["status"]["conditions"]}
    assert conditions["PodScheduled"] == "True"
    refused(http("POST", f"{PODS}/a/binding", binding), 409, "Conflict")


def test_dry_run_changes_nothing(http):
    created(http("POST", f"{PODS}?dryRun=All", pod("a")))
    refused(http("GET", f"{PODS}/a"), 404, "NotFound")
    refused(http("POST", f"{PODS}?dryRun=Partly", pod("a")), 400, "BadRequest")


# Deleting


def test_deleting_by_name(http):
    created(http("POST", PODS, pod("a")))
    deleted = http("DELETE", f"{PODS}/a")
    assert (deleted.status_code, deleted.json()["kind"]) == (200, "Pod")
    refused(http("GET", f"{PODS}/a"), 404, "NotFound")
    refused(http("DELETE", f"{PODS}/a"), 404, "NotFound")


def test_delete_options_come_from_query_or_body(http):
    for name in ("a", "b"):
        created(http("POST", PODS, pod(name) | {"spec": pod()["spec"] | {"nodeName": "n1"}}))
    assert "deletionTimestamp" in http("DELETE", f"{PODS}/a").json()["metadata"]
    assert http("GET", f"{PODS}/a").status_code == 200
    http("DELETE", f"{PODS}/a?gracePeriodSeconds=0")
    assert http("GET", f"{PODS}/a").status_code == 404
    http("DELETE", f"{PODS}/b", {"kind": "DeleteOptions", "gracePeriodSeconds": 0})
    assert http("GET", f"{PODS}/b").status_code == 404


@pytest.mark.parametrize("path", [f"{PODS}/a", PODS])
@pytest.mark.parametrize(
    ("policy", "finalizer"), [("Orphan", "orphan"), ("Foreground", "foregroundDeletion")]
)
def test_a_propagation_policy_holds_the_object_for_the_garbage_collector(http, path, policy, finalizer):
    created(http("POST", PODS, pod("a")))
    deleted = http("DELETE", path, {"propagationPolicy": policy})
    assert deleted.status_code == 200
    assert "Warning" not in deleted.headers
    metadata = http("GET", f"{PODS}/a").json()["metadata"]
    assert metadata["finalizers"] == [finalizer]
    assert "deletionTimestamp" in metadata


def test_deleting_in_the_background_removes_at_once(http):
    created(http("POST", PODS, pod("a")))
    http("DELETE", f"{PODS}/a", {"propagationPolicy": "Background"})
    assert http("GET", f"{PODS}/a").status_code == 404


def test_a_precondition_guards_against_deleting_a_namesake(http):
    created(http("POST", PODS, pod("a")))
    options = {"preconditions": {"uid": "another"}}
    refused(http("DELETE", f"{PODS}/a", options), 409, "Conflict")


def test_finalizers_hold_an_object_until_they_are_gone(http):
    created(http("POST", PODS, pod("a", finalizers=["example.com/hold"])))
    assert "deletionTimestamp" in http("DELETE", f"{PODS}/a").json()["metadata"]
    http("PATCH", f"{PODS}/a", {"metadata": {"finalizers": None}}, Content_Type=MERGE)
    refused(http("GET", f"{PODS}/a"), 404, "NotFound")


def test_deleting_a_collection_by_selector(http):
    created(http("POST", PODS, pod("a", labels={"app": "x"})))
    created(http("POST", PODS, pod("b", labels={"app": "y"})))
    deleted = http("DELETE", f"{PODS}?labelSelector=app%3Dx").json()
    assert deleted["kind"] == "PodList"
    assert [item["metadata"]["name"] for item in deleted["items"]] == ["a"]
    assert [item["metadata"]["name"] for item in http("GET", PODS).json()["items"]] == ["b"]


def test_a_namespace_goes_when_it_is_finalized(http):
    created(http("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}}))
    http("DELETE", "/api/v1/namespaces/other")
    body = http("GET", "/api/v1/namespaces/other").json()
    assert body["status"]["phase"] == "Terminating"
    assert (
        http("PUT", "/api/v1/namespaces/other/finalize", body | {"spec": {"finalizers": []}}).status_code
        == 200
    )
    refused(http("GET", "/api/v1/namespaces/other"), 404, "NotFound")


# Refusals


def test_bad_objects_are_refused_with_their_causes(http):
    both = {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 1}, "basic": {}}}}
    status = refused(http("POST", GROUPS, both), 422, "Invalid")
    assert status["details"]["causes"][0]["field"] == "spec.schedulingPolicy"
    assert 'PodGroup.scheduling.k8s.io "g" is invalid' in status["message"]
    refused(http("POST", GROUPS, gang("g", 0)), 422, "Invalid")
    wrong_type = {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": {"gang": {"minCount": "two"}}}}
    assert "minCount" in refused(http("POST", GROUPS, wrong_type), 400, "BadRequest")["message"]


def test_unknown_fields_warn_by_default_and_fail_when_strict(http):
    body = gang("g")
    body["spec"]["colour"] = 'r"ed'
    answer = http("POST", GROUPS, body)
    created(answer)
    assert answer.headers["Warning"] == '299 - "unknown field \\"spec.colour\\""'
    assert (
        "Warning"
        not in http("POST", f"{GROUPS}?fieldValidation=Ignore", body | {"metadata": {"name": "h"}}).headers
    )
    body["metadata"]["name"] = "i"
    status = refused(http("POST", f"{GROUPS}?fieldValidation=Strict", body), 400, "BadRequest")
    assert 'strict decoding error: unknown field "spec.colour"' in status["message"]


@pytest.mark.parametrize(
    ("text", "place"),
    [("", "empty"), ("{", "JSON"), ('{"a":\n1,}', "line 2, column 3"), ("[]", "a list"), ("7", "number")],
)
def test_bodies_that_are_no_objects(http, text, place):
    assert place in refused(http("POST", PODS, text), 400, "BadRequest")["message"]


def test_a_protobuf_body_that_cannot_be_read_is_refused(http):
    refused(
        http("POST", PODS, "k8s", Content_Type="application/vnd.kubernetes.protobuf"),
        415,
        "UnsupportedMediaType",
    )


def test_a_body_over_the_limit_is_refused(http):
    huge = pod("a", annotations={"x": "y" * (3 * 1024 * 1024)})
    refused(http("POST", PODS, huge), 413, "RequestEntityTooLarge")
    assert http("GET", "/healthz").text == "ok"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/pods"),
        ("DELETE", "/api/v1/pods"),
        ("DELETE", "/api/v1/namespaces"),
        ("PUT", PODS),
        ("PATCH", PODS),
        ("POST", f"{PODS}/a"),
        ("GET", f"{PODS}/a/binding"),
        ("DELETE", f"{PODS}/a/status"),
        ("OPTIONS", f"{PODS}/a"),
    ],
)
def test_verbs_a_resource_does_not_have(http, method, path):
    refused(http(method, path), 405, "MethodNotAllowed")


@pytest.mark.parametrize("path", ["/api/v1/gadgets", "/apis/nobody.example/v1", "/metrics", "/api/v1/pods/a"])
def test_paths_that_name_nothing(http, path):
    message = refused(http("GET", path), 404, "NotFound")["message"]
    assert message.startswith("the server could not find the requested resource")
    is_api = path.startswith("/api")
    assert ("`posse up --control-plane kubernetes` runs a real API server" in message) is is_api


@pytest.mark.parametrize("subresource", ["log", "exec", "attach", "portforward", "proxy/metrics"])
def test_what_needs_a_container_says_that_nothing_runs(http, subresource):
    message = refused(http("GET", f"{PODS}/a/{subresource}"), 501, "NotImplemented")["message"]
    assert "pods of simulated nodes run in name only" in message


def test_the_owner_may_do_everything_and_is_told_so(http):
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    review = http("POST", path, {"spec": {"resourceAttributes": {"verb": "create", "resource": "pods"}}})
    assert review.status_code == 201
    assert review.json()["kind"] == "SelfSubjectAccessReview"
    assert review.json()["status"]["allowed"] is True
    assert "posse up" in review.json()["status"]["reason"]
    other = http("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {"spec": {"user": "robot"}})
    assert (other.json()["kind"], other.json()["status"]["allowed"]) == ("SubjectAccessReview", True)
    who = http("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    assert who.json()["status"]["userInfo"]["username"] == "posse-owner"
    rules = http(
        "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}
    )
    assert rules.json()["status"]["resourceRules"][0]["verbs"] == ["*"]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("resourceVersionMatch=Exact", "forbidden unless resourceVersion is provided"),
        ("resourceVersionMatch=Exact&resourceVersion=0", 'forbidden for resourceVersion "0"'),
        ("resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=x", "forbidden when continue"),
    ],
)
def test_matches_of_versions_that_kubernetes_does_not_know(http, query, text):
    assert text in refused(http("GET", f"{PODS}?{query}"), 422, "Invalid")["message"]


def test_keys_that_come_twice_are_found_where_fields_are_validated():
    body = (
        b'{"metadata": {"name": "a", "name": "b"}, "data": {"x": "1", "x": "2"}, "list": [{"y": 1, "y": 1}]}'
    )
    assert duplicate_fields(body) == ["metadata.name", "data.x", "list[0].y"]
    assert duplicate_fields(b'{"a": {"b": 1}, "b": 1}') == []
    assert duplicate_fields(b'{"a": %s, "b": 1e999}' % (b"1" * 5000)) == []


def test_a_manifest_with_a_key_that_comes_twice_is_refused_under_strict_validation(http):
    path, body = "/api/v1/namespaces/default/configmaps", '{"metadata": {"name": "lost", "name": "kept"}}'
    message = refused(http("POST", f"{path}?fieldValidation=Strict", body), 400, "BadRequest")["message"]
    assert message.endswith('strict decoding error: duplicate field "metadata.name"')
    assert http("POST", f"{path}?fieldValidation=Ignore", body).status_code == 201


def test_a_binding_without_the_pod_in_its_path(http):
    pod = {"metadata": {"name": "bound"}, "spec": {"containers": [{"name": "main", "image": "x"}]}}
    http("POST", PODS, pod)
    binding = {"metadata": {"name": "bound"}, "target": {"kind": "Node", "name": "n1"}}
    path = PODS.replace("/pods", "/bindings")
    assert http("POST", path, binding).status_code == 201
    assert http("GET", f"{PODS}/bound").json()["spec"]["nodeName"] == "n1"
    refused(http("GET", path), 405, "MethodNotAllowed")


def test_json_is_the_answer_wherever_it_stands(http):
    refused(http("GET", PODS, Accept="text/html"), 406, "NotAcceptable")
    both = http("GET", PODS, Accept="application/vnd.kubernetes.protobuf,application/json")
    assert both.json()["kind"] == "PodList"


# Tables and metadata


def test_a_list_as_a_table(http):
    created(http("POST", GROUPS, gang("g")))
    body = http("GET", GROUPS, Accept=TABLE).json()
    assert (body["kind"], body["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    names = [column["name"] for column in body["columnDefinitions"]]
    assert names[0] == "Name"
    [row] = body["rows"]
    assert dict(zip(names, row["cells"], strict=True))["Policy"] == "Gang"
    assert row["object"]["kind"] == "PartialObjectMetadata"
    assert row["object"]["metadata"]["name"] == "g"
    assert body["metadata"]["resourceVersion"]


def test_one_object_as_a_table(http):
    created(http("POST", PODS, pod("a")))
    body = http("GET", f"{PODS}/a", Accept=TABLE).json()
    assert [row["cells"][0] for row in body["rows"]] == ["a"]
    assert {column["priority"] for column in body["columnDefinitions"]} == {0, 1}


def test_what_a_row_carries_of_its_object(http):
    created(http("POST", ALPHA_GROUPS, gang("g")))

    def included(what: str):
        return http("GET", f"{ALPHA_GROUPS}?includeObject={what}", Accept=TABLE).json()["rows"][0]["object"]

    assert included("None") is None
    assert included("Metadata")["kind"] == "PartialObjectMetadata"
    assert included("Object")["apiVersion"] == "scheduling.k8s.io/v1alpha3"
    refused(http("GET", f"{GROUPS}?includeObject=Half", Accept=TABLE), 400, "BadRequest")


def test_metadata_only(http):
    created(http("POST", PODS, pod("a")))
    one = http("GET", f"{PODS}/a", Accept=METADATA).json()
    assert (one["kind"], one["metadata"]["name"], "spec" in one) == ("PartialObjectMetadata", "a", False)
    listed = http("GET", PODS, Accept=METADATA.replace("Metadata;", "MetadataList;")).json()
    assert listed["kind"] == "PartialObjectMetadataList"
    assert [item["kind"] for item in listed["items"]] == ["PartialObjectMetadata"]


def test_items_of_lists_say_no_type_where_kubernetes_says_none(http):
    one = created(http("POST", PODS, {"kind": "Pod", **pod("a")}))
    [item] = http("GET", PODS).json()["items"]
    assert {"apiVersion": "v1", "kind": "Pod", **item} == one
    assert not {"apiVersion", "kind"} & item.keys()
    path = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"
    replicated = [{"name": "a", "template": {"spec": {"template": {"spec": pod("a")["spec"]}}}}]
    replicated[0]["template"]["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    created(http("POST", path, {"metadata": {"name": "s"}, "spec": {"replicatedJobs": replicated}}))
    [custom] = http("GET", path).json()["items"]
    assert (custom["apiVersion"], custom["kind"]) == ("jobset.x-k8s.io/v1alpha2", "JobSet")
    metadata = METADATA.replace("Metadata;", "MetadataList;")
    both = f"{metadata.split(',')[0].replace('json', 'vnd.kubernetes.protobuf')},{metadata}"
    [partial] = http("GET", PODS, Accept=both).json()["items"]
    assert partial.keys() == {"metadata"}


def test_errors_stay_a_status_when_a_table_is_asked_for(http):
    refused(http("GET", f"{PODS}/nobody", Accept=TABLE), 404, "NotFound")


def test_what_a_half_refused_collection_delete_has_done_is_told_and_kept(http):
    uid = created(http("POST", PODS, pod("a")))["metadata"]["uid"]
    created(http("POST", PODS, pod("b")))
    version = http("GET", PODS).json()["metadata"]["resourceVersion"]
    refused(http("DELETE", PODS, {"preconditions": {"uid": uid}}), 409, "Conflict")
    lines = http("GET", f"{PODS}?watch=true&resourceVersion={version}&timeoutSeconds=1").text.splitlines()
    told = [(event["type"], event["object"]["metadata"]["name"]) for event in map(json.loads, lines)]
    assert told == [("DELETED", "a")]
