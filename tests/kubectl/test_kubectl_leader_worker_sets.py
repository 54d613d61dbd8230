"""LeaderWorkerSets by kubectl: applied, waited for, scaled, looked at and deleted."""

import json
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.kubectl

SERVING = Path(__file__).parents[2] / "examples" / "leaderworkersets" / "serving.yaml"


def test_a_set_is_applied_scaled_and_deleted(cluster_kubectl):
    kubectl = cluster_kubectl
    kubectl(f"apply -f {SERVING}")
    kubectl("wait --for=condition=Available lws/serving --timeout=20s")
    header, line = (text.split() for text in kubectl("get lws").strip().splitlines())
    assert header == ["NAME", "READY", "DESIRED", "UP-TO-DATE", "AGE"]
    assert line[:4] == ["serving", "2", "2", "2"]
    kubectl("scale lws/serving --replicas=1")
    kubectl("wait --for=jsonpath={.status.replicas}=1 lws/serving --timeout=20s")
    scale = json.loads(kubectl("get lws serving --subresource=scale -o json"))
    assert scale["status"]["selector"].startswith("leaderworkerset.sigs.k8s.io/name=serving,")
    assert "AllGroupsReady" in kubectl("describe lws serving")
    assert "leaderWorkerTemplate" in kubectl("explain lws.spec")
    kubectl("delete lws serving --timeout=20s")
    deadline = time.monotonic() + 20
    # Every cluster has the Service of its API server.
    while {one["metadata"]["name"] for one in json.loads(kubectl("get pods,sts,svc -o json"))["items"]} != {
        "kubernetes"
    }:
        assert time.monotonic() < deadline
        time.sleep(0.2)
