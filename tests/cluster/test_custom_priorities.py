"""Groups as custom resources on a real API server: their class decides, a number does not, and they are protected in use."""

import json
import time

import pytest
import yaml

from posse.control_plane.assets import NATIVE, find_program
from tests.cluster.manifests import node, pod
from tests.support.stock_kubectl import Kubectl
from tools.installed_posse import start_posse

pytestmark = pytest.mark.cluster

PATIENCE_SECONDS = 30.0
FINALIZER = "scheduling.k8s.io/podgroup-protection"
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "rationed"},
    "spec": {
        "hard": {"pods": "9"},
        "scopeSelector": {
            "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
        },
    },
}


@pytest.fixture(scope="module")
def kubectl(plane_without_groups, tmp_path_factory):
    program = str(find_program(NATIVE, "kubectl"))
    return Kubectl(program, plane_without_groups.kubeconfig(), tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def log(plane_without_groups, kubectl):
    kubectl("apply -f -", manifest=yaml.safe_dump(QUOTA))
    running = start_posse(plane_without_groups, "crd")
    kubectl("apply -f -", manifest=yaml.safe_dump(node("n1")))
    yield running.log
    running.stop()


def until(found):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (value := found()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.2)
    return value


def group(name, **spec):
    identity = {"apiVersion": "scheduling.posse.dev/v1alpha1", "kind": "PodGroup", "metadata": {"name": name}}
    return identity | {"spec": {"schedulingPolicy": {"gang": {"minCount": 1}}, **spec}}


def member(name, of):
    obj = pod(name, scheduler="posse")
    obj["metadata"]["labels"] = {"scheduling.posse.dev/pod-group": of}
    return obj


def seen(kubectl, kind, name):
    return json.loads(kubectl(f"get {kind} {name} -o json"))


def test_quotas_on_classes_are_warned_of(log):
    assert until(lambda: "quotas ration priority classes (default/rationed)" in log.read_text())


def test_a_number_that_no_class_gives_is_told_as_invalid(kubectl, log):
    kubectl(
        "apply -f -",
        manifest=yaml.safe_dump_all([group("forged", priority=1_000_000_000), member("f0", "forged")]),
    )

    def told():
        conditions = (
            seen(kubectl, "podgroups.scheduling.posse.dev", "forged").get("status", {}).get("conditions", [])
        )
        return [one["message"] for one in conditions if one["reason"] == "Invalid"]

    assert until(told) == ["spec.priority: 1000000000 is given by no PriorityClass; name one that gives it"]
    assert not seen(kubectl, "pod", "f0")["spec"].get("nodeName")


def test_a_group_with_pods_outlives_its_deletion_until_they_end(kubectl, log):
    kubectl("apply -f -", manifest=yaml.safe_dump_all([group("used"), member("u0", "used")]))
    until(lambda: seen(kubectl, "pod", "u0")["spec"].get("nodeName"))
    kind = "podgroups.scheduling.posse.dev"
    until(lambda: FINALIZER in (seen(kubectl, kind, "used")["metadata"].get("finalizers") or ()))
    kubectl(f"delete {kind} used --wait=false")
    assert seen(kubectl, kind, "used")["metadata"]["deletionTimestamp"]
    kubectl("delete pod u0 --force --grace-period=0")
    kubectl(f"wait {kind}/used --for=delete --timeout=30s")
