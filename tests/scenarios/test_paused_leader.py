"""Two schedulers as processes of their own, of which the one in charge is stopped for a while and then wakes up."""

import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
import yaml

from posse.kinds.registry import LEASE, NAMESPACE, NODE, POD, POD_GROUP
from tests.support.live_server import running_server

PATIENCE_SECONDS = 60.0
SIZE = 3
ROOM = {"cpu": "64", "memory": "64Gi", "pods": "110"}
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaseDuration": "3s", "renewDeadline": "2s", "retryPeriod": "300ms"},
    "profiles": [{"schedulerName": "second"}],
}


@pytest.fixture
def server(tmp_path):
    with running_server(tmp_path / "server") as running:
        running.call(running.service.create, NAMESPACE, "", {"metadata": {"name": "kube-system"}})
        node = {"metadata": {"name": "n1"}, "status": {"allocatable": ROOM, "capacity": ROOM}}
        running.call(running.service.create, NODE, "", node)
        yield running


@pytest.fixture
def start(server, tmp_path):
    """Start a scheduler; all are gone afterwards, whatever state they were in."""
    configuration = tmp_path / "scheduler.yaml"
    configuration.write_text(yaml.safe_dump(CONFIGURATION))
    words = ["--config", configuration, "--kubeconfig", server.kubeconfig, "--port", "0"]
    processes = []

    def started(name):
        with (tmp_path / f"{name}.log").open("w") as log:
            command = [sys.executable, "-m", "posse", "run", *words]
            processes.append(subprocess.Popen(command, stdout=log, stderr=log))
        return processes[-1], tmp_path / f"{name}.log"

    yield started
    for process in processes:
        process.kill()
        process.wait()


def wait_until(holds, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


def holder(server):
    leases = server.call(server.service.list, LEASE, "kube-system").items
    return leases[0]["spec"]["holderIdentity"] if leases else ""


def create_gang(server, name):
    policy = {"schedulingPolicy": {"gang": {"minCount": SIZE}}}
    server.call(server.service.create, POD_GROUP, "default", {"metadata": {"name": name}, "spec": policy})
    for number in range(SIZE):
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
        spec = {
            "schedulerName": "second",
            "containers": [container],
            "schedulingGroup": {"podGroupName": name},
        }
        pod = {"metadata": {"name": f"{name}-{number}"}, "spec": spec}
        server.call(server.service.create, POD, "default", pod)


def complete(server):
    pods = server.call(server.service.list, POD, None).items
    bound = Counter(
        pod["spec"]["schedulingGroup"]["podGroupName"] for pod in pods if pod["spec"].get("nodeName")
    )
    return sum(count == SIZE for count in bound.values())


def test_a_leader_that_was_stopped_leaves_the_work_to_the_other_when_it_wakes_up(server, start):
    first, first_log = start("first")
    wait_until(lambda: holder(server), "a leader")
    leader = holder(server)
    start("second")
    create_gang(server, "before")
    wait_until(lambda: complete(server) == 1, "the gang of the first leader")
    first.send_signal(signal.SIGSTOP)
    for number in range(5):
        create_gang(server, f"during-{number}")
    wait_until(lambda: holder(server) not in {"", leader}, "another leader")
    wait_until(lambda: complete(server) == 6, "the gangs of the second leader")
    first.send_signal(signal.SIGCONT)
    wait_until(lambda: "not leading any more" in first_log.read_text(), "the first to notice")
    create_gang(server, "after")
    wait_until(lambda: complete(server) == 7, "the last gang")
    assert holder(server) not in {"", leader}
    assert first.poll() is None
