"""`posse up` as its users have it: a process of its own, reached over HTTPS by the stock Python client."""

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from kubernetes import config
from kubernetes.client import CoreV1Api
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from kubernetes.watch import Watch

EXAMPLES = Path(__file__).parents[2] / "examples"
PATIENCE_SECONDS = 30.0
MEMBERS = 200


class Process:
    """A running `posse up` with a client for it."""

    def __init__(self, data_dir, *words):
        self.data_dir = data_dir
        command = [sys.executable, "-m", "posse", "up", "--port", "0", "--data-dir", str(data_dir), *words]
        environment = os.environ | {"XDG_DATA_HOME": str(data_dir.parent / "share")}
        self.popen = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.popen.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def wait_for_line(self, text):
        seen = []
        while True:
            line = self.lines.get(timeout=PATIENCE_SECONDS)
            assert line is not None, f"it ended without {text!r}: {''.join(seen)}"
            seen.append(line)
            if text in line:
                return line

    def wait_ready(self):
        self.wait_for_line("is ready at https://127.0.0.1:")
        api = config.new_client_from_config(str(self.data_dir / "kubeconfig"))
        api.configuration.retries = False
        self.core = CoreV1Api(api)
        self.dynamic = DynamicClient(api)
        return self

    def create(self, obj, namespace="default"):
        resource = self.dynamic.resources.get(api_version=obj["apiVersion"], kind=obj["kind"])
        return resource.create(body=obj, namespace=namespace)

    def apply_example(self, name):
        for obj in yaml.safe_load_all((EXAMPLES / f"{name}.yaml").read_text()):
            self.create(obj)

    def pods(self, prefix):
        items = self.core.list_namespaced_pod("default").items
        return [pod for pod in items if pod.metadata.name.startswith(prefix)]

    def group_condition(self, name):
        resource = self.dynamic.resources.get(api_version="scheduling.k8s.io/v1beta1", kind="PodGroup")
        status = resource.get(name=name, namespace="default").to_dict().get("status") or {}
        conditions = {item["type"]: item for item in status.get("conditions") or []}
        return conditions.get("PodGroupInitiallyScheduled")

    def wait_running(self, prefix, count):
        eventually(lambda: [pod.status.phase for pod in self.pods(prefix)] == ["Running"] * count)

    def stop(self, number=signal.SIGTERM):
        """Ask it to stop and return how it ended and how long that took."""
        started = time.monotonic()
        self.popen.send_signal(number)
        return self.popen.wait(PATIENCE_SECONDS), time.monotonic() - started

    def end(self):
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()
        self.popen.stdout.close()


