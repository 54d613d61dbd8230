"""Who is handled when, while others take their time."""

import asyncio
import time
from collections import Counter
from functools import partial

import pytest

from posse.controllers.reconciler import Touched
from posse.runtime.control import work_queue
from posse.runtime.control.work_queue import MAX_CONCURRENT_KEYS, WorkQueue


class Desk:
    """Handles each subject until it is told that this one is done."""

    def __init__(self):
        self.touched = Touched()
        self.queue = WorkQueue(self.touched, lambda key: partial(self._handle, key), time.monotonic)
        self.begun = []
        self.under_way = Counter()
        self._done = {}

    def touch(self, *uids):
        for uid in uids:
            self.touched.add(uid)
        self.queue.notice()

    def finish(self, uid):
        self._done.pop(uid).set()

    async def _handle(self, uid):
        self.begun.append(uid)
        self.under_way[uid] += 1
        assert self.under_way[uid] == 1
        self._done[uid] = asyncio.Event()
        await self._done[uid].wait()
        self.under_way[uid] -= 1


async def turns():
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
def at_desk():
    def drive(scenario):
        async def main():
            desk = Desk()
            running = asyncio.create_task(desk.queue.run())
            async with asyncio.timeout(5):
                await scenario(desk)
            running.cancel()

        asyncio.run(main())

    return drive


def test_who_takes_long_holds_up_nobody_else(at_desk):
    async def scenario(desk):
        desk.touch("slow", "a")
        await turns()
        desk.finish("a")
        desk.touch("b")
        await turns()
        desk.finish("b")
        desk.touch("a")
        await turns()
        assert desk.begun == ["slow", "a", "b", "a"]

    at_desk(scenario)


def test_who_is_touched_while_handled_is_handled_once_more_afterwards(at_desk):
    async def scenario(desk):
        desk.touch("a")
        await turns()
        for _ in range(3):
            desk.touch("a")
            await turns()
        assert desk.begun == ["a"]
        desk.finish("a")
        await turns()
        assert desk.begun == ["a", "a"]
        desk.finish("a")
        await turns()
        assert desk.begun == ["a", "a"]

    at_desk(scenario)


def test_only_so_many_are_handled_at_once(at_desk):
    async def scenario(desk):
        desk.touch(*(str(number) for number in range(MAX_CONCURRENT_KEYS + 2)))
        await turns()
        assert len(desk.begun) == MAX_CONCURRENT_KEYS
        desk.finish("7")
        await turns()
        assert desk.begun[MAX_CONCURRENT_KEYS:] == [str(MAX_CONCURRENT_KEYS)]

    at_desk(scenario)


def test_who_is_put_down_for_a_time_is_handled_then(at_desk, monkeypatch):
    monkeypatch.setattr(work_queue, "RETRY_SECONDS", 0.0)

    async def scenario(desk):
        begun = time.monotonic()
        desk.queue.look_again("later", begun + 0.2)
        desk.queue.look_again("never", begun + 0.1)
        desk.queue.look_again("never", None)
        desk.queue.retry("again")
        desk.queue.notice()
        while "later" not in desk.begun:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)
        assert time.monotonic() >= begun + 0.2
        assert desk.begun == ["again", "later"]

    at_desk(scenario)


def test_other_tasks_go_on_between_plans_that_take_long(monkeypatch):
    now, planned, beside = 0.0, [], []
    monkeypatch.setattr(work_queue.time, "perf_counter", lambda: now)

    def plan(key):
        nonlocal now
        now += 0.01
        planned.append(key)

    async def main():
        touched = Touched()
        touched.add(*(f"key-{number}" for number in range(10)))
        running = asyncio.create_task(WorkQueue(touched, plan, time.monotonic).run())
        while len(planned) < 10:
            beside.append(len(planned))
            await asyncio.sleep(0)
        running.cancel()

    asyncio.run(main())
    assert beside[-8:] == [2, 3, 4, 5, 6, 7, 8, 9]


def test_a_key_that_is_touched_again_and_again_and_takes_long_gets_a_tenth_of_the_time(monkeypatch):
    now, planned = 0.0, []
    monkeypatch.setattr(work_queue.time, "perf_counter", lambda: now)

    def plan(key):
        nonlocal now
        planned.append(key)
        now += 0.3 if key == "large" else 0.001

    async def main():
        nonlocal now
        touched = Touched()
        queue = WorkQueue(touched, plan, lambda: now)
        running = asyncio.create_task(queue.run())
        while now < 30.0:
            now += 0.01
            touched.add("large", "small")
            queue.notice()
            await turns()
        running.cancel()

    asyncio.run(main())
    assert 8 <= planned.count("large") <= 11
    assert planned.count("small") > 1000


def test_a_key_that_rests_is_handled_afterwards_without_being_touched_again(monkeypatch):
    now, planned = 0.0, []
    monkeypatch.setattr(work_queue.time, "perf_counter", lambda: now)

    def plan(key):
        nonlocal now
        if key == "large":
            planned.append(now)
            now += 0.01

    async def main():
        nonlocal now
        touched = Touched()
        queue = WorkQueue(touched, plan, lambda: now)
        running = asyncio.create_task(queue.run())
        for _ in range(2):
            touched.add("large")
            queue.notice()
            await turns()
        assert planned == [0.0]
        now = 0.2
        touched.add("small")
        queue.notice()
        await turns()
        running.cancel()

    asyncio.run(main())
    assert planned == [0.0, 0.2]


def test_a_queue_sleeps_on_where_nothing_was_touched():
    looks = 0

    def clock():
        nonlocal looks
        looks += 1
        return 0.0

    async def main():
        queue = WorkQueue(Touched(), lambda _key: None, clock)
        running = asyncio.create_task(queue.run())
        await turns()
        before = looks
        queue.notice()
        await turns()
        assert looks == before
        running.cancel()

    asyncio.run(main())
