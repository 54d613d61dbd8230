"""Who is handled when, while others take their time."""

import asyncio
import time
from collections import Counter

import pytest

from posse.controllers.touched import Touched
from posse.runtime.watching import work_queue as handling
from posse.runtime.watching.work_queue import SUBJECTS_AT_ONCE, Handling


class Desk:
    """Handles each subject until it is told that this one is done."""

    def __init__(self):
        self.touched = Touched()
        self.handling = Handling(self.touched, self._handle, time.monotonic)
        self.begun = []
        self.under_way = Counter()
        self._done = {}

    def touch(self, *uids):
        for uid in uids:
            self.touched.add(uid)
        self.handling.notice()

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
            running = asyncio.create_task(desk.handling.run())
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
        desk.touch(*(str(number) for number in range(SUBJECTS_AT_ONCE + 2)))
        await turns()
        assert len(desk.begun) == SUBJECTS_AT_ONCE
        desk.finish("7")
        await turns()
        assert desk.begun[SUBJECTS_AT_ONCE:] == [str(SUBJECTS_AT_ONCE)]

    at_desk(scenario)


def test_who_is_put_down_for_a_time_is_handled_then(at_desk, monkeypatch):
    monkeypatch.setattr(handling, "RETRY_SECONDS", 0.0)

    async def scenario(desk):
        desk.handling.look_again("later", time.monotonic() + 0.01)
        desk.handling.look_again("never", time.monotonic() + 0.01)
        desk.handling.look_again("never", None)
        desk.handling.retry("again")
        desk.handling.notice()
        await asyncio.sleep(0.05)
        assert desk.begun == ["again", "later"]

    at_desk(scenario)