def eventually(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("what the test waits for did not happen")


@pytest.fixture
def up(tmp_path):
    """Start `posse up` on the same data directory, as often as a test likes."""
    processes = []

    def start(*words, data_dir=None):
        processes.append(Process(data_dir or tmp_path / "data", *words))
        return processes[-1]

    yield start
    for process in processes:
        process.end()


def test_a_gang_starts_together_and_one_that_does_not_fit_waits_for_nodes(up):
    cluster = up("--nodes", "4").wait_ready()
    cluster.apply_example("gang")
    cluster.wait_running("trainer", 4)
    assert eventually(lambda: cluster.group_condition("trainer"))["status"] == "True"
    assert len({pod.spec.node_name for pod in cluster.pods("trainer")}) == 4

    cluster.apply_example("gang-too-big")
    refused = eventually(
        lambda: (
            (found := cluster.group_condition("colossus")) and found["reason"] == "Unschedulable" and found
        )
    )
    assert refused["status"] == "False"
    assert "nvidia.com/gpu" in refused["message"]
    assert all(pod.spec.node_name is None for pod in cluster.pods("colossus"))

    cluster.apply_example("more-nodes")
    cluster.create(simulated_node("one-more"))
    cluster.wait_running("colossus", 9)
    eventually(lambda: cluster.group_condition("colossus")["status"] == "True")


def simulated_node(name):
    labels = {"posse.dev/simulated": "true"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def test_a_restart_finds_everything_and_more_nodes_make_a_gang_start(up):
    first = up("--nodes", "4", "--example", "gang-too-big").wait_ready()
    eventually(lambda: first.group_condition("colossus"))
    uids = {pod.metadata.name: pod.metadata.uid for pod in first.pods("colossus")}
    token = (first.data_dir / "token").read_text()
    assert first.stop() == (0, pytest.approx(0, abs=5))

    second = up("--nodes", "9").wait_ready()
    second.wait_running("colossus", 9)
    assert {pod.metadata.name: pod.metadata.uid for pod in second.pods("colossus")} == uids
    assert (second.data_dir / "token").read_text() == token
    assert len(second.core.list_node().items) == 9


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_quickly_even_while_clients_watch(up, number):
    cluster = up("--nodes", "1").wait_ready()
    watching = threading.Thread(target=watch_pods, args=(cluster, {}), daemon=True)
    watching.start()
    time.sleep(0.3)
    code, seconds = cluster.stop(number)
    assert code == 0
    assert seconds < 5
    watching.join(10)
    assert not watching.is_alive()


def watch_pods(cluster, bound):
    """Note the node of every pod as the server tells it, until the server is gone."""
    try:
        for event in Watch().stream(cluster.core.list_namespaced_pod, "default"):
            pod = event["object"]
            if pod.spec.node_name:
                bound[pod.metadata.name] = pod.spec.node_name
    except Exception:  # noqa: BLE001 - however the connection breaks, there is nothing more to note
        return


@pytest.mark.parametrize("moment", ["all pods are there", "the first binding is seen"])
def test_after_kill_9_while_a_large_gang_is_bound_nothing_is_lost_and_the_gang_completes(up, moment):
    cluster = up("--nodes", "25").wait_ready()
    bound = {}
    threading.Thread(target=watch_pods, args=(cluster, bound), daemon=True).start()
    cluster.create(gang("swarm", MEMBERS))
    with ThreadPoolExecutor(8) as workers:
        members = list(workers.map(lambda number: cluster.create(member("swarm", number)), range(MEMBERS)))
    acknowledged = {pod.metadata.name: pod.metadata.uid for pod in members}
    if moment == "the first binding is seen":
        while not bound:
            time.sleep(0.0005)
    cluster.popen.kill()
    cluster.popen.wait()
    seen = dict(bound)

    again = up().wait_ready()
    pods = {pod.metadata.name: pod for pod in again.pods("swarm")}
    assert {name: pod.metadata.uid for name, pod in pods.items()} == acknowledged
    assert {name: pods[name].spec.node_name for name in seen} == seen
    again.wait_running("swarm", MEMBERS)
    eventually(lambda: again.group_condition("swarm")["status"] == "True")
    per_node = [pod.spec.node_name for pod in again.pods("swarm")]
    assert max(per_node.count(node) for node in set(per_node)) <= 8


def gang(name, minimum):
    policy = {"gang": {"minCount": minimum}}
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": policy},
    }


def member(group, number):
    resources = {"limits": {"nvidia.com/gpu": "1"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{group}-{number}"},
        "spec": {
            "schedulingGroup": {"podGroupName": group},
            "containers": [{"name": "main", "image": "pause", "resources": resources}],
        },
    }


def test_bad_requests_are_answered_and_the_process_goes_on(up):
    cluster = up("--nodes", "1").wait_ready()
    both = gang("both", 1)
    both["spec"]["schedulingPolicy"]["basic"] = {}
    for bad in (both, gang("small", 0), {**gang("none", 1), "spec": {"schedulingPolicy": {}}}):
        with pytest.raises(ApiException) as refusal:
            cluster.create(bad)
        assert refusal.value.status == 422
        assert "spec.schedulingPolicy" in refusal.value.body
    cluster.create(member("nobody", 1))
    assert cluster.popen.poll() is None


def failure(process):
    """Return the only line of a process that could not start."""
    assert process.popen.wait(PATIENCE_SECONDS) == 1
    lines = []
    while (line := process.lines.get(timeout=5)) is not None:
        lines.append(line)
    assert len(lines) == 1, lines
    assert lines[0].startswith("Error: ")
    return lines[0]


def test_a_port_in_use_is_told_in_one_line(up):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = failure(up("--port", str(port)))
    assert f"127.0.0.1:{port}" in said
    assert "--port" in said


def test_a_data_directory_that_cannot_be_used_is_told_in_one_line(up, tmp_path):
    running = up("--nodes", "0").wait_ready()
    locked = failure(up("--nodes", "0"))
    assert str(running.data_dir) in locked
    assert str(running.popen.pid) in locked
    assert running.stop()[0] == 0

    (database,) = running.data_dir.glob("*.sqlite*")
    database.write_bytes(b"this is no database, but it is long enough to be read as one" * 100)
    damaged = failure(up())
    assert str(database) in damaged
    assert "untouched" in damaged

    (tmp_path / "file").write_text("")
    assert str(tmp_path / "file") in failure(up(data_dir=tmp_path / "file"))
