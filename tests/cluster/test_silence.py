"""Connections to a real API server that fall silent without an end: Posse is back at work within a stated time."""

import itertools
import time
from urllib.parse import urlsplit

import pytest

from tests.cluster.cluster_api import wait_until
from tests.cluster.gang_load import GangLoad
from tests.cluster.manifests import gang, node, pod
from tests.cluster.silence import silent_relay
from tools.installed_posse import POSSE_ACCOUNT, PosseRun, install_posse

pytestmark = pytest.mark.cluster

RECOVERY_SECONDS = 10.0
"""What docs/guides/real-cluster.md promises, from the moment on when the server can be reached."""
MACHINE_SECONDS = 10.0
"""More, for a machine that is busy with other tests."""
FAULTS = 3
NUMBERS = itertools.count()


@pytest.fixture
def relayed(plane, tmp_path):
    """Posse behind a relay, and the relay."""
    with silent_relay(urlsplit(plane.server).port) as relay:
        kubeconfig = tmp_path / "relay.kubeconfig"
        direct = plane.kubeconfig(POSSE_ACCOUNT.name).read_text()
        kubeconfig.write_text(direct.replace(plane.server, f"https://127.0.0.1:{relay.port}"))
        running = PosseRun(plane, install_posse(plane), "posse-silence", kubeconfig)
        running.start()
        running.wait_until_ready()
        yield relay, running
        running.stop()


def test_silent_connections_are_replaced_and_nothing_is_bound_twice_or_in_part(api, relayed):
    relay, running = relayed
    load = GangLoad(api, 10, prefix=f"silence-{next(NUMBERS)}")
    arriving = load.arriving(pause_seconds=0.1)
    for number in range(FAULTS):
        wait_until(lambda: running.page("/readyz"), "readiness", 60)
        assert relay.silence(), "there were connections to lose"
        began = time.monotonic()
        name = f"after-{number}"
        api.create(node(name, cpu="2"), gang(name, 2))
        api.create(*(pod(f"{name}-{member}", group=name, scheduler="posse") for member in range(2)))
        wait_until(
            lambda name=name: all(
                api.get("Pod", f"{name}-{member}")["spec"].get("nodeName") for member in range(2)
            ),
            "a gang that came after the silence",
            RECOVERY_SECONDS + MACHINE_SECONDS,
        )
        assert time.monotonic() - began < RECOVERY_SECONDS + MACHINE_SECONDS
    arriving.join()
    load.wait_until_complete(60)
    load.check()
    log = running.log.read_text()
    assert "went silent" in log
    assert "Traceback" not in log
    assert "is lost" not in log, "the lease was kept"
