"""The control plane is killed or in trouble, connections are cut, credentials change, the scheduler is suspended: Posse goes on."""

import itertools
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from tests.cluster.bursts import Bursts, serving
from tests.cluster.cluster_api import wait_until
from tests.cluster.cutting import cut_every_second
from tests.cluster.gang_load import SIZE, GangLoad
from tests.cluster.manifests import gang, node, pod
from tools.installed_posse import POSSE_ACCOUNT, PosseRun, install_posse

pytestmark = pytest.mark.cluster

BACK_AT_WORK_SECONDS = 10.0
NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def scheduler(posse):
    return posse


@pytest.fixture
def load(api):
    """Gangs that arrive during the test. Groups stay behind, since nothing removes their finalizers."""
    yield GangLoad(api, 30, prefix=f"load-{next(NUMBERS)}")
    for kind in ("Pod", "Node"):
        for item in api.list(kind):
            api.delete(kind, item["metadata"]["name"])
    wait_until(lambda: not api.list("Pod"), "the end of all pods")


def assert_back_at_work(api, victim):
    """A gang that comes after the outage starts soon."""
    members = [f"after-{victim}-{number}" for number in range(2)]
    api.create(node(f"after-{victim}", cpu="2"), gang(f"after-{victim}", 2))
    api.create(*(pod(name, group=f"after-{victim}", scheduler="posse") for name in members))
    wait_until(
        lambda: all(api.get("Pod", name)["spec"].get("nodeName") for name in members),
        "a gang that came after the outage",
        BACK_AT_WORK_SECONDS,
    )


@pytest.mark.parametrize("victim", ["apiserver", "etcd"])
def test_an_outage_of_the_control_plane_is_survived(plane, api, load, victim):
    arriving = load.arriving(pause_seconds=0.05)
    wait_until(lambda: sum(load.bound().values()) >= 3 * SIZE, "the first gangs")
    program = getattr(plane, victim)
    program.kill()
    program.start()
    plane.wait_until_ready()
    assert_back_at_work(api, victim)
    arriving.join()
    load.wait_until_complete(60)
    load.check()


def test_a_leader_that_was_suspended_goes_on(posse, api, load):
    arriving = load.arriving(pause_seconds=0.0)
    wait_until(lambda: sum(load.bound().values()) >= SIZE, "the first gang")
    posse.pause()
    arriving.join()
    posse.go_on()
    load.wait_until_complete(60)
    load.check()


def test_new_credentials_are_found(plane, api, load):
    for name in load.names[:5]:
        load.add(name)
    plane.replace_tokens()
    api.sign_in()
    assert_back_at_work(api, "tokens")
    for name in load.names[5:]:
        load.add(name)
    load.wait_until_complete(60)
    load.check()


@contextmanager
def posse_instead(plane, posse, name, kubeconfig):
    """Another one, which finds the API server elsewhere."""
    posse.stop()
    other = PosseRun(plane, install_posse(plane), name, kubeconfig)
    other.start()
    try:
        yield other
    finally:
        other.stop()
        posse.start()


def test_connections_that_last_a_second_suffice(plane, posse, api, load, tmp_path):
    with cut_every_second(urlsplit(plane.server).port) as port:
        kubeconfig = tmp_path / "cut.kubeconfig"
        direct = plane.kubeconfig(POSSE_ACCOUNT.name).read_text()
        kubeconfig.write_text(direct.replace(plane.server, f"https://127.0.0.1:{port}"))
        with posse_instead(plane, posse, "posse-cut", kubeconfig):
            load.arriving(pause_seconds=0.1).join()
            load.wait_until_complete(90)
            load.check()


def test_bursts_of_refusals_are_waited_out(plane, posse, api, load, tmp_path):
    with serving(Bursts(plane.kubeconfig(POSSE_ACCOUNT.name))) as bursts:
        kubeconfig = bursts.write_kubeconfig(tmp_path / "bursts.kubeconfig")
        with posse_instead(plane, posse, "posse-bursts", kubeconfig) as scheduler:
            load.arriving(pause_seconds=0.2).join()
            load.wait_until_complete(60)
            load.check()
            assert_back_at_work(api, "bursts")
            assert "Traceback" not in scheduler.log.read_text()
    assert bursts.bursts[429]
    assert sum(count for code, count in bursts.bursts.items() if code >= 500)
