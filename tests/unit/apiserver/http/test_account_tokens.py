"""Tokens of ServiceAccounts: who gets one, what it opens, and when it ends."""

import random

import pytest

from posse.apiserver.http.account_tokens import AccountTokens
from posse.apiserver.requests import DeleteOptions
from posse.apiserver.service import ApiService
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import NAMESPACE, NODE, POD, SECRET, SERVICE_ACCOUNT
from posse.store.store import Store

WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def service(clock):
    service = ApiService(Store(history_limit=100), clock, random.Random(7))
    service.create(NAMESPACE, "", {"metadata": {"name": "ns"}})
    service.create(SERVICE_ACCOUNT, "ns", {"metadata": {"name": "robot"}})
    return service


@pytest.fixture
def tokens(service, clock):
    return AccountTokens("the token of the owner", service, clock)


def token_of(tokens, **spec):
    return tokens.issue("ns", "robot", {"spec": spec})["status"]["token"]


def test_a_token_stands_for_its_account(tokens):
    user = tokens.user(f"Bearer {token_of(tokens)}")
    assert user["username"] == "system:serviceaccount:ns:robot"
    assert "system:serviceaccounts:ns" in user["groups"]


def test_a_token_ends(tokens, clock):
    answer = tokens.issue("ns", "robot", {"spec": {"expirationSeconds": 600}})
    assert answer["status"]["expirationTimestamp"] == "1970-01-01T00:26:40Z"
    header = f"Bearer {answer['status']['token']}"
    clock.now += 599
    assert tokens.user(header)
    clock.now += 1
    assert tokens.user(header) is None


def test_a_token_ends_with_its_account(tokens, service):
    header = f"Bearer {token_of(tokens)}"
    service.delete(SERVICE_ACCOUNT, "ns", "robot")
    assert tokens.user(header) is None
    service.create(SERVICE_ACCOUNT, "ns", {"metadata": {"name": "robot"}})
    assert tokens.user(header) is None


def test_a_token_for_another_audience_opens_nothing_here(tokens):
    assert tokens.user(f"Bearer {token_of(tokens, audiences=['vault'])}") is None
    both = token_of(tokens, audiences=["vault", "https://kubernetes.default.svc.cluster.local"])
    assert tokens.user(f"Bearer {both}")


@pytest.mark.parametrize(
    "header", ["", "Bearer ", "Bearer x", "Bearer a.b.c", "Basic {0}", "Bearer {0}x", "Bearer .{0}"]
)
def test_other_headers_stand_for_nothing(tokens, header):
    assert tokens.user(header.format(token_of(tokens))) is None


def test_a_token_of_another_cluster_stands_for_nothing(tokens, service, clock):
    other = AccountTokens("another owner", service, clock)
    assert tokens.user(f"Bearer {token_of(other)}") is None


@pytest.mark.parametrize("spec", [{"expirationSeconds": 599}, {"expirationSeconds": 2**33}, {"audiences": 5}])
def test_requests_that_are_refused(tokens, spec):
    with pytest.raises(ApiError):
        token_of(tokens, **spec)


def test_the_server_takes_the_token(http):
    http("POST", "/api/v1/namespaces", {"metadata": {"name": "ns"}})
    http("POST", "/api/v1/namespaces/ns/serviceaccounts", {"metadata": {"name": "robot"}})
    issued = http("POST", "/api/v1/namespaces/ns/serviceaccounts/robot/token", {"spec": {}})
    assert issued.status_code == 201
    header = f"Bearer {issued.json()['status']['token']}"
    who = http("POST", WHO, REVIEW, Authorization=header).json()
    assert who["status"]["userInfo"]["username"] == "system:serviceaccount:ns:robot"
    assert http("POST", WHO, REVIEW).json()["status"]["userInfo"]["username"] == "posse-owner"
    assert http("GET", "/api/v1/pods", Authorization=header + "x").status_code == 401


def pod(name, **spec):
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


def bound_to(name, **more):
    return {"apiVersion": "v1", "kind": "Secret", "name": name, **more}


def test_a_token_ends_with_the_object_that_it_is_bound_to(tokens, service):
    service.create(SECRET, "ns", {"metadata": {"name": "key"}})
    header = f"Bearer {token_of(tokens, boundObjectRef=bound_to('key'))}"
    assert tokens.user(header)["username"] == "system:serviceaccount:ns:robot"
    service.delete(SECRET, "ns", "key")
    assert tokens.user(header) is None
    service.create(SECRET, "ns", {"metadata": {"name": "key"}})
    assert tokens.user(header) is None


@pytest.mark.parametrize("api_version", ["v1", "", None])
def test_a_token_is_bound_to_a_node_or_to_a_pod_of_its_account(tokens, service, api_version):
    service.create(NODE, "", {"metadata": {"name": "n"}})
    service.create(POD, "ns", pod("worker", serviceAccountName="robot"))
    for kind, namespace, name in ((NODE, "", "n"), (POD, "ns", "worker")):
        reference = {"apiVersion": api_version, "kind": kind.name, "name": name}
        header = f"Bearer {token_of(tokens, boundObjectRef=reference)}"
        assert tokens.user(header)["username"] == "system:serviceaccount:ns:robot"
        service.delete(kind, namespace, name, DeleteOptions(grace_seconds=0))
        assert tokens.user(header) is None


@pytest.mark.parametrize("account", [{}, {"serviceAccountName": "other"}])
def test_a_token_is_not_bound_to_a_pod_of_another_account(tokens, service, account):
    service.create(POD, "ns", pod("worker", **account))
    reference = {"apiVersion": "v1", "kind": "Pod", "name": "worker"}
    with pytest.raises(ApiError, match='serviceaccount "robot" to pod running with different') as refusal:
        token_of(tokens, boundObjectRef=reference)
    assert refusal.value.code == 400


def test_a_pod_that_names_no_account_runs_under_the_default_one(tokens, service):
    service.create(SERVICE_ACCOUNT, "ns", {"metadata": {"name": "default"}})
    service.create(POD, "ns", pod("worker"))
    bound = {"boundObjectRef": {"kind": "Pod", "name": "worker"}}
    assert tokens.issue("ns", "default", {"spec": bound})["status"]["token"]


@pytest.mark.parametrize(
    ("reference", "code", "text"),
    [
        (bound_to("none"), 404, 'secrets "none" not found'),
        (bound_to("key", uid="other"), 409, "does not match the UID in record"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}, 400, "cannot bind token"),
        ({"apiVersion": "apps/v1", "kind": "Secret", "name": "key"}, 400, "cannot bind token"),
    ],
)
def test_a_token_is_not_bound_to_what_is_not_there(tokens, service, reference, code, text):
    service.create(SECRET, "ns", {"metadata": {"name": "key"}})
    with pytest.raises(ApiError, match=text) as refusal:
        token_of(tokens, boundObjectRef=reference)
    assert refusal.value.code == code
