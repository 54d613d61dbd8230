"""When a scheduler of a real cluster keeps memory, and when it returns it."""

import asyncio
import threading

from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import LEASE
from posse.runtime.remote import remote
from tests.unit.runtime.remote.test_remote import (
    HELD,
    QUICK,
    configured,
    create_pod,
    found,
    node_of,
    running,
    until,
)


def test_memory_is_returned_when_the_cluster_is_read_and_kept_while_it_is_read_again(server, monkeypatch):
    told, schedulers = [], []

    def returned():
        is_beside = threading.current_thread() is not threading.main_thread()
        told.append(("returned", is_beside, schedulers[0]._loop.has_absorbed_all.is_set()))

    monkeypatch.setattr(remote, "return_memory", returned)
    monkeypatch.setattr(remote, "keep_memory", lambda: told.append("kept"))

    def usurp():
        lease = found(server, LEASE, "posse", "kube-system")
        taken = lease | {"spec": lease["spec"] | {"holderIdentity": "another", "leaseDurationSeconds": 1}}
        server.call(server.service.update, LEASE, "kube-system", "posse", taken)

    async def scenario(scheduler):
        schedulers.append(scheduler)
        create_pod(server, "first")
        await until(lambda: node_of(server, "first") and told)
        while "kept" not in told:
            try:
                usurp()
            except ApiError:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
        create_pod(server, "second")
        await until(lambda: node_of(server, "second"))
        await until(lambda: len(told) == 3)

    running(server, scenario, config=configured(server, leaderElection=QUICK))
    assert told == [("returned", True, True), "kept", ("returned", True, True)]


def test_one_that_stands_by_returns_memory_too(server, monkeypatch):
    returned = threading.Event()
    monkeypatch.setattr(remote, "return_memory", returned.set)
    held = HELD | {"spec": HELD["spec"] | {"leaseDurationSeconds": 1000}}
    server.call(server.service.create, LEASE, "kube-system", held)

    async def scenario(_scheduler):
        await until(returned.is_set)

    running(server, scenario, config=configured(server, leaderElection=QUICK))
    assert found(server, LEASE, "posse", "kube-system")["spec"]["holderIdentity"] == "another"
