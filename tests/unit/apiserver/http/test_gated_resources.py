"""Kinds whose feature gate is off: not served, not listed, and back with everything in them when the gate is on."""

import pytest

from posse.model.feature_gates import ALL_GATES, NEEDS, Gate
from tests.support.live_server import running_server

GROUP = "/apis/scheduling.k8s.io"
GATED = {
    Gate.GENERIC_WORKLOAD: {"workloads", "podgroups", "podgroups/status"},
    Gate.COMPOSITE_POD_GROUP: {"compositepodgroups", "compositepodgroups/status"},
}


@pytest.fixture
def serving(tmp_path):
    def serve(gates=ALL_GATES):
        return running_server(tmp_path / "server", gates)

    return serve


def without(gate):
    return ALL_GATES - {gate} - {one for one, needs in NEEDS.items() if gate in needs}


def listed(http):
    versions = [entry["groupVersion"] for entry in http("GET", GROUP).json()["versions"]]
    return {
        entry["name"] for version in versions for entry in http("GET", f"/apis/{version}").json()["resources"]
    }


def group(plural, version, kind):
    policy = {"schedulingPolicy": {"basic": {}}, "workloadRef": {"workloadName": "w", "templateName": "t"}}
    body = {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": kind,
        "metadata": {"name": "g"},
        "spec": policy,
    }
    return f"{GROUP}/{version}/namespaces/default/{plural}", body


def test_generic_workload_off_groups_are_not_served(serving, connect):
    path, body = group("podgroups", "v1beta1", "PodGroup")
    with serving() as server:
        http = connect(server)
        assert http("POST", path, body).status_code == 201
        assert GATED[Gate.GENERIC_WORKLOAD] <= listed(http)
    with serving(without(Gate.GENERIC_WORKLOAD)) as server:
        http = connect(server)
        assert http("GET", path).status_code == 404
        assert http("POST", path, body).status_code == 404
        assert http("GET", f"{path}/g").status_code == 404
        assert listed(http) == {"priorityclasses"}
        assert http("GET", f"{GROUP}/v1beta1").status_code == 404
        described = http("GET", "/openapi/v2").json()["paths"]
        assert [address for address in described if address.startswith(f"{GROUP}/v1beta1")] == []
        assert http("GET", "/apis/scheduling.posse.dev/v1alpha1/podgroups").status_code == 200
    with serving() as server:
        assert connect(server)("GET", f"{path}/g").status_code == 200


def test_composite_pod_group_off_they_alone_are_not_served(serving, connect):
    path, body = group("compositepodgroups", "v1alpha3", "CompositePodGroup")
    with serving() as server:
        http = connect(server)
        assert http("POST", path, body).status_code == 201
        assert GATED[Gate.COMPOSITE_POD_GROUP] <= listed(http)
    with serving(without(Gate.COMPOSITE_POD_GROUP)) as server:
        http = connect(server)
        assert http("GET", path).status_code == 404
        assert not GATED[Gate.COMPOSITE_POD_GROUP] & listed(http)
        assert GATED[Gate.GENERIC_WORKLOAD] <= listed(http)
        assert http("GET", f"{GROUP}/v1alpha3/podgroups").status_code == 200
