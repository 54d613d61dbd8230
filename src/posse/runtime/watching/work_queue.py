"""Has what was touched handled: a subject is handled again when it is touched, or at a time it was put down for.

Handling one subject is somebody else's business. Several are handled side by side, so that one which takes long holds up
nobody else, but nobody is handled twice at the same time.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from posse.controllers.touched import Touched
from posse.kubelet.timers import Timers

# Each has a handful of writes under way, which others of the process and of the cluster have to wait for.
SUBJECTS_AT_ONCE = 20
RETRY_SECONDS = 5.0


class Handling:
    def __init__(
        self, touched: Touched, handle: Callable[[str], Awaitable[None]], clock: Callable[[], float]
    ) -> None:
        self._touched = touched
        self._handle = handle
        self._clock = clock
        self._changed = asyncio.Event()
        self._timers: Timers[str] = Timers()
        # Whom somebody is busy with, and whether they were touched since that began.
        self._under_way: dict[str, bool] = {}

    def notice(self) -> None:
        """Something may have been touched."""
        self._changed.set()

    def look_again(self, uid: str, at: float | None) -> None:
        """Handle the subject at that time too, and at no other; None for no time at all."""
        if at is None:
            self._timers.cancel(uid)
        else:
            self._timers.set(uid, at)

    def retry(self, uid: str) -> None:
        self._timers.set(uid, self._clock() + RETRY_SECONDS)

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._changed.clear()
                for uid in self._timers.pop_due(self._clock(), SUBJECTS_AT_ONCE):
                    self._touched.add(uid)
                uids = self._touched.take(SUBJECTS_AT_ONCE - len(self._under_way))
                for uid in uids:
                    if uid in self._under_way:
                        self._under_way[uid] = True
                    else:
                        self._under_way[uid] = False
                        tasks.create_task(self._handle_once(uid))
                if not uids:
                    await self._wait()

    async def _handle_once(self, uid: str) -> None:
        await self._handle(uid)
        if self._under_way.pop(uid):
            self._touched.add(uid)
        self._changed.set()

    async def _wait(self) -> None:
        wakeup = self._timers.next_time()
        timeout = None if wakeup is None else max(0.0, wakeup - self._clock())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._changed.wait()
