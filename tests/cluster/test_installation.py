"""posse install on real control planes: accepted whole, the right form found out, and a role under which all work gets done."""

from contextlib import contextmanager

import pytest
import yaml

from posse.control_plane.assets import NATIVE, find_program
from tests.cluster.cluster_api import ClusterApi, wait_until
from tests.cluster.manifests import gang, node, pod
from tests.cluster.posse_command import posse
from tests.support.stock_kubectl import Kubectl
from tools.installed_posse import PosseRun, install_posse

pytestmark = pytest.mark.cluster

NAMESPACE = "posse-system"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:posse"


@contextmanager
def installed_scheduler(plane, folder):
    """Tells everything that is refused, for only then its absence says something."""
    installed = install_posse(plane, namespace=NAMESPACE)
    talkative = installed._replace(command=[*installed.command, "--log-level=debug"])
    scheduler = PosseRun(plane, talkative, f"posse-{folder.name}")
    scheduler.start()
    try:
        yield scheduler
    finally:
        scheduler.stop()


@pytest.fixture(scope="module", params=["plane", "plane_without_groups"], ids=["1.37", "1.33"])
def cluster(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def form(cluster):
    return "native" if cluster.release is NATIVE else "crd"


@pytest.fixture
def kubectl(cluster, tmp_path):
    return Kubectl(str(find_program(NATIVE, "kubectl")), cluster.kubeconfig(), tmp_path)


@pytest.fixture
def api(cluster, tmp_path):
    with ClusterApi(cluster.kubeconfig(), tmp_path / "discovered") as api:
        yield api


@pytest.mark.parametrize("words", [[], ["--form", "crd"], ["--form", "native"]])
def test_what_is_printed_is_accepted_without_a_murmur(cluster, kubectl, words):
    printed = posse(cluster, "install", *words).stdout
    answer = kubectl.run("apply", "--dry-run=server", "-f", "-", manifest=printed)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert len(answer.stdout.splitlines()) == len(list(yaml.safe_load_all(printed)))


def test_the_form_is_found_out(cluster, form):
    assert f"using --form {form}" in posse(cluster, "install").stderr


def test_applying_twice_changes_nothing(cluster, kubectl):
    words = ("install", "--apply", "--form", "crd", "--namespace", NAMESPACE)
    first = posse(cluster, *words).stdout
    before = kubectl("get deployment,clusterrole,crd -A -o", "jsonpath={.items[*].metadata.generation}")
    assert posse(cluster, *words).stdout == first
    after = kubectl("get deployment,clusterrole,crd -A -o", "jsonpath={.items[*].metadata.generation}")
    assert before == after
    assert "posse" in kubectl(f"-n {NAMESPACE} get deployments,configmaps,poddisruptionbudgets")


def test_the_pods_are_what_the_strictest_standard_admits(cluster, kubectl):
    """The namespace enforces it; what a controller would make of the Deployment has to get in."""
    posse(cluster, "install", "--apply", "--namespace", NAMESPACE)
    deployment = yaml.safe_load(kubectl(f"-n {NAMESPACE} get deployment posse -o yaml"))
    template = deployment["spec"]["template"]
    made = {"apiVersion": "v1", "kind": "Pod", **template}
    made["metadata"] = template["metadata"] | {"name": "made", "namespace": NAMESPACE}
    answer = kubectl.run("create", "--dry-run=server", "-f", "-", manifest=yaml.safe_dump(made))
    assert (answer.returncode, answer.stderr) == (0, "")


def of_form(form, name, minimum, members):
    """A gang in the form of the cluster, with its pods."""
    if form == "native":
        return [gang(name, minimum), *(pod(member, group=name, scheduler="posse") for member in members)]
    label = {"labels": {"scheduling.posse.dev/pod-group": name}}
    pods = [pod(member, scheduler="posse") for member in members]
    for item in pods:
        item["metadata"] |= label
    return [gang(name, minimum) | {"apiVersion": "scheduling.posse.dev/v1alpha1"}, *pods]


def node_of(api, name):
    return api.get("Pod", name)["spec"].get("nodeName")


def condition(kubectl, form, name):
    group = "scheduling.k8s.io" if form == "native" else "scheduling.posse.dev"
    found = yaml.safe_load(kubectl(f"get podgroups.{group} {name} -o yaml"))
    conditions = found.get("status", {}).get("conditions", [])
    return next((item for item in conditions if item["type"] == "PodGroupInitiallyScheduled"), {})


def test_gangs_are_scheduled_and_told_under_the_role(cluster, form, kubectl, api, tmp_path):
    with installed_scheduler(cluster, tmp_path) as scheduler:
        kubectl("wait --for create lease/posse --timeout 30s -n", NAMESPACE)
        api.create(node("n1", cpu="2"), *of_form(form, "pair", 2, ["a", "b"]))
        wait_until(lambda: node_of(api, "a") == node_of(api, "b") == "n1", "the pair on its node")
        wait_until(lambda: condition(kubectl, form, "pair").get("status") == "True", "the pair to be told")
        api.create(*of_form(form, "trio", 3, ["x", "y", "z"]))
        wait_until(
            lambda: condition(kubectl, form, "trio").get("reason") == "Unschedulable", "the trio to be told"
        )
        api.create(node("n2", cpu="3"))
        wait_until(lambda: all(node_of(api, name) == "n2" for name in "xyz"), "the trio on the new node")
        wait_until(
            lambda: condition(kubectl, form, "trio").get("status") == "True", "the trio to be told again"
        )
        events = kubectl("get events -o", "jsonpath={.items[*].reason}")
        assert {"Scheduled", "FailedScheduling"} <= set(events.split())
        assert scheduler.is_running
    assert "forbidden" not in scheduler.log.read_text().lower()


def tree_of_form(form, name):
    """Two gangs of one pod each that start together or not at all."""
    version = "v1alpha3" if form == "native" else "v1alpha1"
    group = "scheduling.k8s.io" if form == "native" else "scheduling.posse.dev"
    reference = {"workloadRef": {"workloadName": name, "templateName": "root"}}
    root = {
        "apiVersion": f"{group}/{version}",
        "kind": "CompositePodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minGroupCount": 2}}, **reference},
    }
    children = [
        obj
        for part in ("left", "right")
        for obj in of_form(form, f"{name}-{part}", 1, [f"{name}-{part}-pod"])
    ]
    for child in children:
        if child["kind"] == "PodGroup":
            child["spec"] |= {"parentCompositePodGroupName": name, **reference}
    return [root, *children]


