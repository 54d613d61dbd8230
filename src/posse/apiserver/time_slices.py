"""Work in the process itself takes the event loop in slices, so that clients are answered in between.

Schedulers, controllers and simulated nodes write in bursts of hundreds. Without slices, all of a burst
would be done in one go.
"""

import asyncio
import time

_SLICE_SECONDS = 0.005


class TimeSlices:
    """Shared by all that is to take turns with clients."""

    def __init__(self) -> None:
        self._began = 0.0
        self._is_next_due = False

    async def turn(self) -> None:
        """Return within a slice that is not used up; others who wait are served in a later one."""
        while time.perf_counter() - self._began > _SLICE_SECONDS:
            if not self._is_next_due:
                self._is_next_due = True
                asyncio.get_running_loop().call_soon(self._begin)
            await asyncio.sleep(0)

    def _begin(self) -> None:
        self._began, self._is_next_due = time.perf_counter(), False
