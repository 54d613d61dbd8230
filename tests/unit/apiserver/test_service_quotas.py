"""Quotas and limit ranges: what new objects of a namespace are given, and refused for."""

from collections import Counter
from copy import deepcopy

import pytest

from posse.apiserver.quota_ledger import QuotaLedger
from posse.apiserver.requests import DeleteOptions, WriteOptions
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import (
    JOB,
    LIMIT_RANGE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    PRIORITY_CLASS,
    RESOURCE_QUOTA,
    SERVICE,
)
from posse.transport.patches import Patch

MERGE = "application/merge-patch+json"
NOW = DeleteOptions(grace_seconds=0)


@pytest.fixture
def quota(service):
    def make(name="q", hard=None, **spec):
        body = {"metadata": {"name": name}, "spec": {"hard": hard or {"pods": "2"}, **spec}}
        return service.create(RESOURCE_QUOTA, "default", body)

    return make


@pytest.fixture
def limits(service):
    def make(**item):
        spec = {"limits": [{"type": "Container", **item}]}
        return service.create(LIMIT_RANGE, "default", {"metadata": {"name": "l"}, "spec": spec})

    return make


def with_cpu(cpu="1", **spec):
    resources = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    return {"containers": [{"name": "main", "image": "x", "resources": resources}], **spec}


def refusal(service, kind, body):
    with pytest.raises(ApiError) as caught:
        service.create(kind, "default", body)
    assert caught.value.code == 403
    return str(caught.value)


def test_pods_beyond_the_quota_are_refused(service, pod, quota):
    quota()
    for name in ("a", "b"):
        service.create(POD, "default", pod(name))
    said = refusal(service, POD, pod("c"))
    assert said == (
        'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
    )


def refused_update(service, kind, name, spec):
    with pytest.raises(ApiError) as caught:
        service.patch(kind, "default", name, Patch(MERGE, {"spec": spec}))
    assert caught.value.code == 403
    return str(caught.value)


def test_a_service_that_becomes_another_type_is_checked(service, quota):
    quota(hard={"services.nodeports": "0", "services": "1"})
    ports = [{"port": 80}]
    service.create(SERVICE, "default", {"metadata": {"name": "s"}, "spec": {"ports": ports}})
    said = refused_update(service, SERVICE, "s", {"type": "NodePort"})
    assert (
        "requested: services.nodeports=1, used: services.nodeports=0, limited: services.nodeports=0" in said
    )
    service.patch(SERVICE, "default", "s", Patch(MERGE, {"metadata": {"labels": {"a": "b"}}}))


def test_a_pod_that_enters_a_scope_by_an_update_is_checked(service, pod, quota):
    quota(hard={"pods": "1"}, scopes=["Terminating"])
    service.create(POD, "default", pod("a", activeDeadlineSeconds=10))
    service.create(POD, "default", pod("b"))
    assert "used: pods=1" in refused_update(service, POD, "b", {"activeDeadlineSeconds": 10})
    service.patch(POD, "default", "a", Patch(MERGE, {"spec": {"activeDeadlineSeconds": 5}}))


def test_an_object_of_a_full_namespace_may_change(service, pod, quota):
    service.create(POD, "default", pod("a"))
    service.create(POD, "default", pod("b"))
    quota(hard={"pods": "1"})
    service.patch(POD, "default", "a", Patch(MERGE, {"metadata": {"labels": {"a": "b"}}}))


def test_pods_that_were_there_before_count(service, pod, quota):
    service.create(POD, "default", pod("a"))
    quota(hard={"pods": "1"})
    assert "used: pods=1" in refusal(service, POD, pod("b"))


def test_pods_that_ended_or_went_free_their_share(service, pod, quota):
    quota()
    for name in ("a", "b"):
        service.create(POD, "default", pod(name, nodeName="n"))
    done = Patch(MERGE, {"status": {"phase": "Succeeded"}})
    service.patch(POD, "default", "a", done, subresource="status")
    service.create(POD, "default", pod("c"))
    service.delete(POD, "default", "b", NOW)
    service.create(POD, "default", pod("d"))
    refusal(service, POD, pod("e"))


