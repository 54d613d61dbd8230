"""StatefulSets by kubectl: scaled, rolled out, undone, and looked at."""

import pytest

pytestmark = pytest.mark.kubectl

STATEFUL_SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 2
  serviceName: web
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: main, image: "registry.example/web:1"}]
"""


def test_a_set_is_scaled_and_rolled_out_and_back(cluster_kubectl):
    kubectl = cluster_kubectl
    kubectl("apply -f -", manifest=STATEFUL_SET)
    kubectl("rollout status statefulset web --timeout=20s")
    assert kubectl("scale statefulset web --replicas=3") == "statefulset.apps/web scaled\n"
    assert kubectl("scale sts/web --current-replicas=3 --replicas=4") == "statefulset.apps/web scaled\n"
    kubectl("rollout status sts web --timeout=20s")
    header, line = (text.split() for text in kubectl("get sts").strip().splitlines())
    assert header == ["NAME", "READY", "AGE"]
    assert line[:2] == ["web", "4/4"]
    kubectl("set image sts/web main=registry.example/web:2")
    kubectl("rollout status sts web --timeout=20s")
    assert "registry.example/web:2" in kubectl("get pod web-3 -o yaml")
    kubectl("rollout undo sts/web")
    kubectl("rollout status sts web --timeout=20s")
    assert "registry.example/web:1" in kubectl("get pod web-0 -o yaml")
    revisions = kubectl("get controllerrevisions").strip().splitlines()
    assert revisions[0].split() == ["NAME", "CONTROLLER", "REVISION", "AGE"]
    assert sorted(line.split()[2] for line in revisions[1:]) == ["2", "3"]
    assert "Replicas: 4 desired | 4 total" in " ".join(kubectl("describe sts web").split())
