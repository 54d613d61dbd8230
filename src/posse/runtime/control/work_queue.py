"""Keys that wait for a plan: a key is handled when it is touched, or at the time set for it.

Several keys are handled concurrently, so that a slow one does not delay the others. A key that is touched
while it is handled is handled once more afterwards. A key whose plan took long rests before its next one:
the plan of a Job of 50,000 pods looks at all of them, and each of them touches it several times.
"""

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Coroutine
from typing import Any

from posse.controllers.reconciler import Touched
from posse.kubelet.timers import Timers

# Each key has a handful of writes under way, which compete with the writes of the rest of the process.
MAX_CONCURRENT_KEYS = 20
RETRY_SECONDS = 5.0
_SLICE_SECONDS = 0.005
_REST_FACTOR = 9
"""A key rests this many times the duration of its last plan, if that exceeded a slice."""

Work = Callable[[], Coroutine[Any, Any, None]]


class WorkQueue:
    """`start` handles a key; it returns the work that is left to do, None if the key is done."""

    def __init__(
        self, touched: Touched, start: Callable[[str], Work | None], clock: Callable[[], float]
    ) -> None:
        self._touched = touched
        self._start = start
        self._clock = clock
        self._changed = asyncio.Event()
        self._timers: Timers[str] = Timers()
        # Keys whose work is under way, and whether they were touched since it began.
        self._under_way: dict[str, bool] = {}
        # Until when keys rest whose last plan took long.
        self._resting: dict[str, float] = {}

    def notice(self) -> None:
        """Something may have been touched; where nothing was, the queue sleeps on."""
        if self._touched:
            self._changed.set()

    def look_again(self, key: str, at: float | None) -> None:
        """Handle the key at that time, and at no other that was set before; None for no time at all."""
        if at is None:
            self._timers.cancel(key)
        else:
            self._timers.set(key, at)

    def retry(self, key: str) -> None:
        self._timers.set(key, self._clock() + RETRY_SECONDS)

    async def run(self) -> None:
        """Handle keys until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._changed.clear()
                for key in self._timers.pop_due(self._clock(), MAX_CONCURRENT_KEYS):
                    self._touched.add(key)
                keys = self._touched.take(MAX_CONCURRENT_KEYS - len(self._under_way))
                # Other tasks go on between plans; the next ones rest on what is observed meanwhile.
                await asyncio.sleep(0)
                began = time.perf_counter()
                for key in keys:
                    if time.perf_counter() - began > _SLICE_SECONDS:
                        await asyncio.sleep(0)
                        began = time.perf_counter()
                    if key in self._under_way:
                        self._under_way[key] = True
                    elif self._rests(key):
                        self._timers.set(key, self._resting[key])
                    elif (work := self._plan(key)) is not None:
                        self._under_way[key] = False
                        tasks.create_task(self._finish(key, work))
                if not keys:
                    await self._wait()

    def _plan(self, key: str) -> Work | None:
        began = time.perf_counter()
        work = self._start(key)
        seconds = time.perf_counter() - began
        if seconds > _SLICE_SECONDS:
            now = self._clock()
            self._resting = {other: until for other, until in self._resting.items() if until > now}
            self._resting[key] = now + _REST_FACTOR * seconds
        return work

    def _rests(self, key: str) -> bool:
        return self._clock() < self._resting.get(key, -math.inf)

    async def _finish(self, key: str, work: Work) -> None:
        await work()
        if self._under_way.pop(key):
            self._touched.add(key)
        self._changed.set()

    async def _wait(self) -> None:
        wakeup = self._timers.next_time()
        timeout = None if wakeup is None else max(0.0, wakeup - self._clock())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._changed.wait()
