"""Paths name a resource, an object or a subresource, or nothing that is served."""

import pytest

from posse.apiserver.http.paths import parse_resource_path
from posse.kinds.registry import NAMESPACE, NODE, POD, POD_GROUP, PRIORITY_CLASS

GROUP = "/apis/scheduling.k8s.io"


@pytest.mark.parametrize(
    ("path", "kind", "version", "namespace", "name", "subresource"),
    [
        ("/api/v1/pods", POD, "v1", "", "", ""),
        ("/api/v1/pods/", POD, "v1", "", "", ""),
        ("/api/v1/namespaces/ns/pods", POD, "v1", "ns", "", ""),
        ("/api/v1/namespaces/ns/pods/p", POD, "v1", "ns", "p", ""),
        ("/api/v1/namespaces/ns/pods/p/status", POD, "v1", "ns", "p", "status"),
        ("/api/v1/namespaces/ns/pods/p/binding", POD, "v1", "ns", "p", "binding"),
        ("/api/v1/nodes/n", NODE, "v1", "", "n", ""),
        ("/api/v1/nodes/n/status", NODE, "v1", "", "n", "status"),
        ("/api/v1/namespaces", NAMESPACE, "v1", "", "", ""),
        ("/api/v1/namespaces/ns", NAMESPACE, "v1", "", "ns", ""),
        ("/api/v1/namespaces/ns/status", NAMESPACE, "v1", "", "ns", "status"),
        ("/api/v1/namespaces/ns/finalize", NAMESPACE, "v1", "", "ns", "finalize"),
        (f"{GROUP}/v1/priorityclasses/high", PRIORITY_CLASS, "v1", "", "high", ""),
        (f"{GROUP}/v1beta1/namespaces/ns/podgroups/g", POD_GROUP, "v1beta1", "ns", "g", ""),
        (f"{GROUP}/v1alpha3/namespaces/ns/podgroups/g/status", POD_GROUP, "v1alpha3", "ns", "g", "status"),
        ("/api/v1/namespaces/n%73/pods/a%2Eb", POD, "v1", "ns", "a.b", ""),
        ("/api/v1/namespaces/ns/pods/a%2Fb", POD, "v1", "ns", "a/b", ""),
    ],
)
def test_served_paths(path, kind, version, namespace, name, subresource):
    target = parse_resource_path(path)
    assert target is not None
    assert target.kind is kind
    assert (target.version, target.namespace, target.name, target.subresource) == (
        version,
        namespace,
        name,
        subresource,
    )


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api",
        "/api/v1",
        "/apis/scheduling.k8s.io/v1",
        "/api/v1/gadgets",
        "/api/v2/pods",
        "/apis/nobody.example/v1/pods",
        "/api/v1/pods/p",  # A namespaced object needs its namespace.
        "/api/v1/namespaces/ns/nodes",
        "/api/v1/namespaces/ns/nodes/n",
        "/api/v1/namespaces/ns/pods/p/log",
        "/api/v1/namespaces/ns/pods/p/status/more",
        "/api/v1/namespaces//pods",
        "/api/v1/namespaces/ns/pods//status",
        f"{GROUP}/v1/namespaces/ns/podgroups",
        f"{GROUP}/v1beta1/namespaces/ns/workloads/w/status",
        f"{GROUP}/v1beta1/namespaces/ns/compositepodgroups",
        "/metrics",
    ],
)
def test_paths_that_name_nothing(path):
    assert parse_resource_path(path) is None
