"""The official Python client against a live server: typed and dynamic interfaces, and its watch."""

import threading

import pytest
from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

from tests.support.live_server import running_server

GANG = {
    "apiVersion": "scheduling.k8s.io/v1alpha3",
    "kind": "PodGroup",
    "metadata": {"name": "gang"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}},
}


@pytest.fixture
def server(tmp_path):
    with running_server(tmp_path / "server") as live:
        yield live


@pytest.fixture
def api(server):
    configuration = client.Configuration()
    config.load_kube_config(str(server.kubeconfig), client_configuration=configuration)
    # The machine's proxy has nothing to do with a server on loopback.
    configuration.proxy = None
    with client.ApiClient(configuration) as api_client:
        yield api_client


def pod(name: str, **labels: str) -> client.V1Pod:
    resources = client.V1ResourceRequirements(requests={"cpu": "1", "memory": "1Gi"})
    container = client.V1Container(name="main", image="img", resources=resources)
    return client.V1Pod(
        metadata=client.V1ObjectMeta(name=name, labels=labels), spec=client.V1PodSpec(containers=[container])
    )


def test_the_life_of_a_pod(api):
    core = client.CoreV1Api(api)
    created = core.create_namespaced_pod("default", pod("a", app="x"))
    assert created.metadata.uid
    assert created.status.phase == "Pending"
    core.patch_namespaced_pod("a", "default", {"metadata": {"labels": {"stage": "one"}}})
    read = core.read_namespaced_pod("a", "default")
    assert read.metadata.labels == {"app": "x", "stage": "one"}
    assert read.spec.containers[0].resources.requests == {"cpu": "1", "memory": "1Gi"}

    target = client.V1ObjectReference(kind="Node", name="n1")
    binding = client.V1Binding(metadata=client.V1ObjectMeta(name="a"), target=target)
    # The client expects a Binding back, the server answers with a Status, as Kubernetes does.
    core.create_namespaced_pod_binding("a", "default", binding, _preload_content=False)
    [bound] = core.list_namespaced_pod("default", field_selector="spec.nodeName=n1").items
    assert bound.metadata.name == "a"

    running = {"status": {"phase": "Running", "podIP": "10.0.0.1"}}
    assert core.patch_namespaced_pod_status("a", "default", running).status.pod_ip == "10.0.0.1"
    going = core.delete_namespaced_pod("a", "default")
    assert going.metadata.deletion_timestamp
    core.delete_namespaced_pod("a", "default", grace_period_seconds=0)
    assert core.list_pod_for_all_namespaces().items == []


def test_a_stale_update_is_a_conflict(api):
    core = client.CoreV1Api(api)
    stale = core.create_namespaced_config_map(
        "default", client.V1ConfigMap(metadata=client.V1ObjectMeta(name="c"), data={"a": "1"})
    )
    core.patch_namespaced_config_map("c", "default", {"data": {"a": "2"}})
    stale.data = {"a": "3"}
    with pytest.raises(ApiException) as refused:
        core.replace_namespaced_config_map("c", "default", stale)
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")
    assert core.read_namespaced_config_map("c", "default").data == {"a": "2"}


def test_pages_add_up_to_the_whole_list(api):
    core = client.CoreV1Api(api)
    for number in range(7):
        core.create_namespaced_pod("default", pod(f"p{number}"))
    names, token = [], None
    while token != "":
        page = core.list_namespaced_pod("default", limit=3, _continue=token)
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ""
    assert names == [f"p{number}" for number in range(7)]


def test_list_then_watch_misses_nothing(api):
    core = client.CoreV1Api(api)
    core.create_namespaced_pod("default", pod("before"))
    listed = core.list_namespaced_pod("default")

    def change() -> None:
        for number in range(20):
            core.create_namespaced_pod("default", pod(f"p{number:02}"))
        core.delete_namespaced_pod("before", "default")

    writer = threading.Thread(target=change)
    writer.start()
    stream = watch.Watch().stream(
        core.list_namespaced_pod,
        "default",
        resource_version=listed.metadata.resource_version,
        timeout_seconds=20,
    )
    seen = []
    for event in stream:
        seen.append((event["type"], event["object"].metadata.name))
        if event["type"] == "DELETED":
            break
    stream.close()
    writer.join()
    assert seen == [*(("ADDED", f"p{number:02}") for number in range(20)), ("DELETED", "before")]


def gang(name: str, minimum: int) -> client.V1beta1PodGroup:
    policy = client.V1beta1PodGroupSchedulingPolicy(
        gang=client.V1beta1GangSchedulingPolicy(min_count=minimum)
    )
    return client.V1beta1PodGroup(
        metadata=client.V1ObjectMeta(name=name), spec=client.V1beta1PodGroupSpec(scheduling_policy=policy)
    )


def test_groups_as_typed_objects(api):
    groups = client.SchedulingV1beta1Api(api)
    created = groups.create_namespaced_pod_group("default", gang("gang", 2))
    assert created.spec.disruption_mode.single is not None
    patch = {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}
    groups.patch_namespaced_pod_group("gang", "default", patch)
    [listed] = groups.list_namespaced_pod_group("default").items
    assert listed.spec.scheduling_policy.gang.min_count == 3


def test_a_refused_group_says_which_field_and_why(api):
    with pytest.raises(ApiException) as refused:
        client.SchedulingV1beta1Api(api).create_namespaced_pod_group("default", gang("gang", 0))
    assert refused.value.status == 422
    assert "spec.schedulingPolicy.gang.minCount: Required value" in refused.value.body


def test_the_dynamic_client_finds_everything_by_discovery(api, tmp_path):
    everything = dynamic.DynamicClient(api, cache_file=str(tmp_path / "discovery.json"))
    groups = everything.resources.get(api_version="scheduling.k8s.io/v1alpha3", kind="PodGroup")
    created = groups.create(body=GANG, namespace="default")
    assert created.apiVersion == "scheduling.k8s.io/v1alpha3"
    assert [group.metadata.name for group in groups.get(namespace="default").items] == ["gang"]
    nodes = everything.resources.get(api_version="v1", kind="Node")
    assert nodes.get().items == []


def test_the_version_and_the_groups(api):
    assert client.VersionApi(api).get_code().git_version.startswith("v1.37.0")
    names = {group.name for group in client.ApisApi(api).get_api_versions().groups}
    assert {"scheduling.k8s.io", "policy", "coordination.k8s.io"} <= names


def test_what_was_acknowledged_is_there_after_a_restart(tmp_path):
    versions = []
    for _ in range(2):
        with running_server(tmp_path / "server") as live:
            configuration = client.Configuration()
            config.load_kube_config(str(live.kubeconfig), client_configuration=configuration)
            configuration.proxy = None
            with client.ApiClient(configuration) as api_client:
                core = client.CoreV1Api(api_client)
                if not versions:
                    core.create_namespaced_pod("default", pod("kept"))
                listed = core.list_namespaced_pod("default")
                assert [item.metadata.name for item in listed.items] == ["kept"]
                versions.append(int(listed.metadata.resource_version))
    assert versions[0] < versions[1]
