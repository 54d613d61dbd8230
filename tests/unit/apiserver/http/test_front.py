"""What every request meets first: authentication, self-description, and a Status for every failure."""

import logging
import socket

import pytest
import requests

from posse.apiserver.http import app, bodies, streams

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
KUBECTL_DISCOVERY = (
    f"{DISCOVERY},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)


@pytest.mark.parametrize("header", ["Bearer wrong", "Basic YTpi", "", None])
def test_without_the_token_nothing_is_told(http, header):
    answer = http("GET", "/api/v1/namespaces/default/pods", Authorization=header)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.json()["reason"] == "Unauthorized"
    assert http("GET", "/no/such/path", Authorization=header).status_code == 401


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping", "/livez/ping"])
def test_health_is_open(http, path):
    answer = http("GET", path, Authorization=None)
    assert (answer.status_code, answer.text) == (200, "ok")


def test_health_says_on_request_what_was_checked(http):
    answer = http("GET", "/readyz?verbose", Authorization=None)
    assert answer.text == "[+]ping ok\nreadyz check passed\n"
    assert http("GET", "/readyz/other").status_code == 404


def test_the_root_lists_the_paths(http):
    assert {"/api/v1", "/apis/apps/v1", "/openapi/v3", "/version"} <= set(http("GET", "/").json()["paths"])
    assert http("GET", "/", Authorization=None).status_code == 401


def test_the_version_is_open_and_says_which_kubernetes_is_served(http):
    version = http("GET", "/version", Authorization=None).json()
    assert (version["major"], version["minor"]) == ("1", "37")
    assert version["gitVersion"].startswith("v1.37.0+posse")


def test_plain_and_aggregated_discovery_at_the_same_path(http):
    plain = http("GET", "/apis", Accept="application/json")
    assert plain.json()["kind"] == "APIGroupList"
    assert plain.headers["Content-Type"] == "application/json"
    aggregated = http("GET", "/apis", Accept=KUBECTL_DISCOVERY)
    assert aggregated.json()["kind"] == "APIGroupDiscoveryList"
    assert aggregated.headers["Content-Type"] == DISCOVERY
    assert aggregated.headers["Vary"] == "Accept"
    assert http("GET", "/api", Accept=KUBECTL_DISCOVERY).json()["items"][0]["versions"][0]["version"] == "v1"
    assert http("GET", "/api/v1", Accept=KUBECTL_DISCOVERY).json()["kind"] == "APIResourceList"
    assert (
        http("GET", "/apis/scheduling.k8s.io/v1beta1/").json()["groupVersion"] == "scheduling.k8s.io/v1beta1"
    )


@pytest.mark.parametrize("path", ["/apis", "/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1"])
def test_a_document_the_client_has_already_is_not_sent_again(http, path):
    first = http("GET", path)
    assert first.status_code == 200
    again = http("GET", path, If_None_Match=first.headers["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    assert http("GET", path, If_None_Match='"other"').content == first.content


def test_the_openapi_index_leads_to_every_document(http):
    paths = http("GET", "/openapi/v3").json()["paths"]
    assert {"api/v1", "apis/scheduling.k8s.io/v1beta1", "apis/scheduling.k8s.io/v1alpha3"} <= set(paths)
    for entry in paths.values():
        document = http("GET", entry["serverRelativeURL"])
        assert document.json()["openapi"].startswith("3.")


def test_openapi_in_protobuf(http):
    accept = "application/com.github.proto-openapi.spec.v{}@v1.0+protobuf"
    newer = http("GET", "/openapi/v3/api/v1", Accept=accept.format(3))
    assert newer.headers["Content-Type"] == "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
    assert newer.content.startswith(b"\n\x053.0.0\x12")
    assert b"io.k8s.api.core.v1.PodSpec" in newer.content
    assert http("GET", "/openapi/v3/api/v1", Accept=accept.format(2)).status_code == 406
    answer = http("GET", "/openapi/v2", Accept=accept.format(2))
    assert answer.headers["Content-Type"] == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert answer.content.startswith(b"\n\x032.0\x12")
    assert b"io.k8s.api.core.v1.PodSpec" in answer.content
    assert (
        http("GET", "/openapi/v2", Accept=accept.format(2), If_None_Match=answer.headers["ETag"]).status_code
        == 304
    )
    assert http("GET", "/openapi/v2", Accept="application/json").json()["swagger"] == "2.0"


def test_a_timeout_that_is_no_duration_is_refused(http):
    refused = http("GET", "/version?timeout=soon")
    assert refused.status_code == 400
    assert "invalid timeout specified in the request URL" in refused.json()["message"]
    for timeout in ("3m", "0", "0s", "1m30s", "500ms"):
        assert http("GET", f"/version?timeout={timeout}").status_code == 200


def test_there_are_no_custom_resource_definitions(http):
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert http("GET", path).json()["items"] == []
    assert http("GET", f"{path}?watch=true").status_code == 404
    assert http("POST", path, {}).status_code == 404


def test_documents_cannot_be_written(http):
    assert http("POST", "/apis", "{}").status_code == 404


def test_a_fault_inside_is_logged_and_answered_and_the_server_goes_on(http, live_server, monkeypatch, caplog):
    def fail(*_args):
        raise ZeroDivisionError("something nobody thought of")

    monkeypatch.setattr(live_server.service, "list", fail)
    with caplog.at_level(logging.ERROR, app.__name__):
        answer = http("GET", "/api/v1/nodes")
    status = answer.json()
    assert (answer.status_code, status["reason"]) == (500, "InternalError")
    assert "ZeroDivisionError" not in status["message"]
    assert "something nobody thought of" in caplog.text
    assert "GET /api/v1/nodes failed" in caplog.text
    monkeypatch.undo()
    assert http("GET", "/api/v1/nodes").status_code == 200


def test_a_client_that_leaves_before_its_answer_begins_is_no_fault(http, monkeypatch, caplog):
    async def left(request, _view):
        request.transport.abort()
        raise ConnectionResetError("Cannot write to closing transport")

    monkeypatch.setattr(streams, "_started", left)
    with pytest.raises(requests.ConnectionError):
        http("GET", "/api/v1/pods?watch=true")
    assert not [record for record in caplog.records if record.levelname in {"WARNING", "ERROR"}]
    monkeypatch.undo()
    assert http("GET", "/api/v1/pods").status_code == 200


def test_an_untrusting_client_does_not_connect(live_server):
    with pytest.raises(requests.exceptions.SSLError):
        requests.get(f"{live_server.url}/healthz", timeout=10)


def test_a_body_that_never_arrives_is_given_up(live_server, monkeypatch):
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.05)
    head = (
        "POST /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
        f"Authorization: Bearer {live_server.token}\r\n\r\n"
    )
    address = ("127.0.0.1", live_server.listener.port)
    with (
        socket.create_connection(address, timeout=10) as plain,
        live_server.client_context().wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        connection.sendall(head.encode() + b"{")
        assert b" 408 " in connection.recv(4096)
