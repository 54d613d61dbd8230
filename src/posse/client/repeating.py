"""Asks again where that is worth it: after a server that is too busy, in trouble, or did not answer.

Only for requests that may be repeated: those whose second time is harmless, or is told apart by the server.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from posse.client.connection import RequestRefused
from posse.kinds.machinery.errors import TRANSIENT, ApiError

log = logging.getLogger(__name__)

T = TypeVar("T")

FIRST_PAUSE_SECONDS = 0.05
MOST_PAUSE_SECONDS = 2.0
GIVE_UP_SECONDS = 20.0
MOST_OBEYED_SECONDS = 30.0
"""A proxy may ask for an hour of silence; scheduling cannot wait that long."""


class Pauses:
    """Longer and longer, and never quite the same, so that many do not come back at the same moment."""

    def __init__(
        self,
        most_seconds: float = MOST_PAUSE_SECONDS,
        jitter: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._most = most_seconds
        self._jitter = jitter
        self._next = FIRST_PAUSE_SECONDS

    def next(self, wanted_seconds: float = 0.0) -> float:
        """How long to wait now; a server may have said how long it wants us to."""
        pause, self._next = self._next, min(self._most, 2 * self._next)
        return max(wanted_seconds, pause * self._jitter(0.5, 1.0))

    def start_over(self) -> None:
        self._next = FIRST_PAUSE_SECONDS


async def repeated(
    ask: Callable[[], Awaitable[T]],
    give_up_seconds: float = GIVE_UP_SECONDS,
    passing: Collection[int] = TRANSIENT,
) -> T:
    """Ask until there is an answer, or a refusal that will not pass, or it has taken too long."""
    pauses: Pauses | None = None
    # Few requests are sent twice, and the loop is slow to say what time it is.
    deadline = time.monotonic() + give_up_seconds
    while True:
        try:
            return await ask()
        except ApiError as error:
            if error.code not in passing:
                raise
            pauses = pauses or Pauses()
            pause = pauses.next(retry_after(error))
            if time.monotonic() + pause > deadline:
                raise
            log.debug("asking again in %.2f s: %s", pause, error)
        await asyncio.sleep(pause)


def retry_after(error: ApiError) -> float:
    """How long the server wants to be left alone, within reason."""
    return min(error.retry_after, MOST_OBEYED_SECONDS) if isinstance(error, RequestRefused) else 0.0
