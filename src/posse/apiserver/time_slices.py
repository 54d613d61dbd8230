"""Work in the process itself takes the event loop in slices, so that clients are answered in between.

Schedulers, controllers and simulated nodes write in bursts of hundreds. Without slices, all of a burst
would be done in one go. Each of them has lanes of its own, which are served in turn: however many pods are
created for Jobs, the scheduler sees the next ones and binds them, and garbage is collected.
"""

import asyncio
import time
from collections import deque

_SLICE_SECONDS = 0.005
_MAX_WOKEN = 32
"""Of those that wait, at the beginning of a slice: about what fits into it. All others cost nothing."""


class TimeSlices:
    """Shared by all that is to take turns with clients."""

    def __init__(self) -> None:
        self._began = 0.0
        self._is_next_due = False
        self._is_first_free = False
        """Whether the slice has served none yet: one is served in any case, however long other work takes."""
        self._lanes: deque[TurnLane] = deque()
        """The lane that was served last comes last."""
        self.waiting = 0
        """In all lanes."""

    def lane(self) -> "TurnLane":
        lane = TurnLane(self)
        self._lanes.append(lane)
        return lane

    @property
    def are_behind(self) -> bool:
        """Whether more work waits than fits into the next slice."""
        return self.waiting > _MAX_WOKEN

    def are_used_up(self) -> bool:
        return time.perf_counter() - self._began > _SLICE_SECONDS

    def may_pass(self) -> bool:
        """Whether the slice is not used up, or has served none yet."""
        is_free, self._is_first_free = self._is_first_free, False
        return is_free or not self.are_used_up()

    def have_next(self) -> None:
        if not self._is_next_due:
            self._is_next_due = True
            asyncio.get_running_loop().call_soon(self._begin)

    def served(self, lane: "TurnLane") -> None:
        self._lanes.remove(lane)
        self._lanes.append(lane)

    def _begin(self) -> None:
        self._began, self._is_next_due = time.perf_counter(), False
        self._is_first_free = True
        busy = deque(lane for lane in self._lanes if lane.waiting)
        for _ in range(min(_MAX_WOKEN, self.waiting)):
            lane = busy.popleft()
            lane.wake()
            if lane.waiting:
                busy.append(lane)
        if busy:
            self.have_next()


class TurnLane:
    """What came first is served first."""

    def __init__(self, slices: TimeSlices) -> None:
        self._slices = slices
        self._returned: deque[asyncio.Future[None]] = deque()
        """Those that were woken when the slice was used up."""
        self._entered: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        return len(self._returned) + len(self._entered)

    async def turn(self) -> None:
        """Return within a slice that is not used up."""
        if not self._slices.waiting and not self._slices.are_used_up():
            return
        await self._wait(self._entered)
        while not self._slices.may_pass():
            await self._wait(self._returned)
        self._slices.served(self)

    async def _wait(self, queue: deque[asyncio.Future[None]]) -> None:
        woken = asyncio.get_running_loop().create_future()
        self._slices.waiting += 1
        queue.append(woken)
        self._slices.have_next()
        await woken

    def wake(self) -> None:
        woken = (self._returned or self._entered).popleft()
        self._slices.waiting -= 1
        if not woken.done():
            woken.set_result(None)
