"""What an installation consists of, and that it follows the options."""

import pytest
import yaml

from posse.cli.ui.live_cluster import shown_kinds
from posse.configuration.reading import read_configuration
from posse.installation.bundle import objects
from posse.installation.options import ForeignGroupApi, InstallOptions
from posse.kinds.discovered import ClusterForm
from posse.kinds.registry import EVENT
from posse.runtime.process.run_options import DEFAULT_PORT
from posse.runtime.remote.control_process import LEASE_ENDING
from tests.support.posse_command import posse

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


PROGRAM = [
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "NetworkPolicy",
    "Deployment",
    "PodDisruptionBudget",
]


def test_everything_in_the_order_of_need():
    assert kinds(bundle()) == [
        *(3 * ["CustomResourceDefinition"]),
        *(2 * ["ClusterRole"]),
        "Namespace",
        "ResourceQuota",
        "ConfigMap",
        *PROGRAM,
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


def rules(items, name="posse:gangs"):
    (role,) = (item for item in items if item["kind"] == "ClusterRole" and item["metadata"]["name"] == name)
    return role["rules"]


def granted(items, name="posse:gangs"):
    return [
        (group, resource, verb)
        for rule in rules(items, name)
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]


def test_the_scheduler_may_create_nothing_but_bindings_reviews_events_and_claims():
    """Whatever it is installed with: what makes objects for people has an account of its own."""
    everything = bundle(controllers=("jobsets", "leaderworkersets"), foreign_groups=tuple(ForeignGroupApi))
    assert {resource for _, resource, verb in granted(everything) if verb == "create"} == {
        "tokenreviews",
        "subjectaccessreviews",
        "pods/binding",
        "events",
        "resourceclaims",
    }
    assert granted(everything) == granted(bundle(foreign_groups=tuple(ForeignGroupApi)))


def test_permissions_for_what_is_not_used_are_left_out():
    def groups_of(**options):
        return {group for group, _, _ in granted(bundle(**options))}

    usual = groups_of()
    assert not usual & {"scheduling.x-k8s.io", "scheduling.volcano.sh"}
    assert groups_of(foreign_groups=(ForeignGroupApi.VOLCANO,)) - usual == {"scheduling.volcano.sh"}
    assert groups_of(foreign_groups=(ForeignGroupApi.COSCHEDULING,)) - usual == {"scheduling.x-k8s.io"}
    without = granted(bundle(volumes=False))
    assert not any("volume" in resource or group == "storage.k8s.io" for group, resource, _ in without)
    assert "--without-volumes" in programs_of(bundle(volumes=False))["posse"]["containers"][0]["args"]


CONTROLLERS = "posse-controllers:gangs"


def test_controllers_are_granted_what_they_need_for_what_they_control():
    jobsets = granted(bundle(controllers=("jobsets",)), CONTROLLERS)
    assert ("batch", "jobs", "create") in jobsets
    assert not any(resource in {"statefulsets", "leaderworkersets", "nodes"} for _, resource, _ in jobsets)
    both = granted(bundle(controllers=("jobsets", "leaderworkersets")), CONTROLLERS)
    assert ("apps", "statefulsets", "create") in both
    assert len(both) == len(set(both)), "nothing is granted twice"
    assert not any("*" in item for item in both)
    assert not any(resource == "pods/binding" for _, resource, _ in both)
    assert not any(group == "scheduling.volcano.sh" for group, _, _ in both)
    foreign = bundle(controllers=("leaderworkersets",), foreign_groups=(ForeignGroupApi.VOLCANO,))
    assert ("scheduling.volcano.sh", "podgroups", "create") in granted(foreign, CONTROLLERS)


def programs_of(items):
    """The pod of each Deployment, by its name."""
    return {
        item["metadata"]["name"]: item["spec"]["template"]["spec"]
        for item in items
        if item["kind"] == "Deployment"
    }


def test_controllers_run_apart_from_the_scheduler():
    items = bundle(controllers=("jobsets",))
    assert kinds(items)[-2 * len(PROGRAM) :] == PROGRAM + PROGRAM
    pods = programs_of(items)
    assert {name: pod["serviceAccountName"] for name, pod in pods.items()} == {
        "posse": "posse",
        "posse-controllers": "posse-controllers",
    }
    assert not any("controllers" in word for word in pods["posse"]["containers"][0]["args"])
    (container,) = pods["posse-controllers"]["containers"]
    assert {"--only-controllers", "--controllers=jobsets"} <= set(container["args"])


def test_each_program_has_a_lease_of_its_own():
    items = bundle(controllers=("jobsets",))
    leases = {
        item["metadata"]["name"]: [name for rule in item["rules"] for name in rule.get("resourceNames", [])]
        for item in items
        if item["kind"] == "Role"
    }
    assert leases == {"posse": ["posse"], "posse-controllers": ["posse" + LEASE_ENDING]}


def test_selectors_of_one_program_do_not_find_pods_of_the_other():
    items = bundle(controllers=("jobsets",))
    for kind in ("Deployment", "PodDisruptionBudget"):
        selectors = [item["spec"]["selector"]["matchLabels"] for item in items if item["kind"] == kind]
        assert len({str(selector) for selector in selectors}) == len(selectors) == 2


def test_pods_talk_to_the_api_server_and_the_name_service_alone():
    policy = only("NetworkPolicy")["spec"]
    assert policy["podSelector"]["matchLabels"] == only("Deployment")["spec"]["selector"]["matchLabels"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["ingress"] == [{"ports": [{"protocol": "TCP", "port": "https"}]}]
    allowed = {port["port"] for rule in policy["egress"] for port in rule["ports"]}
    assert allowed == {53, 443, 6443, 8443, 16443}


def test_what_a_pod_may_leave_on_a_node_is_limited(pod):
    (temporary,) = (volume for volume in pod["volumes"] if "emptyDir" in volume)
    assert temporary["emptyDir"]["sizeLimit"] == "64Mi"
    assert set(pod["containers"][0]["resources"]["limits"]) == {"memory", "ephemeral-storage"}


def test_controllers_bring_the_definitions_of_what_they_control():
    names = [item["metadata"]["name"] for item in bundle(controllers=("jobsets", "leaderworkersets"))]
    assert names[5:9] == [
        "jobsets.jobset.x-k8s.io",
        "leaderworkersets.leaderworkerset.x-k8s.io",
        "posse-sets-view",
        "posse-sets-edit",
    ]


@pytest.mark.parametrize("controller", ["jobsets", "leaderworkersets"])
def test_controllers_have_groups_of_posse_everywhere(controller):
    native = bundle(form=ClusterForm.NATIVE, controllers=(controller,))
    assert kinds(native).count("CustomResourceDefinition") == 4
    assert "CustomResourceDefinition" not in kinds(bundle(form=ClusterForm.NATIVE))


def test_the_page_comes_on_request_and_may_only_read():
    found = [item for item in bundle(page=True) if item not in bundle()]
    assert {item["metadata"]["name"].partition(":")[0] for item in found} == {
        "posse-page",
        "posse-page-viewer",
    }
    rules = [rule for item in found if item["kind"] in {"ClusterRole", "Role"} for rule in item["rules"]]
    writes = [rule for rule in rules if not {"get", "list", "watch"}.issuperset(rule["verbs"])]
    assert [rule["resources"] for rule in writes] == [["tokenreviews"], ["subjectaccessreviews"]]
    assert "secrets" not in str(rules)
    assert only("NetworkPolicy", found)["spec"]["ingress"] == []


def test_the_page_may_read_every_kind_that_it_follows():
    rules = next(item for item in bundle(page=True) if item["metadata"]["name"] == "posse-page:gangs")[
        "rules"
    ]
    readable = {
        (group, resource)
        for rule in rules
        if "list" in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert {(kind.group, kind.plural) for kind in (*shown_kinds(), EVENT)} <= readable


def test_the_page_is_run_by_arguments_that_exist():
    pod = bundle(page=True)[-1]["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == "posse-page"
    verb, *options = pod["containers"][0]["args"]
    assert verb == "ui"
    helped = posse("posse", verb, "--help", COLUMNS="200")
    assert [option for option in options if option.partition("=")[0] not in helped] == []