def test_trees_are_scheduled_and_told_under_the_role(cluster, form, kubectl, api, tmp_path):
    with installed_scheduler(cluster, tmp_path) as scheduler:
        api.create(node("n8", cpu="2"), *tree_of_form(form, "tree"))
        pods = ["tree-left-pod", "tree-right-pod"]
        wait_until(lambda: all(node_of(api, name) for name in pods), "both branches on nodes")
        group = "scheduling.k8s.io" if form == "native" else "scheduling.posse.dev"
        words = "wait --for condition=CompositePodGroupInitiallyScheduled --timeout 20s"
        kubectl(f"{words} compositepodgroups.{group}/tree")
    assert "forbidden" not in scheduler.log.read_text().lower()


def test_groups_of_both_forms_are_scheduled_side_by_side_after_an_upgrade(plane, tmp_path):
    stock = Kubectl(str(find_program(NATIVE, "kubectl")), plane.kubeconfig(), tmp_path)
    posse(plane, "install", "--apply", "--form", "crd")
    stock("wait crd --for condition=established --timeout 20s --all")
    with (
        ClusterApi(plane.kubeconfig(), tmp_path / "discovered") as api,
        installed_scheduler(plane, tmp_path) as scheduler,
    ):
        stock("create namespace upgraded")
        for form in ("native", "crd"):
            gang_and_tree = of_form(form, f"{form}-gang", 2, [f"{form}-a", f"{form}-b"])
            for obj in gang_and_tree + tree_of_form(form, f"{form}-tree"):
                obj["metadata"]["namespace"] = "upgraded"
                api.create(obj)
        api.create(node("n9", cpu="8"))
        wait_until(
            lambda: all(item["spec"].get("nodeName") for item in api.list("Pod", "upgraded")),
            "both gangs and both trees on nodes",
        )
        told = "wait -n upgraded --timeout 20s --for condition"
        for form, group in (("native", "scheduling.k8s.io"), ("crd", "scheduling.posse.dev")):
            stock(f"{told}=PodGroupInitiallyScheduled podgroups.{group}/{form}-gang")
            stock(f"{told}=CompositePodGroupInitiallyScheduled compositepodgroups.{group}/{form}-tree")
    assert "forbidden" not in scheduler.log.read_text().lower()


