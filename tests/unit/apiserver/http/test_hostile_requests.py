"""Requests that are malformed, or meant to wear the server out: answered, bounded, and kept out of the log."""

import json
import logging
import socket
import ssl
import time
from contextlib import closing, suppress

import pytest

from posse.apiserver.http import server


def raw_connection(live_server):
    host, port = live_server.url.removeprefix("https://").split(":")
    context = ssl.create_default_context(cadata=live_server.certificates.authority_pem.decode())
    return context.wrap_socket(socket.create_connection((host, int(port)), timeout=10), server_hostname=host)


def exchange(live_server, request):
    with closing(raw_connection(live_server)) as connection:
        connection.sendall(request)
        return connection.recv(65536)


def test_control_characters_in_unknown_fields_do_not_break_the_answer(http):
    fields = {
        f"odd\x00\x7f\u2028\ud83d{number}".encode("utf-8", "replace").decode(): 1 for number in range(3)
    }
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "odd"}, **fields}
    answer = http("POST", "/api/v1/namespaces/default/configmaps", body)
    assert answer.status_code == 201
    assert "unknown field" in answer.headers["Warning"]


def test_warnings_are_bounded(http):
    fields = {f"field-{number}-{'x' * 400}": 1 for number in range(500)}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "many"}, **fields}
    answer = http("POST", "/api/v1/namespaces/default/configmaps", body)
    assert answer.status_code == 201
    assert len(answer.headers["Warning"]) < 8000
    assert "484 further warnings are left out" in answer.headers["Warning"]


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /api/v1/pods HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN-\x00-SECRET\r\n\r\n",
        b"GET /api/v1/pods HTTP/1.1\r\nHost: x\r\nAuthorization Bearer TOKEN-SECRET\r\n\r\n",
        b"NONSENSE\r\n\r\n",
        b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n",
    ],
)
def test_a_malformed_request_is_refused_and_not_logged(live_server, caplog, request_bytes):
    with caplog.at_level(logging.DEBUG):
        answer = exchange(live_server, request_bytes)
    assert answer.startswith((b"HTTP/1.0 400", b"HTTP/1.1 400"))
    assert "SECRET" not in caplog.text
    assert "Traceback" not in caplog.text


def test_connections_without_a_valid_token_are_closed(live_server, http, monkeypatch):
    monkeypatch.setattr(server, "ANONYMOUS_SECONDS", 0.5)
    silent = [raw_connection(live_server) for _ in range(5)]
    half = raw_connection(live_server)
    half.sendall(b"GET /api/v1/pods HTTP/1.1\r\nHost: x\r\n")
    assert http("GET", "/api/v1/namespaces").status_code == 200
    deadline = time.monotonic() + 10
    for connection in [*silent, half]:
        connection.settimeout(max(deadline - time.monotonic(), 0.1))
        with closing(connection), suppress(ConnectionError, ssl.SSLError):
            assert connection.recv(1) == b""
    assert http("GET", "/api/v1/namespaces").status_code == 200


def test_a_large_yaml_body_is_read_beside_other_requests(http):
    body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: large}\ndata:\n" + "".join(
        f"  key-{number}: value\n" for number in range(20_000)
    )
    answer = http("POST", "/api/v1/namespaces/default/configmaps", body, Content_Type="application/yaml")
    assert answer.status_code == 201
    assert len(json.loads(answer.content)["data"]) == 20_000


JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "spec": {"template": {"spec": {"containers": [], "restartPolicy": "Never"}}},
}
NAMELESS = [{}, {"metadata": {}}, {"metadata": {"name": ""}}, {"metadata": {"labels": {"a": "b"}}}]


@pytest.mark.parametrize("extra", NAMELESS)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/apis/batch/v1/namespaces/default/jobs", JOB),
        ("/apis/apps/v1/namespaces/default/statefulsets", {"spec": {"template": {}}}),
        ("/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets", {"spec": {"replicatedJobs": [{}]}}),
        ("/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets", {"spec": {}}),
        ("/api/v1/namespaces/default/pods", {"spec": {"containers": [{}]}}),
        ("/apis/scheduling.k8s.io/v1alpha3/namespaces/default/podgroups", {"spec": {}}),
        ("/apis/scheduling.k8s.io/v1alpha3/namespaces/default/workloads", {"spec": {}}),
    ],
)
def test_an_object_without_a_name_is_refused_by_name(http, path, body, extra):
    answer = http("POST", path, {**body, **extra})
    assert answer.status_code == 422
    assert "metadata.name" in answer.text


@pytest.mark.parametrize("item", [1, "x", None, [], [1], True])
@pytest.mark.parametrize(
    "directive", ["containers", "$setElementOrder/containers", "$deleteFromPrimitiveList/x", "$retainKeys"]
)
def test_anything_in_a_merge_list_is_answered(http, item, directive):
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    http("POST", "/api/v1/namespaces/default/pods", pod)
    patch = {"spec": {directive: [item]}}
    kind = "application/strategic-merge-patch+json"
    answer = http("PATCH", "/api/v1/namespaces/default/pods/p", patch, Content_Type=kind)
    assert answer.status_code in {200, 400, 422}
