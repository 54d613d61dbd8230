"""deploy/ on real API servers: Kustomize as kubectl builds it, and the chart where helm is installed, accepted whole."""

import shutil
import subprocess
from pathlib import Path

import pytest

from posse.control_plane.assets import NATIVE, find_program
from tests.support.stock_kubectl import Kubectl

pytestmark = pytest.mark.cluster

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture(scope="module", params=["plane", "plane_without_groups"], ids=["1.37", "1.33"])
def cluster(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def kubectl(cluster, tmp_path):
    return Kubectl(str(find_program(NATIVE, "kubectl")), cluster.kubeconfig(), tmp_path)


@pytest.mark.parametrize("folder", ["base", "crd"])
def test_kustomizations_are_accepted(kubectl, folder):
    answer = kubectl.run("apply", "--dry-run=server", "-k", str(DEPLOY / "kustomize" / folder))
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "deployment.apps/posse" in answer.stdout


@pytest.mark.parametrize("form", ["crd", "native"])
def test_the_chart_is_accepted_with_every_value_changed(kubectl, form):
    if not shutil.which("helm"):
        pytest.skip("helm is not installed; tests/scenarios/test_deploy_files.py stands in for it")
    settings = [
        f'form="{form}"',
        "replicas=3",
        'featureGates={"GangScheduling":true}',
        'nodeSelector={"a":"b"}',
    ]
    settings += ['profiles=[{"schedulerName":"a"}]', 'resources={"requests":{"cpu":"1"}}', "tolerations=[]"]
    words = [word for setting in settings for word in ("--set-json", setting)]
    command = ["helm", "template", "posse", DEPLOY / "chart", "--namespace", "kube-system", *words]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    answer = kubectl.run("apply", "--dry-run=server", "-f", "-", manifest=text)
    assert (answer.returncode, answer.stderr) == (0, "")
