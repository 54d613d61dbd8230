"""Reads answer with committed state only: nothing is shown that a crash could take back."""

import asyncio
import random
import threading
import time

import pytest

from posse.apiserver.committer import Committer
from posse.apiserver.local import LocalTransport
from posse.apiserver.service import ApiService
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import CONFIG_MAP, NAMESPACE
from posse.store.store import Store


@pytest.fixture
def held_disk(tmp_path, monkeypatch):
    """A store whose commits wait until the event is set."""
    store = Store.open(tmp_path / "data")
    service = ApiService(store, time.time, random.Random(1))
    service.create(NAMESPACE, "", {"metadata": {"name": "default"}})
    service.create(CONFIG_MAP, "default", {"metadata": {"name": "old"}})
    store.commit_pending()
    store.publish_committed()
    go_on = threading.Event()
    commit = store.commit_pending
    monkeypatch.setattr(store, "commit_pending", lambda: (go_on.wait(10), commit()))
    yield store, service, go_on
    store.close()


async def first_watched(transport):
    return await anext(transport.watch(CONFIG_MAP, ""))


async def of_what_is_gone(transport):
    with pytest.raises(ApiError, match="not found"):
        await transport.get(CONFIG_MAP, "default", "old")


READS = {
    "get": lambda transport: transport.get(CONFIG_MAP, "default", "new"),
    "list": lambda transport: transport.list(CONFIG_MAP, "default"),
    "get of what was deleted": of_what_is_gone,
    "watch from the start": first_watched,
}


def test_a_read_of_one_object_does_not_wait_for_writes_to_others(held_disk):
    store, service, go_on = held_disk

    async def body():
        committer = Committer(store)
        transport = LocalTransport(service, committer)
        service.create(CONFIG_MAP, "default", {"metadata": {"name": "new"}})
        found = await asyncio.wait_for(transport.get(CONFIG_MAP, "default", "old"), 5)
        assert found["metadata"]["name"] == "old"
        assert store.durable_version < store.version
        go_on.set()
        await committer.close()

    asyncio.run(body())


@pytest.mark.parametrize("read", READS)
def test_a_read_waits_until_what_it_shows_is_durable(held_disk, read):
    store, service, go_on = held_disk

    async def body():
        committer = Committer(store)
        transport = LocalTransport(service, committer)
        service.create(CONFIG_MAP, "default", {"metadata": {"name": "new"}})
        service.delete(CONFIG_MAP, "default", "old")
        reading = asyncio.ensure_future(READS[read](transport))
        done, _ = await asyncio.wait([reading], timeout=0.1)
        assert not done
        go_on.set()
        await reading
        assert store.durable_version == store.version
        await committer.close()

    asyncio.run(body())
