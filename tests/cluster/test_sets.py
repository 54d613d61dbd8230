"""JobSets and LeaderWorkerSets on a real control plane: Posse's controllers and its scheduler, Jobs and StatefulSets of
Kubernetes, and nodes that play what kubelets would do. The examples run as they are.
"""

import json
import sys
from pathlib import Path

import pytest
import yaml

from posse.control_plane.assets import find_kubectl
from posse.control_plane.program import Program
from tests.cluster.cluster_api import wait_until
from tests.support.stock_kubectl import Kubectl
from tools.installed_posse import PosseRun, install_posse

pytestmark = pytest.mark.cluster

EXAMPLES = Path(__file__).parents[2] / "examples"
NODES = 8
PATIENCE_SECONDS = 90.0
GROUPS = {"native": "podgroups.scheduling.k8s.io", "crd": "podgroups.scheduling.posse.dev"}
KINDS_LEFT_BEHIND = "jobs,statefulsets,pods,podgroups.scheduling.k8s.io,podgroups.scheduling.posse.dev"


@pytest.fixture(scope="module")
def kubelets(plane):
    command = [sys.executable, "-m", "tests.cluster.simulated_kubelets", plane.kubeconfig(), str(NODES)]
    return plane.run(Program("kubelets", command, plane.folder / "kubelets.log"))


def with_form(installation, form):
    return installation._replace(command=[*installation.command, f"--form={form}"])


@pytest.fixture(scope="module", params=["native", "crd"])
def posse(request, plane, kubelets):
    """In the place of kube-scheduler, so that the examples need not name it."""
    profiles = [{"schedulerName": "default-scheduler"}]
    installed = install_posse(plane, request.param, controllers="all", profiles=profiles)
    form = "crd" if request.param == "crd" else "auto"
    scheduler = PosseRun(plane, with_form(installed, form), f"posse-{request.param}")
    control = PosseRun(plane, with_form(installed.controllers, form), f"controllers-{request.param}")
    for running in (scheduler, control):
        plane.run(running)
        running.wait_until_ready()
    yield request.param
    for running in (scheduler, control):
        running.stop()
        assert "forbidden" not in running.log.read_text().lower()


@pytest.fixture(scope="module", autouse=True)
def controllers(plane, posse):
    """Again for each form: one that was there before would not know the kinds that came with it for a while."""
    running = plane.start_controller_manager()
    yield
    running.stop()


@pytest.fixture
def kubectl(plane, tmp_path):
    return Kubectl(str(find_kubectl()), plane.kubeconfig(), tmp_path)


def got(kubectl, what):
    return json.loads(kubectl("get", what, "-o", "json"))


def holds(kubectl, what, condition):
    conditions = got(kubectl, what).get("status", {}).get("conditions", [])
    return {item["type"]: item["status"] for item in conditions}.get(condition) == "True"


def told_of(kubectl, kind, name):
    """The reasons of all events about an object."""
    about = {"kind": kind, "name": name}
    events = got(kubectl, "events")["items"]
    return {event["reason"] for event in events if about.items() <= event["involvedObject"].items()}


def removed(kubectl, manifest):
    kubectl("delete", "-f", str(manifest))
    wait_until(
        lambda: not got(kubectl, KINDS_LEFT_BEHIND)["items"], "the end of everything", PATIENCE_SECONDS
    )


@pytest.mark.parametrize(
    ("example", "what", "condition"),
    [
        ("jobset-pytorch", "jobset/pytorch", "Completed"),
        ("jobset-replicated-gangs", "jobset/shards", "Completed"),
        ("jobset-mpi", "jobset/mpi", "Completed"),
        ("jobset-tree", "jobset/tree", "Completed"),
        ("leaderworkersets/serving", "lws/serving", "Available"),
        ("leaderworkersets/disaggregated", "lws/decode", "Available"),
    ],
)
def test_an_example_reaches_its_end_and_leaves_nothing_behind(kubectl, example, what, condition):
    manifest = EXAMPLES / f"{example}.yaml"
    kubectl("apply", "-f", str(manifest))
    wait_until(lambda: holds(kubectl, what, condition), f"{what} to be {condition}", PATIENCE_SECONDS)
    removed(kubectl, manifest)


def test_the_gang_of_a_jobset_is_described_as_the_cluster_can(kubectl, posse):
    manifest = EXAMPLES / "jobset-pytorch.yaml"
    kubectl("apply", "-f", str(manifest))
    wait_until(lambda: got(kubectl, GROUPS[posse])["items"], "the group")
    (group,) = got(kubectl, GROUPS[posse])["items"]
    assert group["metadata"]["name"] == "pg-pytorch"
    assert group["spec"]["schedulingPolicy"]["gang"]["minCount"] == 9
    wait_until(lambda: len(got(kubectl, "pods")["items"]) == 9, "all pods")
    pods = got(kubectl, "pods")["items"]
    named = {
        pod["spec"].get("schedulingGroup", {}).get("podGroupName")
        or pod["metadata"]["labels"].get("scheduling.posse.dev/pod-group")
        for pod in pods
    }
    assert named == {"pg-pytorch"}
    removed(kubectl, manifest)


def test_a_set_grows_by_whole_replicas(kubectl):
    manifest = EXAMPLES / "leaderworkersets" / "serving.yaml"
    kubectl("apply", "-f", str(manifest))
    kubectl("scale lws serving --replicas=3")
    wait_until(
        lambda: got(kubectl, "lws/serving").get("status", {}).get("readyReplicas") == 3,
        "three replicas",
        PATIENCE_SECONDS,
    )
    assert len(got(kubectl, "pods")["items"]) == 12
    (line,) = kubectl("get lws --no-headers").splitlines()
    assert line.split()[:4] == ["serving", "3", "3", "3"]
    removed(kubectl, manifest)


def test_what_cannot_be_is_told_on_the_object(kubectl):
    jobset = yaml.safe_load((EXAMPLES / "jobset-pytorch.yaml").read_text())
    jobset["spec"]["coordinator"]["replicatedJob"] = "nobody"
    kubectl("apply -f -", manifest=yaml.safe_dump(jobset))
    wait_until(lambda: holds(kubectl, "jobset/pytorch", "Invalid"), "the condition")
    assert "spec.coordinator.replicatedJob" in kubectl("describe jobset pytorch")
    wait_until(lambda: "Invalid" in told_of(kubectl, "JobSet", "pytorch"), "the event")
    assert not got(kubectl, "jobs")["items"]
    fixed = {"spec": {"coordinator": {"replicatedJob": "driver"}}}
    kubectl("patch jobset pytorch --type merge -p", json.dumps(fixed))
    wait_until(lambda: holds(kubectl, "jobset/pytorch", "Completed"), "the end", PATIENCE_SECONDS)
    removed(kubectl, EXAMPLES / "jobset-pytorch.yaml")


def test_a_gang_is_asked_for_when_a_jobset_is_made_and_never_after(kubectl):
    manifest = EXAMPLES / "jobset-pytorch.yaml"
    kubectl("apply", "-f", str(manifest))
    change = json.dumps({"spec": {"gangConfig": {"gangMode": "Off"}}})
    told = kubectl.refused("patch jobset pytorch --type merge -p", change)
    assert "spec.gangConfig: Invalid value: field is immutable" in told
    removed(kubectl, manifest)
