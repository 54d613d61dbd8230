"""The engine in a thread of its own: deciding blocks neither the lease, nor health, nor answers of the API.

Events are queued and absorbed before the next decision, in the order in which they came. Nothing but this
thread touches the engine.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from posse.engine.engine import Engine
from posse.engine.events import EngineEvent, Observed, Vanished
from posse.engine.explain.statistics import Statistics
from posse.recording.recorder import Recorder
from posse.runtime.process.error_isolation import skipping
from posse.runtime.process.worker_thread import WorkerThread
from posse.runtime.scheduling.observers import Round

log = logging.getLogger(__name__)

T = TypeVar("T")

_MAX_EVENTS_AT_ONCE = 1000
"""Absorbed in one call, so that questions are answered while a large cluster is read."""
_SLOW_SECONDS = 1.0
"""Calls that last longer are logged while they last."""
_STATISTICS_SECONDS = 0.5
"""For new statistics; a page shows the last ones if the engine is busy for longer."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One call of `decide`, and what is to be done next."""

    done: Round
    faults: Sequence[str]
    has_work: bool
    wakeup: float | None


class EngineThread:
    def __init__(self, engine: Engine, clock: Callable[[], float], recorder: Recorder | None = None) -> None:
        self._engine = engine
        self._recorder = recorder
        self._clock = clock
        self._thread = WorkerThread("engine")
        self._events: list[EngineEvent] = []
        self.statistics: Statistics = engine.statistics()
        """As of the last call of `refresh_statistics`."""
        self.longest_seconds = 0.0
        """Of all calls so far."""

    def queue(self, event: EngineEvent) -> None:
        """Have the event absorbed before the next decision."""
        self._events.append(event)

    async def absorb_queued(self) -> None:
        events, self._events = self._events, []
        for start in range(0, len(events), _MAX_EVENTS_AT_ONCE):
            part = events[start : start + _MAX_EVENTS_AT_ONCE]
            await self._call(lambda part=part: self._absorb(part))  # type: ignore[misc]

    async def decide(self) -> Turn:
        """Absorb what is queued, and decide."""
        await self.absorb_queued()
        return await self._call(self._decide)

    async def ask(self, question: Callable[[Engine], T]) -> T:
        """Return the answer of the engine, which may be busy until then."""
        return await self._call(lambda: question(self._engine))

    async def refresh_statistics(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STATISTICS_SECONDS):
                self.statistics = await self.ask(Engine.statistics)

    def close(self) -> None:
        self._thread.close()
        if self._recorder is not None:
            self._recorder.close()

    async def _call(self, work: Callable[[], T]) -> T:
        started = time.perf_counter()
        telling = asyncio.get_running_loop().call_later(_SLOW_SECONDS, self._tell_slow)
        try:
            return await self._thread.call(work)
        finally:
            telling.cancel()
            self.longest_seconds = max(self.longest_seconds, time.perf_counter() - started)

    def _tell_slow(self) -> None:
        about = self._engine.working_on()
        log.warning(
            "the engine is busy for more than %g s: %s", _SLOW_SECONDS, about or "it says not with what"
        )

    def _absorb(self, events: Sequence[EngineEvent]) -> None:
        for event in events:
            if self._recorder is not None:
                self._recorder.absorbed(event)
            if isinstance(event, Observed | Vanished):
                metadata = event.obj.metadata
                with skipping(type(event.obj).__name__, metadata.namespace, metadata.name):
                    self._engine.absorb(event)
            else:
                self._engine.absorb(event)

    def _decide(self) -> Turn:
        engine, started = self._engine, time.perf_counter()
        now = self._clock()
        decisions = engine.decide(now)
        if self._recorder is not None:
            self._recorder.decided(now, decisions)
        done = Round(started, time.perf_counter() - started, decisions, engine.tried())
        return Turn(done, engine.take_faults(), engine.has_work, engine.next_wakeup())
