"""Group commit: acknowledged means durable, many writers share a commit, a failure reaches every waiter."""

import asyncio
import random
import threading
import time

import pytest

from posse.apiserver.committer import Committer
from posse.apiserver.service import ApiService
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import CONFIG_MAP, NAMESPACE
from posse.store.errors import CommitFailed
from posse.store.store import Store


@pytest.fixture
def store(tmp_path):
    store = Store.open(tmp_path / "data")
    yield store
    store.close()


@pytest.fixture
def durable_service(store):
    service = ApiService(store, time.time, random.Random(1))
    service.create(NAMESPACE, "", {"metadata": {"name": "default"}})
    return service


def write(service, name, size=1):
    service.create(CONFIG_MAP, "default", {"metadata": {"name": name}, "data": {"x": "x" * size}})


def in_loop(body):
    """Run a coroutine function with a committer that is closed afterwards."""

    async def run(store):
        committer = Committer(store)
        try:
            return await body(committer)
        finally:
            await committer.close()

    return run


def test_waiting_makes_everything_written_so_far_durable(store, durable_service):
    @in_loop
    async def body(committer):
        write(durable_service, "a")
        await committer.durable()
        assert store.durable_version == store.version
        await committer.durable()

    asyncio.run(body(store))


def test_writers_that_wait_together_share_commits(store, durable_service, monkeypatch):
    commits = []
    original = store.commit_pending

    def counted():
        commits.append(threading.current_thread().name)
        time.sleep(0.02)
        original()

    monkeypatch.setattr(store, "commit_pending", counted)

    @in_loop
    async def body(committer):
        async def writer(number):
            # Half of them come while the first commit is under way.
            await asyncio.sleep(0.005 * (number % 2))
            write(durable_service, f"c{number}")
            version = store.version
            await committer.durable()
            assert store.durable_version >= version

        await asyncio.gather(*(writer(number) for number in range(100)))

    asyncio.run(body(store))
    assert 1 <= len(commits) <= 3
    assert all(name.startswith("posse-commit") for name in commits), (
        "the loop itself must not wait for the disk"
    )


def test_watchers_are_told_before_the_writer_goes_on(store, durable_service):
    @in_loop
    async def body(committer):
        await committer.durable()
        subscription = durable_service.watch(CONFIG_MAP, None, resource_version=store.version)
        write(durable_service, "a")
        assert subscription.drain() == []
        await committer.durable()
        assert [event.type for event in subscription.drain()] == ["ADDED"]

    asyncio.run(body(store))


def test_a_writer_that_gives_up_does_not_disturb_the_others(store, durable_service):
    @in_loop
    async def body(committer):
        write(durable_service, "a")
        impatient = asyncio.create_task(committer.durable())
        patient = asyncio.create_task(committer.durable())
        await asyncio.sleep(0)
        impatient.cancel()
        await patient
        write(durable_service, "b")
        await committer.durable()

    asyncio.run(body(store))
    assert store.durable_version == store.version


def test_a_full_disk_fails_every_waiting_writer_and_says_why(store, durable_service):
    @in_loop
    async def body(committer):
        await committer.durable()
        connection = store._journal._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages}")
        write(durable_service, "big", 1_000_000)
        write(durable_service, "small")
        watching = asyncio.create_task(committer.wait_failed())
        results = await asyncio.gather(committer.durable(), committer.durable(), return_exceptions=True)
        for error in results:
            assert isinstance(error, ApiError)
            assert (error.code, error.reason) == (500, "InternalError")
            assert "database or disk is full" in error.message
        assert isinstance(await watching, CommitFailed)
        with pytest.raises(ApiError, match="database or disk is full") as caught:
            write(durable_service, "later")
        assert caught.value.code == 500
        with pytest.raises(ApiError, match="disk is full"):
            await committer.durable()

    asyncio.run(body(store))


def test_what_nobody_waits_for_is_committed_and_published_all_the_same(store, durable_service):
    @in_loop
    async def body(committer):
        await committer.durable()
        subscription = durable_service.watch(CONFIG_MAP, None, resource_version=store.version)
        for name in ("a", "b"):
            told = asyncio.Event()
            subscription.on_ready(told.set)
            write(durable_service, name)
            await asyncio.wait_for(told.wait(), 5)
            assert store.durable_version == store.version
            assert [event.obj["metadata"]["name"] for event in subscription.drain()] == [name]

    asyncio.run(body(store))


def test_closing_commits_what_nobody_waited_for(store, durable_service):
    @in_loop
    async def body(committer):
        write(durable_service, "a")

    asyncio.run(body(store))
    assert store.durable_version == store.version


def test_a_store_in_memory_never_waits():
    @in_loop
    async def body(committer):
        await committer.durable()

    store = Store()
    ApiService(store, time.time, random.Random(1)).create(NAMESPACE, "", {"metadata": {"name": "default"}})
    asyncio.run(body(store))
