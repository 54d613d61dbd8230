"""`posse up --control-plane kubernetes`: the examples on a real API server, and nothing left behind when it ends."""

import os
import re
import shlex
import signal
from pathlib import Path

import pytest

from posse.control_plane.assets import NEEDED, find_kubectl
from tests.cluster.cluster_api import wait_until
from tests.cluster.up_command import UpCommand
from tests.support import posse_command
from tests.support.stock_kubectl import Kubectl

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guides" / "control-plane.md"
PATIENCE_SECONDS = 90.0
WIDGETS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets, singular: widget}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
"""


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    words = ("--nodes", "8", "--topology", "rack=2", "--devices", "gpus", "--example", "gang")
    up = UpCommand(tmp_path_factory.mktemp("up") / "data", *words)
    yield up
    assert up.stop() == 0
    assert up.children() == {}


def kubectl_of(up, home):
    return Kubectl(str(find_kubectl()), up.kubeconfig, home)


@pytest.fixture
def kubectl(up, tmp_path):
    return kubectl_of(up, tmp_path)


def running(kubectl, selector):
    return kubectl("get pods --no-headers", "-l", selector).count(" Running ")


def test_the_example_runs_on_simulated_nodes_with_topology_and_devices(kubectl):
    wait_until(lambda: "Scheduled" in kubectl("get podgroup trainer"), "the gang", PATIENCE_SECONDS)
    wait_until(lambda: kubectl("get pods").count("Running") >= 4, "its pods", PATIENCE_SECONDS)
    assert len(kubectl("get nodes -l topology.posse.dev/rack -o name").split()) == 8
    assert kubectl("get resourceslices -o name")
    wait_until(lambda: " NotReady" not in kubectl("get nodes"), "all nodes to be ready")


def test_what_is_real_works(kubectl):
    kubectl("create deployment web --image=none --replicas=3")
    wait_until(lambda: running(kubectl, "app=web") == 3, "the Deployment", PATIENCE_SECONDS)
    kubectl("rollout restart deployment web")
    kubectl("rollout status deployment web --timeout=25s")
    kubectl("apply -f -", manifest=WIDGETS)
    assert kubectl("wait --for=condition=Established crd/widgets.example.com")
    assert kubectl.run("auth", "can-i", "list", "pods", "--as", "somebody").stdout.strip() == "no"
    assert kubectl("get configmap kube-root-ca.crt -o name")


def test_posse_controls_job_sets_with_its_own_account(kubectl):
    kubectl("apply -f", str(ROOT / "examples" / "jobset-pytorch.yaml"))
    kubectl("wait --for=condition=Completed jobset/pytorch --timeout=25s")
    assert kubectl("auth can-i create jobs --as system:serviceaccount:kube-system:posse-controllers")


def test_the_guide_goes_as_it_says(up, kubectl, tmp_path):
    blocks = re.findall(r"^```sh\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line]
    assert len(lines) >= 5
    for line in lines:
        words = [str(ROOT / word) if word.startswith("examples/") else word for word in shlex.split(line)]
        if words[0] == "kubectl":
            kubectl(*words[1:3], *words[3:])
        else:
            posse_command.posse(*words, KUBECONFIG=str(up.kubeconfig))


def test_a_program_that_dies_ends_all_and_is_named(tmp_path):
    up = UpCommand(tmp_path / "data", "--nodes", "2", "--example", "single-pods")
    kubectl = kubectl_of(up, tmp_path)
    assert up.children().keys() == set(NEEDED)
    os.kill(up.children()["kube-controller-manager"], signal.SIGKILL)
    assert up.wait() == 1
    assert up.children() == {}
    log = tmp_path / "data" / "kube-controller-manager.log"
    assert f"kube-controller-manager ended; the end of {log}:" in up.output.read_text()
    again = UpCommand(tmp_path / "data")
    assert len(kubectl("get nodes -o name").split()) == 2
    again.stop(signal.SIGKILL)
    again.wait_until_alone()