def test_a_larger_quota_counts_at_once(service, pod, quota):
    quota(hard={"pods": "1"})
    service.create(POD, "default", pod("a"))
    refusal(service, POD, pod("b"))
    service.patch(RESOURCE_QUOTA, "default", "q", Patch(MERGE, {"spec": {"hard": {"pods": "2"}}}))
    service.create(POD, "default", pod("b"))


def test_requests_are_summed(service, pod, quota):
    quota(hard={"requests.cpu": "1500m", "memory": "10Gi"})
    service.create(POD, "default", pod("a", **with_cpu()))
    said = refusal(service, POD, pod("b", **with_cpu("600m")))
    assert "requested: requests.cpu=600m, used: requests.cpu=1, limited: requests.cpu=1500m" in said
    service.create(POD, "default", pod("c", **with_cpu("500m")))


def test_what_a_quota_bounds_must_be_stated(service, pod, quota):
    quota(hard={"limits.cpu": "1", "memory": "1Gi"})
    said = refusal(service, POD, pod("a"))
    assert said.endswith("failed quota: q: must specify limits.cpu for: main; memory for: main")


def test_trying_takes_nothing(service, pod, quota):
    quota(hard={"pods": "1"})
    service.create(POD, "default", pod("a"), WriteOptions(dry_run=True))
    service.create(POD, "default", pod("a"))


@pytest.mark.parametrize(
    ("hard", "kind", "spec"),
    [
        ("count/jobs.batch", JOB, {"template": {"spec": {"restartPolicy": "Never", **with_cpu()}}}),
        ("services", SERVICE, {"ports": [{"port": 80}]}),
        ("services.nodeports", SERVICE, {"ports": [{"port": 80}], "type": "NodePort"}),
        ("persistentvolumeclaims", PERSISTENT_VOLUME_CLAIM, None),
        ("fast.storageclass.storage.k8s.io/persistentvolumeclaims", PERSISTENT_VOLUME_CLAIM, None),
    ],
)
def test_other_objects_are_counted(service, quota, hard, kind, spec):
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    spec = spec or claim | {"storageClassName": "fast"}
    quota(hard={hard: "1"})
    service.create(kind, "default", {"metadata": {"name": "a"}, "spec": deepcopy(spec)})
    assert f"{hard}=1" in refusal(service, kind, {"metadata": {"name": "b"}, "spec": spec})


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ({"scopes": ["BestEffort"]}, {}, with_cpu()),
        ({"scopes": ["NotBestEffort"]}, with_cpu(), {}),
        ({"scopes": ["Terminating"]}, {"activeDeadlineSeconds": 5}, {}),
        ({"scopes": ["NotTerminating"]}, {}, {"activeDeadlineSeconds": 5}),
        (
            {
                "scopeSelector": {
                    "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
                }
            },
            {"priorityClassName": "high"},
            {},
        ),
    ],
)
def test_a_quota_with_scopes_counts_some_pods(service, pod, quota, scope, inside, outside):
    service.create(PRIORITY_CLASS, "", {"metadata": {"name": "high"}, "value": 5})
    quota(hard={"pods": "1"}, **scope)
    for name in ("a", "b"):
        service.create(POD, "default", pod(f"out-{name}", **outside))
    service.create(POD, "default", pod("in-a", **inside))
    refusal(service, POD, pod("in-b", **inside))


