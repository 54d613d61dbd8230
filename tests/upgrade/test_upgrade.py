"""What the previous release left behind is taken over: its data directory, recording and custom resources.

The fixtures in 0.1.0/ were written by that release: `posse up --nodes 3 --topology rack=3 --record DIR` with a gang in one
rack, a LeaderWorkerSet, and a gang of custom resources that lacked pods. Certificates and tokens are left out.
"""

import gzip
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
import yaml

from posse.installation.bundle import groups
from tests.support import posse_command

BEFORE = Path(__file__).parent / "0.1.0"
PATIENCE_SECONDS = 30.0


@pytest.fixture
def data(tmp_path):
    with tarfile.open(BEFORE / "data.tar.gz") as archive:
        archive.extractall(tmp_path / "data", filter="data")
    return tmp_path / "data"


@pytest.fixture
def cluster(tmp_path, data):
    kubeconfig = tmp_path / "kubeconfig"
    command = [
        sys.executable,
        "-m",
        "posse",
        "up",
        "--port",
        "0",
        "--data-dir",
        data,
        "--kubeconfig",
        kubeconfig,
    ]
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path)}
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    wait_until(kubeconfig.exists, f"a cluster, see {tmp_path / 'log'}")
    yield kubeconfig
    process.terminate()
    assert process.wait(PATIENCE_SECONDS) == 0


def wait_until(holds, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.1)


def pods(kubeconfig):
    """Nodes of pods that run, by name of the pod."""
    listed = json.loads(posse_command.posse("posse", "get", "pods", "-o", "json", "--kubeconfig", kubeconfig))
    running = [pod for pod in listed["items"] if pod["status"]["phase"] == "Running"]
    return {pod["metadata"]["name"]: pod["spec"]["nodeName"] for pod in running}


def member(name):
    container = {"name": "c", "image": "registry.example/worker:1", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"scheduling.posse.dev/pod-group": "custom"}},
        "spec": {"containers": [container]},
    }


def test_a_cluster_goes_on_where_the_previous_release_stopped(cluster, tmp_path):
    assert {"kept-0", "kept-1", "serving-0", "serving-0-1"} <= set(pods(cluster))
    told = posse_command.posse("posse", "gangs", "-o", "json", "--kubeconfig", cluster)
    states = {one["name"]: one["state"] for one in json.loads(told)}
    assert (states["kept"], states["custom"]) == ("Scheduled", "WaitingForPods")

    missing = tmp_path / "missing.yaml"
    missing.write_text(yaml.safe_dump_all(member(f"custom-{number}") for number in range(1, 4)))
    posse_command.posse("posse", "apply", "-f", missing, "--kubeconfig", cluster)
    wait_until(lambda: sum(name.startswith("custom") for name in pods(cluster)) == 4, "the old gang")


def test_the_data_directory_is_checked_and_found_whole(data):
    assert posse_command.posse("posse", "check", data)


def test_a_recording_is_replayed():
    """Decisions may differ where a release decides otherwise; then this fixture and the upgrade notes are renewed."""
    assert "all equal" in posse_command.posse("posse", "replay", BEFORE / "recording")


def schemas(definitions):
    return {
        (one["spec"]["names"]["kind"], version["name"]): version["schema"]["openAPIV3Schema"]
        for one in definitions
        if one["kind"] == "CustomResourceDefinition"
        for version in one["spec"]["versions"]
    }


def lost(old, new, path=""):
    """Fields of the old schema that the new one lacks, has with another type, or newly requires."""
    if old.get("type") != new.get("type"):
        yield f"{path}: {old.get('type')} became {new.get('type')}"
    yield from (
        f"{path}.{name} became required" for name in {*new.get("required", ())} - {*old.get("required", ())}
    )
    for name, part in old.get("properties", {}).items():
        if name in new.get("properties", {}):
            yield from lost(part, new["properties"][name], f"{path}.{name}")
        else:
            yield f"{path}.{name} is gone"
    if "items" in old:
        yield from lost(old["items"], new.get("items", {}), f"{path}[]")


def test_custom_resources_of_the_previous_release_stay_valid():
    old = schemas(json.loads(gzip.decompress((BEFORE / "definitions.json.gz").read_bytes())))
    new = schemas(groups())
    assert old.keys() <= new.keys()
    assert [problem for key in old for problem in lost(old[key], new[key], key[0])] == []


def test_a_field_that_goes_is_noticed():
    old = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    new = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert set(lost(old, new)) == {".a became required", ".a: string became integer", ".b is gone"}
