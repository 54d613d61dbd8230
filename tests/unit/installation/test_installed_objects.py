"""What an installation consists of, and that it follows the options."""

import pytest
import yaml

from posse.configuration.reading import read_configuration
from posse.installation.bundle import objects
from posse.installation.options import InstallOptions
from posse.kinds.discovered import ClusterForm
from posse.runtime.process.run_options import DEFAULT_PORT

OPTIONS = InstallOptions(image="registry.example/posse:7", namespace="gangs", scheduler_name="gang-scheduler")


def bundle(**changes):
    values = {
        "form": ClusterForm.CRD,
        "image": OPTIONS.image,
        "namespace": OPTIONS.namespace,
        "scheduler_name": OPTIONS.scheduler_name,
    }
    return objects(InstallOptions(**(values | changes)))


def kinds(items):
    return [item["kind"] for item in items]


def only(kind, items=None):
    (found,) = (item for item in items or bundle() if item["kind"] == kind)
    return found


def test_everything_in_the_order_of_need():
    assert kinds(bundle()) == [
        *(3 * ["CustomResourceDefinition"]),
        *(2 * ["ClusterRole"]),
        "Namespace",
        "ResourceQuota",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "ConfigMap",
        "Deployment",
        "PodDisruptionBudget",
    ]


def test_a_cluster_with_groups_of_its_own_gets_none():
    assert bundle(form=ClusterForm.NATIVE) == bundle()[5:]


def test_beside_the_rest_of_the_control_plane_it_needs_no_namespace():
    assert [kind for kind in kinds(bundle()) if kind not in kinds(objects(InstallOptions()))] == [
        "Namespace",
        "ResourceQuota",
    ]


def test_monitoring_comes_on_request():
    assert kinds(bundle(monitoring=True)[len(bundle()) :]) == ["Service", "ServiceMonitor"]


def test_everything_is_where_it_was_asked_for():
    places = {item["metadata"]["namespace"] for item in bundle() if "namespace" in item["metadata"]}
    assert places == {"gangs"}
    assert only("Namespace")["metadata"]["name"] == "gangs"
    for binding in ("ClusterRoleBinding", "RoleBinding"):
        assert only(binding)["subjects"] == [
            {"kind": "ServiceAccount", "name": "posse", "namespace": "gangs"}
        ]


def identities(items):
    shared = {"CustomResourceDefinition"}
    people = {f"posse-groups-{verb}" for verb in ("view", "edit")}
    return {
        (item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"])
        for item in items
        if item["kind"] not in shared and item["metadata"]["name"] not in people
    }


def test_an_installation_in_another_namespace_takes_nothing_from_the_first():
    assert not identities(objects(InstallOptions())) & identities(bundle())


@pytest.mark.parametrize(("namespace", "name"), [("kube-system", "posse"), ("gangs", "posse:gangs")])
def test_the_binding_names_the_role_of_its_own_installation(namespace, name):
    items = bundle(namespace=namespace)
    binding = only("ClusterRoleBinding", items)
    assert binding["metadata"]["name"] == binding["roleRef"]["name"] == name
    assert name in [item["metadata"]["name"] for item in items if item["kind"] == "ClusterRole"]


def test_all_objects_are_found_by_one_label():
    assert {item["metadata"]["labels"]["app.kubernetes.io/name"] for item in bundle()} == {"posse"}


def test_the_configuration_is_one_that_posse_reads():
    text = only("ConfigMap")["data"]["scheduler.yaml"]
    assert list(read_configuration(yaml.safe_load(text), {}).options.profiles) == ["gang-scheduler"]
    assert yaml.safe_load(text)["leaderElection"] == {
        "leaderElect": True,
        "resourceName": "posse",
        "resourceNamespace": "gangs",
    }


def test_the_port_is_that_of_posse_run(pod):
    assert pod["containers"][0]["ports"] == [{"name": "https", "containerPort": DEFAULT_PORT}]


def test_the_lease_is_the_one_the_role_is_about():
    text = only("ConfigMap")["data"]["scheduler.yaml"]
    named = [name for rule in only("Role")["rules"] for name in rule.get("resourceNames", [])]
    assert named == [yaml.safe_load(text)["leaderElection"]["resourceName"]]


@pytest.fixture
def pod():
    return only("Deployment")["spec"]["template"]["spec"]


def test_the_deployment_runs_what_it_was_told_to(pod):
    (container,) = pod["containers"]
    assert container["image"] == "registry.example/posse:7"
    assert pod["serviceAccountName"] == only("ServiceAccount")["metadata"]["name"]
    mount = container["volumeMounts"][0]["mountPath"]
    assert container["args"] == ["run", f"--config={mount}/scheduler.yaml", "--log-format=json"]


def test_pods_keep_to_the_restricted_standard(pod):
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert all(set(volume) & {"configMap", "emptyDir"} for volume in pod["volumes"])
    assert only("Namespace")["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_selectors_find_the_pods(pod):
    labels = only("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert only("Deployment")["spec"]["selector"]["matchLabels"] == labels
    assert only("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    items = bundle(monitoring=True)
    service = only("Service", items)
    assert service["spec"]["selector"] == labels
    assert only("ServiceMonitor", items)["spec"]["selector"]["matchLabels"] == service["metadata"]["labels"]
    (port,) = pod["containers"][0]["ports"]
    assert service["spec"]["ports"] == [
        {"name": port["name"], "port": port["containerPort"], "targetPort": port["name"]}
    ]


def test_a_drain_leaves_one_replica():
    assert only("Deployment")["spec"]["replicas"] - only("PodDisruptionBudget")["spec"]["maxUnavailable"] == 1


def rules(items):
    (role,) = (
        item for item in items if item["kind"] == "ClusterRole" and item["metadata"]["name"] == "posse:gangs"
    )
    return role["rules"]


def granted(items):
    return [
        (group, resource, verb)
        for rule in rules(items)
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]


def test_controllers_are_granted_what_they_need_only_on_request():
    plain, jobsets = granted(bundle()), granted(bundle(controllers=("jobsets",)))
    assert plain == jobsets[: len(plain)]
    added = set(jobsets) - set(plain)
    assert ("batch", "jobs", "create") in added
    assert not any(resource in {"statefulsets", "leaderworkersets"} for _, resource, _ in added)
    both = granted(bundle(controllers=("jobsets", "leaderworkersets")))
    assert ("apps", "statefulsets", "create") in both
    assert len(both) == len(set(both)), "nothing is granted twice"
    assert not any("*" in item for item in both)


def test_controllers_bring_the_definitions_of_what_they_control():
    names = [item["metadata"]["name"] for item in bundle(controllers=("jobsets", "leaderworkersets"))]
    assert names[5:9] == [
        "jobsets.jobset.x-k8s.io",
        "leaderworkersets.leaderworkerset.x-k8s.io",
        "posse-sets-view",
        "posse-sets-edit",
    ]
    (container,) = only("Deployment", bundle(controllers=("jobsets",)))["spec"]["template"]["spec"][
        "containers"
    ]
    assert "--controllers=jobsets" in container["args"]


@pytest.mark.parametrize("controller", ["jobsets", "leaderworkersets"])
def test_controllers_have_groups_of_posse_everywhere(controller):
    native = bundle(form=ClusterForm.NATIVE, controllers=(controller,))
    assert kinds(native).count("CustomResourceDefinition") == 4
    assert "CustomResourceDefinition" not in kinds(bundle(form=ClusterForm.NATIVE))
