"""What Posse watches cannot be read: one kind fails for good, or etcd has forgotten the versions it asks for."""

import base64
import json
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from kubernetes.client.exceptions import ApiException

from tests.cluster.bursts import BrokenKind, serving
from tests.cluster.cluster_api import wait_until
from tests.cluster.gang_load import SIZE, GangLoad
from tests.cluster.manifests import gang, node, pod
from tools.installed_posse import POSSE_ACCOUNT, PosseRun, install_posse

pytestmark = pytest.mark.cluster

COMPACT_EVERY_SECONDS = 0.3
GONE = 410


@pytest.fixture
def clean(api):
    yield
    for kind in ("Pod", "Node"):
        for item in api.list(kind):
            api.delete(kind, item["metadata"]["name"])
    wait_until(lambda: not api.list("Pod"), "the end of all pods")


@contextmanager
def running(plane, name, kubeconfig=None):
    scheduler = PosseRun(plane, install_posse(plane), name, kubeconfig)
    scheduler.start()
    try:
        scheduler.wait_until_ready()
        yield scheduler
    finally:
        scheduler.stop()


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("plural", ["services", "persistentvolumeclaims"])
def test_a_kind_that_fails_for_good_holds_up_nothing_else(plane, api, tmp_path, plural):
    with serving(BrokenKind(plane.kubeconfig(POSSE_ACCOUNT.name), plural)) as proxy:
        kubeconfig = proxy.write_kubeconfig(tmp_path / "broken.kubeconfig")
        with running(plane, f"posse-without-{plural}", kubeconfig) as scheduler:
            proxy.is_broken = True
            wait_until(lambda: proxy.refused > 2, "the kind to be asked for in vain")
            load = GangLoad(api, 10, prefix=f"without-{plural}")
            load.arriving(pause_seconds=0.0).join()
            load.wait_until_complete(20)
            load.check()
            assert scheduler.page("/livez")
            assert "Traceback" not in scheduler.log.read_text()
            assert scheduler.log.read_text().count(plural) < proxy.refused


def ask_etcd(plane, path, **question):
    request = urllib.request.Request(f"{plane.etcd_url}/v3/kv/{path}", json.dumps(question).encode())
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.loads(answer.read())


def compact(plane):
    """Have etcd forget every version but the present one."""
    revision = ask_etcd(plane, "range", key=base64.b64encode(b"nothing").decode())["header"]["revision"]
    try:
        ask_etcd(plane, "compaction", revision=revision, physical=True)
    except urllib.error.HTTPError as refusal:
        # Nothing was written since the last time.
        if b"compacted" not in refusal.read():
            raise


@contextmanager
def compacting(plane):
    ended = threading.Event()

    def work():
        while not ended.wait(COMPACT_EVERY_SECONDS):
            compact(plane)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.usefixtures("clean")
def test_versions_that_etcd_has_forgotten_are_not_missed(plane, api):
    """Pods come and go unseen, and the API server comes back without the history that a watch would need."""
    with running(plane, "posse-compacted") as scheduler:
        api.create(node("only", cpu=str(SIZE)), gang("before", SIZE), gang("after", SIZE))
        api.create(*(pod(f"before-{number}", group="before", scheduler="posse") for number in range(SIZE)))
        wait_until(lambda: bound(api, "before") == SIZE, "the first gang")
        scheduler.pause()
        version = api.get("Pod", "before-0")["metadata"]["resourceVersion"]
        for number in range(SIZE):
            api.delete("Pod", f"before-{number}")
        api.create(*(pod(f"after-{number}", group="after", scheduler="posse") for number in range(SIZE)))
        wait_until(lambda: len(api.list("Pod")) == SIZE, "the end of the first gang")
        plane.apiserver.kill()
        compact(plane)
        plane.apiserver.start()
        plane.wait_until_ready()
        assert is_forgotten(api, version)
        scheduler.go_on()
        wait_until(lambda: bound(api, "after") == SIZE, "the second gang, in the place of the first")
        assert "Traceback" not in scheduler.log.read_text()


@pytest.mark.usefixtures("clean")
def test_gangs_start_while_etcd_forgets_all_the_time(plane, api):
    with running(plane, "posse-forgetful") as scheduler, compacting(plane):
        load = GangLoad(api, 20, prefix="forgotten")
        load.arriving(pause_seconds=0.05).join()
        load.wait_until_complete(20)
        load.check()
        assert "Traceback" not in scheduler.log.read_text()


def is_forgotten(api, version):
    """Whether nobody can watch from this version on any more."""
    path = f"/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=1&resourceVersion={version}"
    try:
        return b'"code":410' in api.raw(path)
    except ApiException as refusal:
        return refusal.status == GONE


def bound(api, group):
    return sum(
        item["metadata"]["name"].startswith(f"{group}-") and bool(item["spec"].get("nodeName"))
        for item in api.list("Pod")
    )
