"""Has what was touched handled, round by round: a subject is handled again when it is touched, or at a time it was put down for.

Handling one subject is somebody else's business. Nobody is handled twice at the same time.
"""

import asyncio
from collections.abc import Awaitable, Callable

from posse.controllers.touched import Touched
from posse.kubelet.timers import Timers

# A round holds up the event loop while its writes are made; most plans are a handful of them.
SUBJECTS_PER_ROUND = 20
RETRY_SECONDS = 5.0


class Rounds:
    def __init__(
        self, touched: Touched, handle: Callable[[str], Awaitable[None]], clock: Callable[[], float]
    ) -> None:
        self._touched = touched
        self._handle = handle
        self._clock = clock
        self._changed = asyncio.Event()
        self._timers: Timers[str] = Timers()

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
        while True:
            self._changed.clear()
            for uid in self._timers.pop_due(self._clock(), SUBJECTS_PER_ROUND):
                self._touched.add(uid)
            uids = self._touched.take(SUBJECTS_PER_ROUND)
            if uids:
                await asyncio.gather(*map(self._handle, uids))
            else:
                await self._wait()

    async def _wait(self) -> None:
        wakeup = self._timers.next_time()
        timeout = None if wakeup is None else max(0.0, wakeup - self._clock())
        try:
            await asyncio.wait_for(self._changed.wait(), timeout)
        except TimeoutError:
            return
