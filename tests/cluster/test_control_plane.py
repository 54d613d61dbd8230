"""The control plane itself, before anything of Posse: right versions, right APIs, and kube-scheduler finds its way."""

import json

import pytest

from tests.cluster.cluster_api import ClusterApi, wait_until
from tests.cluster.manifests import gang, node, pod
from tools.installed_posse import POSSE_ACCOUNT

pytestmark = pytest.mark.cluster


@pytest.fixture
def older_api(plane_without_groups, tmp_path):
    with ClusterApi(plane_without_groups.kubeconfig(), tmp_path / "discovered") as api:
        yield api


def test_it_serves_the_whole_workload_api(api):
    assert {"v1", "v1beta1", "v1alpha3"} <= set(api.versions("scheduling.k8s.io"))
    assert api.server_version().startswith("v1.37.")


def test_the_older_one_knows_nothing_of_groups(older_api):
    assert older_api.versions("scheduling.k8s.io") == ["v1"]
    assert older_api.server_version().startswith("v1.33.")


@pytest.mark.parametrize("served", ["api", "older_api"])
def test_a_list_at_the_version_of_another_kind_is_answered(request, served):
    """With an etcd before 3.5.13 it ends in `Too large resource version`."""
    api = request.getfixturevalue(served)
    api.create(node("newest"))
    version = api.get("Node", "newest")["metadata"]["resourceVersion"]
    api.delete("Node", "newest")
    listed = json.loads(api.raw(f"/api/v1/configmaps?resourceVersion={version}"))
    assert int(listed["metadata"]["resourceVersion"]) >= int(version)


def test_a_user_without_a_role_may_do_nothing(plane, kubectl):
    answer = kubectl.run("auth", "can-i", "list", "pods", "--as", POSSE_ACCOUNT.name)
    assert answer.stdout.strip() == "no"


def test_kube_scheduler_places_a_gang_and_a_restart_forgets_nothing(plane, api):
    scheduler = plane.start_scheduler()
    api.create(node("n1"), gang("pair", 2), pod("a", group="pair"), pod("b", group="pair"))
    wait_until(lambda: all(placed(api, name) == "n1" for name in ("a", "b")), "both members on the node")
    scheduler.stop()
    plane.apiserver.kill()
    plane.etcd.stop()
    plane.etcd.start()
    plane.apiserver.start()
    plane.wait_until_ready()
    assert placed(api, "a") == "n1"


def placed(api, name):
    return api.get("Pod", name)["spec"].get("nodeName")
