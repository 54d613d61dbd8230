"""Watches the event loop: a stall is counted, and logged while it lasts with what causes it.

The loop says at short intervals that it goes on. A thread beside it notices when it does not, and looks where
it is: at which request or object, and in which function.
"""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

log = logging.getLogger(__name__)

_BEAT_SECONDS = 0.05
_LONG_SECONDS = 0.5
"""Stalls that last longer are logged."""


class StallWatch:
    def __init__(self, stalled: Callable[[float], None]) -> None:
        """`stalled` is told by how many seconds the loop was late, at every beat."""
        self._stalled = stalled
        self._last_beat = time.monotonic()
        self._thread_id = 0
        self._is_over = threading.Event()

    async def run(self) -> None:
        """Watch the running event loop until cancelled."""
        self._last_beat, self._thread_id = time.monotonic(), threading.get_ident()
        threading.Thread(target=self._look, name="stall watch", daemon=True).start()
        try:
            while True:
                await asyncio.sleep(_BEAT_SECONDS)
                now = time.monotonic()
                self._stalled(max(0.0, now - self._last_beat - _BEAT_SECONDS))
                self._last_beat = now
        finally:
            self._is_over.set()

    def _look(self) -> None:
        logged = 0.0
        while not self._is_over.wait(_LONG_SECONDS / 2):
            last = self._last_beat
            if last != logged and time.monotonic() - last > _LONG_SECONDS:
                logged = last
                frame = sys._current_frames().get(self._thread_id)  # noqa: SLF001 - there is no other way
                log.warning("nothing else was done for %g s: %s", _LONG_SECONDS, cause_of(frame))


def cause_of(frame: FrameType | None) -> str:
    """What the frame and its callers work on, and where."""
    frames = list(_callers(frame))
    about = next((text for one in reversed(frames) if (text := _subject(one))), "")
    own = [one for one in frames if one.f_globals.get("__name__", "").startswith("posse.")]
    places = [f"{one.f_globals['__name__']}.{one.f_code.co_name}:{one.f_lineno}" for one in own[:3]]
    return ", ".join(filter(None, (about, "in " + " < ".join(places) if places else "")))


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    """From the inside out."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def _subject(frame: FrameType) -> str:
    """A request that is answered, or an object that is reconciled."""
    request: Any = frame.f_locals.get("request")
    if hasattr(request, "method") and hasattr(request, "path"):
        return f"{request.method} {request.path}"
    key = frame.f_locals.get("key") if frame.f_globals.get("__name__", "").startswith("posse.") else None
    return str(key)[:300] if key is not None else ""
