"""The leader is cut off from the API server without a word: another one goes on in its place, and only one leads afterwards."""

import itertools
import time
from collections import Counter
from urllib.parse import urlsplit

import pytest

from tests.cluster.cluster_api import ClusterApi, wait_until
from tests.cluster.gang_load import GangLoad
from tests.cluster.leaders import leader, leaders
from tests.cluster.manifests import gang, node, pod
from tests.cluster.namespaces import BranchRun, middle_of
from tools.installed_posse import install_posse

pytestmark = pytest.mark.cluster

LEASE = {"leaseDuration": "6s", "renewDeadline": "4s", "retryPeriod": "1s"}
TAKEOVER_SECONDS = 10.0
"""The lease, a retry, and the time in which a new leader looks at what the last one wrote."""
MACHINE_SECONDS = 20.0
"""More, for a machine that is busy with other tests."""
WATCHED_SECONDS = 3.0
"""In which a leader that was cut off could do harm once it is back."""
CUTS = 2
CROWDED_NODES = 3
URGENT = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "urgent"},
    "value": 100,
}


@pytest.fixture(scope="module")
def replicas(plane):
    with middle_of(urlsplit(plane.server).port) as middle:
        installed = install_posse(plane, leaderElection=LEASE)
        running = [BranchRun(plane, installed, f"posse-{number}", middle.branch()) for number in range(2)]
        try:
            for replica in running:
                replica.start()
            for replica in running:
                replica.wait_until_ready()
            yield running
        finally:
            for replica in running:
                replica.stop()


class Crowd:
    """Nodes full of pods that leave for a gang of higher priority, and one whose pods have no reason to leave.

    It has a namespace of its own, and no other load uses its nodes.
    """

    def __init__(self, api: ClusterApi, name: str) -> None:
        self._api = api
        self._name = name
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self._add_nodes(name, CROWDED_NODES)
        self._add_nodes(f"{name}-apart", 1)
        self._low = [f"low-{number}" for number in range(2 * CROWDED_NODES)]
        self._apart = [f"apart-{number}" for number in range(2)]
        self._urgent = [f"urgent-{number}" for number in range(CROWDED_NODES)]
        api.create(*(self._on(name, pod(each, scheduler="posse")) for each in self._low))
        api.create(*(self._on(f"{name}-apart", pod(each, scheduler="posse")) for each in self._apart))
        wait_until(lambda: self._bound() == {*self._low, *self._apart}, "the crowd on its nodes", 60)

    def add_urgent_gang(self) -> None:
        """It fits only where all pods of low priority are."""
        group = gang("urgent", CROWDED_NODES)
        group["metadata"]["namespace"] = self._name
        group["spec"]["priorityClassName"] = "urgent"
        members = [pod(each, group="urgent", scheduler="posse", cpu="2") for each in self._urgent]
        self._api.create(group)
        for member in members:
            member["spec"]["priorityClassName"] = "urgent"
            self._api.create(self._on(self._name, member))

    def wait_until_replaced(self, seconds: float) -> None:
        wait_until(
            lambda: self._bound() >= set(self._urgent), "the urgent gang in place of the crowd", seconds
        )

    def check(self) -> None:
        """No eviction is lost, and none was made for nothing."""
        assert self._bound() == {*self._urgent, *self._apart}

    def _add_nodes(self, label: str, count: int) -> None:
        for number in range(count):
            made = node(f"{label}-{number}", cpu="2", crowd=label)
            taint = {"key": "crowd", "value": label, "effect": "NoSchedule"}
            self._api.create(made | {"spec": {"taints": [taint]}})

    def _on(self, label: str, made: dict) -> dict:
        made["metadata"]["namespace"] = self._name
        made["spec"] |= {"nodeSelector": {"crowd": label}, "tolerations": [{"key": "crowd", "value": label}]}
        return made

    def _bound(self) -> set[str]:
        found = self._api.list("Pod", self._name)
        return {item["metadata"]["name"] for item in found if item["spec"].get("nodeName")}


def scheduled_twice(api: ClusterApi) -> dict[str, int]:
    """Pods of which more than one event says that they were bound."""
    events = api.list("Event", namespace=None)
    bound = Counter(each["involvedObject"]["uid"] for each in events if each["reason"] == "Scheduled")
    return {uid: count for uid, count in bound.items() if count > 1}


def test_another_replica_goes_on_when_the_leader_is_cut_off(api, replicas, request, capsys):
    api.create(URGENT)
    takeovers = []
    for number, pause in zip(range(CUTS), itertools.cycle((0.0, 0.1))):
        load, crowd = GangLoad(api, 10, prefix=f"cut-{number}"), Crowd(api, f"crowd-{number}")
        cut = leader(replicas)
        (other,) = (replica for replica in replicas if replica is not cut)
        arriving = load.arriving(pause_seconds=0.2)
        crowd.add_urgent_gang()
        time.sleep(pause)
        cut.branch.cut()
        began = time.monotonic()
        # Never two at once: `leaders` looks at both.
        wait_until(
            lambda other=other: leaders(replicas) == [other],
            "another leader",
            TAKEOVER_SECONDS + MACHINE_SECONDS,
        )
        takeovers.append(time.monotonic() - began)
        crowd.wait_until_replaced(MACHINE_SECONDS)
        arriving.join()
        load.wait_until_complete(60)
        cut.branch.heal()
        healed = time.monotonic()
        while time.monotonic() < healed + WATCHED_SECONDS:
            assert leaders(replicas) == [other]
        wait_until(lambda cut=cut: cut.page("/readyz"), "the other one to follow again", 60)
        crowd.check()
        load.check()
    assert scheduled_twice(api) == {}
    for replica in replicas:
        assert "Traceback" not in replica.log.read_text()
        assert "is lost" in replica.log.read_text()
    with capsys.disabled():
        request.config.get_terminal_writer().line(
            f"the leader was cut off {CUTS} times; the other one led after {max(takeovers):.1f} s at most"
        )
