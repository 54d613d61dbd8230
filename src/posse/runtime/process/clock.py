"""The time of day as clocks that are never set back, so that adjustments do not disturb timers."""

import time
from collections.abc import Callable

Clock = Callable[[], float]


def steady_clock() -> Clock:
    """The time of day at the start and what has passed since, whatever the machine's clock is set to."""
    offset = time.time() - time.monotonic()
    return lambda: offset + time.monotonic()


def forward_clock(wall: Clock = time.time, monotonic: Clock = time.monotonic) -> Clock:
    """The time of day, for timestamps: it follows the machine's clock forward, as after a sleep.

    When that is set back, this one goes on at its pace until the other has caught up.
    """
    told, told_at = wall(), monotonic()

    def now() -> float:
        nonlocal told, told_at
        passed_at = monotonic()
        told, told_at = max(wall(), told + passed_at - told_at), passed_at
        return told

    return now
