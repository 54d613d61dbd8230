"""posse doctor on real control planes: what it reads there, the rights of the installed account, what is wrong."""

import json
import os
import subprocess
import sys

import pytest
import yaml

from posse.control_plane.assets import NATIVE, find_program
from tests.cluster.manifests import gang, node
from tests.support.stock_kubectl import Kubectl
from tools.installed_posse import install_posse

pytestmark = pytest.mark.cluster

HOOK = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingWebhookConfiguration",
    "metadata": {"name": "injector"},
    "webhooks": [
        {
            "name": "inject.example.com",
            "rules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}
            ],
            "clientConfig": {"url": "https://127.0.0.1:1/inject"},
            "failurePolicy": "Ignore",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
    ],
}


@pytest.fixture(scope="module", params=["plane", "plane_without_groups"], ids=["1.37", "1.33"])
def cluster(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def kubectl(cluster, tmp_path):
    return Kubectl(str(find_program(NATIVE, "kubectl")), cluster.kubeconfig(), tmp_path)


def doctor(cluster, *words):
    """What it found, by check, and its exit code."""
    environment = os.environ | {"KUBECONFIG": str(cluster.kubeconfig())}
    command = [sys.executable, "-m", "posse", "doctor", "-o", "json", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def messages(report, check):
    return [one["message"] for one in report["findings"] if one["check"] == check]


def labelled(name, rack, block):
    made = node(name)
    made["metadata"]["labels"] = {"topology.posse.dev/rack": rack, "topology.posse.dev/block": block}
    return made


def test_what_is_wrong_is_found_and_what_is_mended_is_not(cluster, kubectl):
    is_native = cluster.release is NATIVE
    if not is_native:
        code, report = doctor(cluster)
        assert code == 4
        assert "no API for PodGroups" in " ".join(messages(report, "group-apis"))
    install_posse(cluster)
    kubectl("wait crd --for condition=established --timeout 20s --all") if not is_native else None
    code, report = doctor(cluster)
    assert (code, report["skipped"]) == (0, [])
    assert {"version", "rights", "clock", "topology"} <= set(report["passed"])
    served = "the API server itself" if is_native else "a custom resource, installed by kubectl"
    assert served in " ".join(messages(report, "group-apis"))

    broken = [labelled("n1", "r1", "b1"), labelled("n2", "r1", "b2")]
    kubectl("apply -f -", manifest=yaml.safe_dump_all([HOOK, *broken]))
    kubectl("delete clusterrolebinding posse")
    code, report = doctor(cluster)
    assert code == 4
    assert "topology.posse.dev/rack=r1 is in 2 domains" in messages(report, "topology")[0]
    assert "injector (inject.example.com) may change pods" in messages(report, "admission")[0]
    assert any("kube-system/posse may not create pods/binding" in text for text in messages(report, "rights"))

    kubectl("label node n2 --overwrite topology.posse.dev/rack=r2")
    kubectl("delete mutatingwebhookconfiguration injector")
    install_posse(cluster)
    code, report = doctor(cluster)
    assert code == 0, report["findings"]


def test_gangs_are_looked_at(plane, tmp_path):
    kubectl = Kubectl(str(find_program(NATIVE, "kubectl")), plane.kubeconfig(), tmp_path)
    fragile = gang("fragile", 1)
    fragile["spec"]["schedulingConstraints"] = {"topology": [{"key": "example.com/row"}]}
    kubectl("apply -f -", manifest=yaml.safe_dump_all([fragile, node("n1")]))
    code, report = doctor(plane)
    assert code == 4
    assert "default/fragile" in " ".join(messages(report, "topology"))
