"""The subresource scale over HTTP, as `kubectl scale` and autoscalers use it."""

import pytest

SETS = "/apis/apps/v1/namespaces/default/statefulsets"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


@pytest.fixture
def web(http):
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i:1"}]},
    }
    spec = {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    answer = http("POST", SETS, {"metadata": {"name": "web"}, "spec": spec})
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_the_scale_is_read(http, web):
    scale = http("GET", f"{SETS}/web/scale").json()
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["metadata"]["uid"] == web["metadata"]["uid"]
    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 0, "selector": "app=web"}


@pytest.mark.parametrize("media_type", [MERGE, STRATEGIC])
def test_the_scale_is_patched_and_nothing_else_changes(http, web, media_type):
    answer = http("PATCH", f"{SETS}/web/scale", {"spec": {"replicas": 7}}, Content_Type=media_type)
    assert answer.json()["spec"] == {"replicas": 7}
    after = http("GET", f"{SETS}/web").json()
    assert after["spec"] == web["spec"] | {"replicas": 7}
    assert after["metadata"]["generation"] == 2


def test_the_scale_is_replaced_unless_the_object_has_changed(http, web):
    scale = http("GET", f"{SETS}/web/scale").json()
    scale["spec"] = {"replicas": 0}
    assert http("PUT", f"{SETS}/web/scale", scale).json()["spec"] == {"replicas": 0}
    scale["spec"] = {"replicas": 1}
    assert http("PUT", f"{SETS}/web/scale", scale).status_code == 409


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        ({"spec": {"replicas": "many"}}, 400, "Scale in version"),
        ({"kind": "Pod"}, 400, "expected a Scale of autoscaling/v1"),
        ({"metadata": {"name": "other"}}, 400, "does not match the name on the URL"),
        ({"spec": {"replicas": -1}}, 422, "spec.replicas: Invalid value: -1"),
    ],
)
def test_what_is_no_scale_of_the_object_is_refused(http, web, body, code, text):
    answer = http("PUT", f"{SETS}/web/scale", body)
    assert answer.status_code == code
    assert text in answer.json()["message"]


def test_only_what_has_a_size_has_a_scale(http):
    assert http("GET", "/api/v1/namespaces/default/pods/p/scale").status_code == 404


def test_clients_are_told_of_it(http):
    resources = {item["name"]: item for item in http("GET", "/apis/apps/v1").json()["resources"]}
    assert resources["statefulsets/scale"] == {
        "name": "statefulsets/scale",
        "singularName": "",
        "namespaced": True,
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
        "verbs": ["get", "patch", "update"],
    }
    document = http("GET", "/openapi/v3/apis/apps/v1").json()
    assert "io.k8s.api.autoscaling.v1.Scale" in document["components"]["schemas"]
    path = "/apis/apps/v1/namespaces/{namespace}/statefulsets/{name}/scale"
    assert set(document["paths"][path]) == {"get", "put", "patch", "parameters"}


def test_a_scale_is_shown_with_its_own_columns(http, web):
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
    table = http("GET", f"{SETS}/web/scale", Accept=accept).json()
    assert [column["name"] for column in table["columnDefinitions"]] == [
        "Name",
        "Desired",
        "Available",
        "Age",
    ]
    assert table["rows"][0]["cells"][:3] == ["web", 2, 0]


def test_tables_also_come_in_their_older_version(http, web):
    accept = "application/json;as=Table;v=v1beta1;g=meta.k8s.io"
    table = http("GET", f"{SETS}/web", Accept=accept).json()
    assert (table["apiVersion"], table["kind"]) == ("meta.k8s.io/v1beta1", "Table")
    assert http("GET", SETS, Accept=accept).json()["rows"][0]["cells"][0] == "web"


def test_reviews_are_not_shown_as_tables(http):
    accept = "application/json;as=Table;v=v1beta1;g=meta.k8s.io"
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert http("POST", path, {"spec": {}}, Accept=accept).status_code == 406
    assert http("POST", path, {"spec": {}}, Accept=f"{accept},application/json").status_code == 201
