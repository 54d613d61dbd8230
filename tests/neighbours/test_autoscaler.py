"""ProvisioningRequests by the autoscaler's own definition, on a real API server; the test is the autoscaler."""

import json
from contextlib import contextmanager

import pytest
import yaml

from posse.control_plane.assets import NATIVE, find_program
from posse.control_plane.plane import running_plane
from tests.cluster.cluster_api import ClusterApi, wait_until
from tests.cluster.manifests import gang, node, pod
from tests.support.stock_kubectl import Kubectl
from tools.installed_posse import POSSE_ACCOUNT, PosseRun, install_posse
from tools.neighbours.assets import AUTOSCALER, source_of

pytestmark = pytest.mark.cluster

DEFINITION = "config/crd/autoscaling.x-k8s.io_provisioningrequests.yaml"
PATIENCE_SECONDS = 120.0
RACK = "topology.example/rack"


@pytest.fixture(scope="module", autouse=True)
def neighbours():
    """None is started: the tests are the autoscaler."""


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    with running_plane(tmp_path_factory.mktemp("plane"), NATIVE, [POSSE_ACCOUNT]) as plane:
        yield plane


@pytest.fixture(scope="module")
def kubectl(plane, tmp_path_factory):
    found = Kubectl(str(find_program(NATIVE, "kubectl")), plane.kubeconfig(), tmp_path_factory.mktemp("home"))
    found("apply --server-side -f", str(source_of(AUTOSCALER) / DEFINITION))
    found("wait --for=condition=Established crd/provisioningrequests.autoscaling.x-k8s.io --timeout=25s")
    return found


@contextmanager
def scheduler(plane, name):
    """Posse as it is installed, with the rights of its account and a log of this name."""
    running = PosseRun(plane, install_posse(plane, words=["--provisioning-requests"]), name)
    running.start()
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.stop()


def requests(kubectl):
    return json.loads(kubectl("get provisioningrequests -o json"))["items"]


def templates(kubectl):
    return {one["metadata"]["name"]: one for one in json.loads(kubectl("get podtemplates -o json"))["items"]}


def test_a_waiting_gang_gets_one_request_that_is_withdrawn_when_it_has_started(plane, kubectl, tmp_path):
    with scheduler(plane, "asking"), ClusterApi(plane.kubeconfig(), tmp_path / "discovered") as api:
        api.create(*(node(f"n-{number}", cpu="2", **{RACK: "r-1"}) for number in range(2)))
        constraint = {"schedulingConstraints": {"topology": [{"key": RACK}]}}
        group = gang("trainer", 4)
        group["spec"] |= constraint
        api.create(
            group, *(pod(f"trainer-{i}", group="trainer", scheduler="posse", cpu="2") for i in range(5))
        )

        wait_until(lambda: requests(kubectl), "a request", PATIENCE_SECONDS)
        [request] = requests(kubectl)
        [pods] = request["spec"]["podSets"]
        assert request["spec"]["provisioningClassName"] == "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
        assert pods["count"] == 4
        template = templates(kubectl)[pods["podTemplateRef"]["name"]]["template"]["spec"]
        assert template["nodeSelector"] == {RACK: "r-1"}
        assert template["containers"][0]["resources"]["requests"] == {"cpu": "2"}
        annotation = "autoscaling.x-k8s.io/consume-provisioning-request"
        name = request["metadata"]["name"]

        def consumed():
            found = [one["metadata"].get("annotations", {}).get(annotation) for one in api.list("Pod")]
            return found == 5 * [name]

        wait_until(consumed, "pods that name the request", PATIENCE_SECONDS)
        # The autoscaler adds nodes one by one: the request stays, and the gang starts with the last.
        api.create(node("n-2", cpu="2", **{RACK: "r-1"}))
        wait_until(lambda: "1 more node" in str(api.list("PodGroup")), "less to be missing", PATIENCE_SECONDS)
        assert [one["metadata"]["name"] for one in requests(kubectl)] == [name]
        api.create(node("n-3", cpu="2", **{RACK: "r-1"}))
        started = lambda: sum(1 for one in api.list("Pod") if one["spec"].get("nodeName")) == 4  # noqa: E731
        wait_until(started, "the gang", PATIENCE_SECONDS)
        wait_until(lambda: not requests(kubectl), "the request to be withdrawn", PATIENCE_SECONDS)
        wait_until(lambda: not templates(kubectl), "its templates to be gone", PATIENCE_SECONDS)


def test_without_that_api_nothing_is_asked_for(plane, kubectl, tmp_path):
    kubectl("delete crd provisioningrequests.autoscaling.x-k8s.io")
    with (
        scheduler(plane, "not-asking") as running,
        ClusterApi(plane.kubeconfig(), tmp_path / "discovered") as api,
    ):
        api.create(
            gang("lonely", 3), *(pod(f"lonely-{i}", group="lonely", scheduler="posse") for i in range(3))
        )
        wait_until(lambda: "more node" in yaml.safe_dump(api.list("PodGroup")), "advice", PATIENCE_SECONDS)
        assert not templates(kubectl)
        assert "cannot be asked" not in running.log.read_text()
