"""Order of writes: bindings, then statuses, then events, with a limit on concurrent writes.

The less a write matters, the fewer it may have under way: when bindings come, not all places are taken by
events. Of each kind a few are always let through, or events would wait for as long as there are bindings.
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum


class Lane(IntEnum):
    """In the order in which they are let through."""

    BINDING = 0
    STATUS = 1
    EVENT = 2


class Pace:
    """Limits requests per second with a burst; without a rate the server sets the pace.

    Those that share one are limited together.
    """

    def __init__(self, per_second: float = 0.0, burst: int = 0) -> None:
        self._gap = 1.0 / per_second if per_second > 0 else 0.0
        self._slack = max(0, burst - 1) * self._gap
        self._next = 0.0

    async def wait(self) -> None:
        if not self._gap:
            return
        now = asyncio.get_running_loop().time()
        self._next = max(self._next, now - self._slack)
        delay, self._next = self._next - now, self._next + self._gap
        if delay > 0:
            await asyncio.sleep(delay)


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """How much is asked of the API server: at once, and per second."""

    at_once: int = 64
    pace: Pace = field(default_factory=Pace)


class Lanes:
    def __init__(self, limits: RequestLimits) -> None:
        self._pace = limits.pace
        most = limits.at_once
        self._most = {Lane.BINDING: most, Lane.STATUS: max(1, most * 3 // 4), Lane.EVENT: max(1, most // 4)}
        self._always = {Lane.BINDING: most // 16, Lane.STATUS: most // 16, Lane.EVENT: min(1, most // 16)}
        """An event costs the server as much as a binding."""
        self._under_way = dict.fromkeys(Lane, 0)
        self._all_under_way = 0
        self._waiting: dict[Lane, deque[asyncio.Future[None]]] = {lane: deque() for lane in Lane}

    def turn(self, lane: Lane) -> "_Turn":
        """Wait until it is the caller's turn, and hold a place while it writes."""
        return _Turn(self, lane)

    async def enter(self, lane: Lane) -> None:
        await self._find_place(lane)
        try:
            await self._pace.wait()
        except BaseException:
            self.leave(lane)
            raise

    async def _find_place(self, lane: Lane) -> None:
        if not self._waiting[lane] and self._has_room(lane):
            self._take_place(lane)
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting[lane].append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave(lane)
            raise

    def _take_place(self, lane: Lane) -> None:
        self._under_way[lane] += 1
        self._all_under_way += 1

    def _has_room(self, lane: Lane) -> bool:
        return self._all_under_way < self._most[lane] or self._under_way[lane] < self._always[lane]

    def leave(self, lane: Lane) -> None:
        self._under_way[lane] -= 1
        self._all_under_way -= 1
        self._admit()

    def _admit(self) -> None:
        for lane, waiting in self._waiting.items():
            while waiting and self._has_room(lane):
                place = waiting.popleft()
                if not place.done():
                    self._take_place(lane)
                    place.set_result(None)


class _Turn:
    """Thousands are taken in a burst of bindings; made by a decorator, each would take twice as long."""

    __slots__ = ("_lane", "_lanes")

    def __init__(self, lanes: Lanes, lane: Lane) -> None:
        self._lanes = lanes
        self._lane = lane

    async def __aenter__(self) -> None:
        await self._lanes.enter(self._lane)

    async def __aexit__(self, *_: object) -> None:
        self._lanes.leave(self._lane)
