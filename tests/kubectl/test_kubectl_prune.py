"""kubectl apply --prune: what the manifests no longer name goes."""

import pytest

pytestmark = pytest.mark.kubectl

CONFIG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: %s, labels: {app: pruned}}
---
"""


def test_objects_that_are_no_longer_named_are_pruned(shared_kubectl):
    shared_kubectl("create namespace pruned")
    both, one = CONFIG % "a" + CONFIG % "b", CONFIG % "a"
    shared_kubectl("apply -n pruned -f -", manifest=both)
    allowed = "--prune-allowlist=core/v1/ConfigMap"
    told = shared_kubectl(f"apply -n pruned --prune -l app=pruned {allowed} -f -", manifest=one)
    assert "configmap/b pruned" in told
    assert shared_kubectl("get cm -n pruned -l app=pruned -o name") == "configmap/a\n"
