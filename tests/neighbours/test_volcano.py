"""PodGroups of Volcano, by Volcano's own definition, start as gangs."""

import json

import pytest

from tests.cluster.cluster_api import wait_until
from tests.neighbours.guide import run_guide
from tools.neighbours.assets import VOLCANO, source_of

pytestmark = pytest.mark.cluster

UP = ("--nodes", "4")
DEFINITION = "config/crd/volcano/bases/scheduling.volcano.sh_podgroups.yaml"
PATIENCE_SECONDS = 90.0


@pytest.fixture(scope="module", autouse=True)
def definition(up, kubectl_once):
    kubectl_once("apply --server-side -f", str(source_of(VOLCANO) / DEFINITION))
    kubectl_once("wait --for=condition=Established crd/podgroups.scheduling.volcano.sh --timeout=25s")


def test_the_guide_goes_as_it_says(up, kubectl):
    told = run_guide("volcano", kubectl, up.kubeconfig)
    [group] = json.loads(kubectl("get podgroups.scheduling.volcano.sh -o json"))["items"]
    wanted = group["spec"]["minMember"]

    def placed():
        pods = json.loads(kubectl("get pods -o json"))["items"]
        return sum(1 for pod in pods if pod["spec"].get("nodeName")) >= wanted

    assert "erupting" in told["posse gangs"]
    wait_until(placed, "the gang", PATIENCE_SECONDS)
