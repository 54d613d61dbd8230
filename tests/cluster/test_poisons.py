"""Pods that hold far too much in one field, on a real API server, which accepts them: no other pod waits for them.

Two replicas run with a short lease, so that a scheduler which is busy for a few seconds would lose it. The API
server itself needs its time for such an object, so that time is allowed for on top.
"""

import os
import time

import pytest

from tests.cluster.cluster_api import ClusterApi, wait_until
from tests.cluster.leaders import leader
from tests.cluster.manifests import node, pod
from tests.support import poisons
from tools.installed_posse import PosseRun, install_posse

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

QUICK_LEASE = {"leaseDuration": "6s", "renewDeadline": "5s", "retryPeriod": "500ms"}
SECONDS = float(os.environ.get("POISON_SECONDS", "1"))
"""For telling the poisonous pod, and for binding the one behind it."""
COUNTS = {
    "spread constraints": 6_000,
    "soft spread constraints": 6_000,
    "host ports": 20_000,
    "resource names": 12_000,
    "affinity terms": 8_000,
    "anti-affinity terms": 8_000,
    "preferred affinity terms": 6_000,
    "expressions of an affinity term": 15_000,
    "node selector": 20_000,
    "node selector terms": 10_000,
    "values of a node expression": 60_000,
    "tolerations": 20_000,
    "containers": 1_500,
    "claims": 8_000,
    "labels": 20_000,
    "scheduling gates": 10_000,
}
"""As many as fit into a request."""


@pytest.fixture(scope="module")
def replicas(plane):
    installed = install_posse(plane, leaderElection=QUICK_LEASE)
    replicas = [PosseRun(plane, installed, f"posse-{number}") for number in range(2)]
    for replica in replicas:
        plane.run(replica)
    for replica in replicas:
        replica.wait_until_ready()
    return replicas


@pytest.fixture(scope="module")
def roomy(plane, tmp_path_factory):
    with ClusterApi(plane.kubeconfig(), tmp_path_factory.mktemp("made") / "discovered") as api:
        api.create(*(node(f"n{number}") for number in range(50)))


def told(api, name):
    return b"Posse takes at most" in api.raw(f"/api/v1/namespaces/default/pods/{name}/status")


def bound(api, name):
    return api.get("Pod", name)["spec"].get("nodeName")


def seconds_of(work):
    started = time.monotonic()
    work()
    return time.monotonic() - started


def seconds_until(holds, what):
    return seconds_of(lambda: wait_until(holds, what))


@pytest.mark.parametrize("name", COUNTS)
def test_a_poison_is_told_and_the_next_pod_is_bound(api, roomy, replicas, name, request, capsys):
    leading = leader(replicas)
    title = name.replace(" ", "-")
    body = poisons.PODS[name](COUNTS[name])
    body["metadata"]["name"] = f"poison-{title}"
    body["spec"]["schedulerName"] = "posse"
    creation = seconds_of(lambda: api.create(body))
    api.create(pod(f"small-{title}", scheduler="posse"))
    behind = seconds_until(lambda: bound(api, f"small-{title}"), "the pod behind the poison")
    answer = behind + seconds_until(lambda: told(api, f"poison-{title}"), "the answer to the poison")
    with capsys.disabled():
        request.config.get_terminal_writer().line(
            f"{name}: made {creation:.2f} s, bound {behind:.2f} s, told {answer:.2f} s"
        )
    assert behind < SECONDS + creation
    assert answer < SECONDS + 2 * creation
    assert leader(replicas) is leading


def test_whoever_leads_next_is_not_held_up_and_stops_when_asked(api, roomy, replicas):
    """All poisons of the tests above are still there."""
    leading = leader(replicas)
    assert seconds_of(leading.stop) < 2 * SECONDS
    (other,) = (one for one in replicas if one is not leading)
    assert leader([other]) is other
    api.create(pod("after-the-change", scheduler="posse"))
    # It first makes sure that it has seen all that the other one wrote, also on the poisons.
    waited = seconds_until(lambda: bound(api, "after-the-change"), "a pod for the next leader")
    assert waited < 10 * SECONDS
    lines = other.page("/metrics").splitlines()
    (stall,) = (line for line in lines if line.startswith("posse_longest_stall_seconds "))
    assert float(stall.split()[1]) < SECONDS