def test_containers_get_what_they_leave_out(service, pod, limits):
    limits(default={"cpu": "2"}, defaultRequest={"memory": "1Gi"})
    created = service.create(POD, "default", pod())
    resources = created["spec"]["containers"][0]["resources"]
    assert resources == {"limits": {"cpu": "2"}, "requests": {"cpu": "2", "memory": "1Gi"}}
    stated = service.create(POD, "default", pod("b", **with_cpu()))
    assert stated["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "1"


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({"min": {"cpu": "2"}}, "minimum cpu usage per Container is 2, but request is 1"),
        ({"max": {"cpu": "500m"}, "default": {"cpu": "400m"}}, None),
        (
            {"max": {"memory": "1Mi"}, "type": "Pod"},
            "maximum memory usage per Pod is 1Mi.  No limit is specified",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}, "default": {"cpu": "3"}, "defaultRequest": {"cpu": "1"}},
            "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
        ),
    ],
)
def test_containers_out_of_bounds_are_refused(service, pod, limits, bounds, text):
    limits(**bounds)
    if text is None:
        service.create(POD, "default", pod("a"))
    else:
        assert refusal(service, POD, pod("a", **with_cpu())).endswith(f"is forbidden: {text}")


def test_claims_out_of_bounds_are_refused(service, limits):
    limits(type="PersistentVolumeClaim", max={"storage": "1Gi"})
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
    said = refusal(service, PERSISTENT_VOLUME_CLAIM, {"metadata": {"name": "a"}, "spec": spec})
    assert "maximum storage usage per PersistentVolumeClaim is 1Gi, but limit is " in said


@pytest.mark.parametrize("body", [{}, {"spec": {}}, {"spec": None}], ids=["without", "empty", "null"])
def test_quotas_and_limit_ranges_that_say_nothing_bound_nothing(service, body):
    for kind in (RESOURCE_QUOTA, LIMIT_RANGE):
        service.create(kind, "default", {"metadata": {"name": "q"}, **deepcopy(body)})
    assert service.create(POD, "default", {"metadata": {"name": "p"}, "spec": with_cpu()})


def test_init_containers_state_what_a_quota_bounds_too(service, pod, quota):
    quota(hard={"cpu": "2"})
    bare = {"name": "prepare", "image": "x"}
    said = refusal(service, POD, pod("a", **with_cpu(initContainers=[bare])))
    assert said.endswith("failed quota: q: must specify cpu for: prepare")


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({"type": "NodePort"}, 2),
        ({"type": "LoadBalancer"}, 2),
        ({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False}, 0),
        ({"type": "ClusterIP"}, 0),
    ],
)
def test_ports_of_nodes_are_counted_one_by_one(service, quota, spec, count):
    quota(hard={"services.nodeports": "1"})
    ports = [{"name": name, "port": port} for name, port in (("a", 80), ("b", 81))]
    body = {"metadata": {"name": "s"}, "spec": {"ports": ports, **spec}}
    if count:
        assert f"requested: services.nodeports={count}" in refusal(service, SERVICE, body)
    else:
        service.create(SERVICE, "default", body)


def test_a_new_status_does_not_have_the_namespace_counted_again(service, quota, monkeypatch):
    quota(hard={"services": "3"})
    service.create(SERVICE, "default", {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 1}]}})
    counted = []
    monkeypatch.setattr(
        QuotaLedger, "_count", lambda _self, one, _namespace: counted.append(one) or Counter()
    )
    patch = Patch(MERGE, {"status": {"used": {"services": "1"}}})
    service.patch(RESOURCE_QUOTA, "default", "q", patch, subresource="status")
    service.create(SERVICE, "default", {"metadata": {"name": "b"}, "spec": {"ports": [{"port": 1}]}})
    assert counted == []
    quota("another", hard={"services": "2"})
    assert [one["metadata"]["name"] for one in counted] == ["another"]


def test_quotas_that_come_change_and_go_later_are_kept(service, quota):
    def make(name):
        return service.create(
            SERVICE, "default", {"metadata": {"name": name}, "spec": {"ports": [{"port": 1}]}}
        )

    quota("first", hard={"services": "9"})
    make("a")
    quota("second", hard={"services": "1"})
    with pytest.raises(ApiError, match="exceeded quota: second, requested: services=1, used: services=1"):
        make("b")
    service.patch(RESOURCE_QUOTA, "default", "second", Patch(MERGE, {"spec": {"hard": {"services": "2"}}}))
    make("b")
    with pytest.raises(ApiError, match="used: services=2"):
        make("c")
    service.delete(RESOURCE_QUOTA, "default", "second", NOW)
    make("c")
