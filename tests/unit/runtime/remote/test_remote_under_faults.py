"""The scheduler for real clusters while everything between it and the API server goes wrong now and then."""

import asyncio
from collections import Counter

import pytest
import yaml

from posse.client import repeating
from posse.kinds.registry import NAMESPACE, NODE, POD, POD_GROUP
from posse.runtime.process.run_options import RunOptions
from posse.runtime.remote.remote import RemoteScheduler
from tests.support.faulty_proxy import FaultyProxy
from tests.support.live_server import running_server

GANGS, SIZE = 12, 3
ROOM = {"cpu": "16", "memory": "64Gi", "pods": "110"}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(repeating, "FIRST_PAUSE_SECONDS", 0.001)


@pytest.fixture
def server(tmp_path):
    with running_server(tmp_path / "server") as running:
        running.call(running.service.create, NAMESPACE, "", {"metadata": {"name": "kube-system"}})
        for number in range(4):
            node = {"metadata": {"name": f"n{number}"}, "status": {"allocatable": ROOM, "capacity": ROOM}}
            running.call(running.service.create, NODE, "", node)
        yield running


def kubeconfig(path, url, token_file):
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"tokenFile": str(token_file)}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "c",
    }
    path.write_text(yaml.safe_dump(config))
    return path


def create_gang(server, name):
    policy = {"schedulingPolicy": {"gang": {"minCount": SIZE}}}
    server.call(server.service.create, POD_GROUP, "default", {"metadata": {"name": name}, "spec": policy})
    for number in range(SIZE):
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
        spec = {
            "schedulerName": "posse",
            "containers": [container],
            "schedulingGroup": {"podGroupName": name},
        }
        server.call(
            server.service.create, POD, "default", {"metadata": {"name": f"{name}-{number}"}, "spec": spec}
        )


def bound(server):
    pods = server.call(server.service.list, POD, None).items
    return Counter(
        pod["spec"]["schedulingGroup"]["podGroupName"] for pod in pods if pod["spec"].get("nodeName")
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_every_gang_is_complete_in_the_end_and_told_so(server, tmp_path, seed):
    async def main():
        token = tmp_path / "token"
        token.write_text("first")
        async with FaultyProxy(server, seed).running() as proxy:
            config = kubeconfig(tmp_path / "kubeconfig", proxy.url, token)
            scheduler = RemoteScheduler(RunOptions(kubeconfig=config, port=0))
            task = asyncio.create_task(scheduler.run(lambda: None))
            for number in range(GANGS):
                await asyncio.to_thread(create_gang, server, f"g{number}")
                if number == GANGS // 2:
                    proxy.token = "second"
                    token.write_text("second")
                await asyncio.sleep(0.1)
            async with asyncio.timeout(60):
                while not await asyncio.to_thread(all_is_done, server):
                    assert not task.done(), task.result()
                    await asyncio.sleep(0.1)
            scheduler.stop()
            await task
            return proxy.faults

    faults = asyncio.run(main())
    assert all(faults.values()), faults


def all_is_done(server):
    groups = server.call(server.service.list, POD_GROUP, None).items
    told = [group for group in groups if is_scheduled(group)]
    return bound(server) == {f"g{number}": SIZE for number in range(GANGS)} and len(told) == GANGS


def is_scheduled(group):
    return any(
        condition["reason"] == "Scheduled" for condition in group.get("status", {}).get("conditions", [])
    )
