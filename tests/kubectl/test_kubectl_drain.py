"""Draining a node with kubectl: disruption budgets are respected."""

import json

import pytest

pytestmark = pytest.mark.kubectl

SET = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: web}
spec:
  replicas: 2
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: registry.example/web:1}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""


def node_of(kubectl, pod):
    return json.loads(kubectl(f"get pod {pod} -o json"))["spec"]["nodeName"]


def test_a_budget_holds_up_the_drain_of_a_node(cluster_kubectl):
    kubectl = cluster_kubectl
    kubectl("apply -f -", manifest=SET)
    kubectl("rollout status statefulset/web --timeout=20s")
    kubectl("wait --for=jsonpath={.status.currentHealthy}=2 pdb/web --timeout=20s")
    node = node_of(kubectl, "web-0")
    told = kubectl.refused(f"drain {node} --timeout=1s")
    assert "Cannot evict pod as it would violate the pod's disruption budget." in told
    assert node_of(kubectl, "web-0") == node
    kubectl("patch pdb web --type=merge -p", '{"spec": {"minAvailable": 1}}')
    kubectl("wait --for=jsonpath={.status.disruptionsAllowed}=1 pdb/web --timeout=20s")
    assert "pod/web-0 evicted" in kubectl(f"drain {node} --timeout=20s")
    kubectl("wait --for=jsonpath={.status.currentHealthy}=2 pdb/web --timeout=20s")
    assert node_of(kubectl, "web-0") != node
