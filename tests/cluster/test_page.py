"""posse install --ui on a real control plane: opened by tokens of the cluster, and under an account that only reads."""

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
import yaml

from posse.control_plane.assets import NATIVE, find_program
from posse.control_plane.plane import running_plane
from posse.control_plane.users import service_account
from tests.cluster.cluster_api import ClusterApi, wait_until
from tests.cluster.manifests import gang, node, pod
from tests.cluster.posse_command import posse
from tests.support.stock_kubectl import Kubectl

pytestmark = pytest.mark.cluster

ACCOUNT = service_account("kube-system", "posse-page")


@pytest.fixture(scope="module")
def plane(tmp_path_factory):
    with running_plane(tmp_path_factory.mktemp("plane"), NATIVE, [ACCOUNT]) as plane:
        yield plane


@pytest.fixture(scope="module")
def kubectl(plane, tmp_path_factory):
    found = Kubectl(
        str(find_program(NATIVE, "kubectl")), plane.kubeconfig(), tmp_path_factory.mktemp("kubectl")
    )
    posse(plane, "install", "--apply", "--ui")
    return found


@pytest.fixture(scope="module")
def page(plane, kubectl):
    """What the Deployment runs, with the rights of its account."""
    deployment = yaml.safe_load(kubectl("-n kube-system get deployment posse-page -o yaml"))
    verb, config, *words = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    settings = plane.folder / "page.yaml"
    settings.write_text(kubectl("-n kube-system get configmap posse -o", r"jsonpath={.data.scheduler\.yaml}"))
    assert config == "--config=/etc/posse/scheduler.yaml"
    words = [word for word in words if not word.startswith("--port=")]
    command = [sys.executable, "-m", "posse", verb, f"--config={settings}", *words, "--port=0"]
    command += ["--kubeconfig", str(plane.kubeconfig(ACCOUNT.name))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as serving:
        try:
            yield re.search(r"http://[^/]+", serving.stdout.readline())[0]
        finally:
            serving.terminate()
            assert "forbidden" not in serving.stderr.read()


def asked(url, token):
    """Return the status, and the first event of the stream."""
    request = urllib.request.Request(f"{url}/api/events", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.readline(), answer.readline()
            return answer.status, json.loads(answer.readline().removeprefix(b"data: "))
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def test_a_token_of_the_viewer_opens_the_page(plane, kubectl, page, tmp_path):
    with ClusterApi(plane.kubeconfig(), tmp_path / "discovered") as api:
        api.create(node("n-1"))
        api.create(gang("trainer", 2))
        api.create(pod("trainer-0", group="trainer", scheduler="posse"))
    token = kubectl("-n kube-system create token posse-page-viewer").strip()

    def shown():
        status, data = asked(page, token)
        assert status == 200
        return list(data["nodes"]), list(data["gangs"])

    expected = ["n-1"], ["default/PodGroup/scheduling.k8s.io/trainer"]
    wait_until(lambda: shown() == expected, "the page shows the node and the gang")


def test_other_users_of_the_cluster_are_refused(kubectl, page):
    kubectl("create serviceaccount stranger")
    assert asked(page, kubectl("create token stranger").strip())[0] == 403
    assert asked(page, "guessed")[0] == 401


def test_the_viewer_may_see_the_page_and_nothing_else(kubectl):
    viewer = "system:serviceaccount:kube-system:posse-page-viewer"
    assert kubectl.run("auth", "can-i", "list", "pods", "-A", "--as", viewer).stdout.strip() == "no"
    assert kubectl.run("auth", "can-i", "get", "/posse/page", "--as", viewer).stdout.strip() == "yes"


@pytest.mark.parametrize(
    "words",
    ["create pods", "delete pods", "patch nodes", "get secrets", "create bindings", "update podgroups"],
)
def test_the_page_may_change_nothing(kubectl, words):
    answer = kubectl.run("auth", "can-i", *words.split(), "-A", "--as", ACCOUNT.name)
    assert answer.stdout.strip() == "no"


def test_its_pods_are_what_the_strictest_standard_admits(kubectl):
    kubectl("create namespace strict")
    kubectl("label namespace strict pod-security.kubernetes.io/enforce=restricted")
    template = yaml.safe_load(kubectl("-n kube-system get deployment posse-page -o yaml"))["spec"]["template"]
    template["spec"].pop("serviceAccountName")
    template["spec"].pop("serviceAccount", None)
    made = {"apiVersion": "v1", "kind": "Pod", **template}
    made["metadata"] = template["metadata"] | {"name": "made", "namespace": "strict"}
    answer = kubectl.run("create", "--dry-run=server", "-f", "-", manifest=yaml.safe_dump(made))
    assert answer.returncode == 0, answer.stderr
