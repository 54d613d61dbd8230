"""Controllers in a process of their own, over HTTPS against an API server."""

import asyncio

import aiohttp
import pytest

from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import JOB, JOB_SET, LEASE, NAMESPACE, POD
from posse.runtime.process.run_options import RunOptions, SetController
from posse.runtime.remote import remote_controllers
from posse.runtime.remote.control_process import ControlProcess
from tests.support.jobset_plans import jobset
from tests.support.live_server import running_server


@pytest.fixture
def server(tmp_path):
    with running_server(tmp_path / "server") as running:
        running.call(running.service.create, NAMESPACE, "", {"metadata": {"name": "kube-system"}})
        yield running


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    async def nobody(_connection, _kind):
        return ""

    monkeypatch.setattr(remote_controllers, "find_rival", nobody)


def found(server, kind, name, namespace="default"):
    try:
        return server.call(server.service.get, kind, namespace, name)
    except ApiError:
        return None


def running(server, scenario, **options):
    async def main():
        chosen = RunOptions(
            kubeconfig=server.kubeconfig,
            port=0,
            controllers=(SetController.JOB_SETS,),
            schedules=False,
            **options,
        )
        process, ready = ControlProcess(chosen), asyncio.Event()
        task = asyncio.create_task(process.run(ready.set))
        try:
            async with asyncio.timeout(30):
                await ready.wait()
                await scenario(process)
        finally:
            process.stop()
            async with asyncio.timeout(10):
                await task

    asyncio.run(main())


async def until(condition):
    while not condition():  # noqa: ASYNC110 - it has no event to wait for
        await asyncio.sleep(0.02)


def test_it_controls_under_a_lease_of_its_own_and_schedules_nothing(server):
    pod = {
        "metadata": {"name": "p"},
        "spec": {"schedulerName": "posse", "containers": [{"name": "c", "image": "i"}]},
    }
    server.call(server.service.create, POD, "default", pod)
    body = {"metadata": {"name": "js"}, "spec": jobset()["spec"]}
    server.call(server.service.create, JOB_SET, "default", body)

    async def scenario(process):
        await until(lambda: server.call(server.service.list, JOB, None).items)
        lease = found(server, LEASE, "posse-controllers", "kube-system")
        async with aiohttp.ClientSession() as session:
            async with session.get(f"{process.url}/configz") as page:
                assert (await page.json())["identity"] == lease["spec"]["holderIdentity"]
            async with session.get(f"{process.url}/metrics") as page:
                assert 'leader_election_master_status{name="posse-controllers"} 1.0' in await page.text()
            async with session.get(f"{process.url}/readyz") as page:
                assert page.status == 200

    running(server, scenario)
    assert not found(server, LEASE, "posse", "kube-system")
    assert not found(server, POD, "p")["spec"].get("nodeName")
    assert found(server, LEASE, "posse-controllers", "kube-system")["spec"]["holderIdentity"] == ""


def test_without_an_election_it_begins_at_once(server):
    body = {"metadata": {"name": "js"}, "spec": jobset()["spec"]}
    server.call(server.service.create, JOB_SET, "default", body)

    async def scenario(_process):
        await until(lambda: server.call(server.service.list, JOB, None).items)

    running(server, scenario, leader_elect=False)
    assert not found(server, LEASE, "posse-controllers", "kube-system")
