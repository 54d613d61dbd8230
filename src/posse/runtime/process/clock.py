"""The time of day as a clock that is never set back, so that adjustments do not disturb timers."""

import time
from collections.abc import Callable


def steady_clock() -> Callable[[], float]:
    offset = time.time() - time.monotonic()
    return lambda: offset + time.monotonic()
