"""Work in the process itself takes the event loop in slices, so that clients are answered in between.

Schedulers, controllers and simulated nodes write in bursts of hundreds. Without slices, all of a burst
would be done in one go.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

_SLICE_SECONDS = 0.005
_MAX_WOKEN = 32
"""Of those that wait, at the beginning of a slice: about what fits into it. All others cost nothing."""


class TimeSlices:
    """Shared by all that is to take turns with clients."""

    def __init__(self) -> None:
        self._began = 0.0
        self._is_next_due = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def turn(self) -> None:
        """Return within a slice that is not used up. What came first is served first."""
        if not self._waiting and not self._is_used_up():
            return
        await self._wait(self._waiting.append)
        while self._is_used_up():
            await self._wait(self._waiting.appendleft)

    async def _wait(self, enter: Callable[[asyncio.Future[None]], None]) -> None:
        woken = asyncio.get_running_loop().create_future()
        enter(woken)
        self._have_next()
        await woken

    def _is_used_up(self) -> bool:
        return time.perf_counter() - self._began > _SLICE_SECONDS

    def _have_next(self) -> None:
        if not self._is_next_due:
            self._is_next_due = True
            asyncio.get_running_loop().call_soon(self._begin)

    def _begin(self) -> None:
        self._began, self._is_next_due = time.perf_counter(), False
        for _ in range(min(_MAX_WOKEN, len(self._waiting))):
            woken = self._waiting.popleft()
            if not woken.done():
                woken.set_result(None)
        if self._waiting:
            self._have_next()