def test_what_the_role_lacks_is_told(plane, tmp_path):
    kubectl = Kubectl(str(find_program(NATIVE, "kubectl")), plane.kubeconfig(), tmp_path)
    with ClusterApi(plane.kubeconfig(), tmp_path / "discovered") as api:
        install_posse(plane, namespace=NAMESPACE)
        role = yaml.safe_load(kubectl(f"get clusterrole posse:{NAMESPACE} -o yaml"))
        role["rules"] = [rule for rule in role["rules"] if "events" not in rule["resources"]]
        with installed_scheduler(plane, tmp_path) as scheduler:
            kubectl.run("replace", "-f", "-", manifest=yaml.safe_dump(role))
            api.create(pod("unplaceable", scheduler="posse", cpu="1000"))
            wait_until(
                lambda: "the role lacks create on events" in scheduler.log.read_text(), "what it may not do"
            )
        api.delete("Pod", "unplaceable")
    install_posse(plane, namespace=NAMESPACE)


def test_room_is_made_under_the_role(cluster, form, kubectl, api, tmp_path):
    high = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 100,
    }
    with installed_scheduler(cluster, tmp_path) as scheduler:
        chosen = {"nodeSelector": {"room": "made"}}
        low, urgent = pod("low", scheduler="posse"), pod("urgent", scheduler="posse")
        api.create(node("n3", cpu="1", room="made"), high, low | {"spec": low["spec"] | chosen})
        wait_until(lambda: node_of(api, "low") == "n3", "the less important pod on the node")
        api.create(urgent | {"spec": urgent["spec"] | chosen | {"priorityClassName": "high"}})
        wait_until(lambda: node_of(api, "urgent") == "n3", "the important pod in its place")
    assert "forbidden" not in scheduler.log.read_text().lower()


@pytest.mark.parametrize(
    "words",
    [
        "create pods",
        "update pods",
        "patch nodes",
        "delete podgroups.scheduling.posse.dev",
        "create podgroups.scheduling.posse.dev",
        "get secrets",
        "list secrets",
        "get configmaps",
        "create clusterrolebindings",
        "impersonate users",
        "list leases",
        "update leases/other",
    ],
)
def test_the_role_allows_nothing_else(cluster, kubectl, words):
    posse(cluster, "install", "--apply", "--namespace", NAMESPACE)
    answer = kubectl.run("auth", "can-i", *words.split(), "-n", NAMESPACE, "--as", ACCOUNT)
    assert answer.stdout.strip() == "no"


def test_people_who_edit_a_namespace_may_have_groups_in_it(plane, tmp_path):
    kubectl = Kubectl(str(find_program(NATIVE, "kubectl")), plane.kubeconfig(), tmp_path)
    posse(plane, "install", "--apply", "--form", "crd")
    plane.start_controller_manager()
    kubectl("create rolebinding ann --clusterrole=edit --user=ann")
    kubectl("create rolebinding ben --clusterrole=view --user=ben")

    def may(user, verb):
        words = ["auth", "can-i", verb, "podgroups.scheduling.posse.dev", "--as", user]
        return kubectl.run(*words).stdout.strip() == "yes"

    wait_until(lambda: may("ann", "create"), "the role edit to have taken up ours")
    wait_until(lambda: may("ben", "list"), "the role view to have taken up ours")
    assert not may("ben", "create")
