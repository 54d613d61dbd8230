"""Forecasts of a running scheduler: read from the engine in small steps, made in another process, published.

No decision waits for a forecast: the engine is asked between its decisions, for a few milliseconds at a time.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from http import HTTPStatus

from posse.engine.engine import Engine
from posse.engine.forecast.forecast import Forecast, forecasts_of
from posse.engine.forecast.forecast_book import ForecastBook
from posse.engine.forecast.forecast_note import FORECAST, note_text
from posse.engine.forecast.forecast_problem import StartEstimate
from posse.engine.forecast.problem_builder import ForecastQuestion
from posse.engine.groups.forms import form_of
from posse.engine.keys import GroupKey
from posse.kinds.machinery.errors import ApiError
from posse.runtime.scheduling.engine_thread import EngineThread
from posse.runtime.scheduling.solver_process import SolverProcess
from posse.solver.frames import ForecastRequest
from posse.transport.patches import MERGE_PATCH, Patch
from posse.transport.transport import Transport
from posse.writes.group_status import object_kind

log = logging.getLogger(__name__)

PAUSE_SECONDS = 10.0
"""Between two forecasts at least."""
MAX_SHARE_OF_TIME = 0.1
"""Forecasts that take long are made less often."""
MAX_AGE_SECONDS = 300.0
"""While anything waits, forecasts are renewed after this time even if nothing has changed."""
_TIMEOUT_SECONDS = 60.0


class Forecasting:
    def __init__(self, thread: EngineThread, transport: Transport, clock: Callable[[], float]) -> None:
        self._thread, self._transport, self._clock = thread, transport, clock
        self._process = SolverProcess()
        self._changed = asyncio.Event()
        self._published: dict[GroupKey, Forecast] = {}
        self._has_taken_over = False
        """Whether it is known what an earlier scheduler has published."""
        self.book = ForecastBook()

    def outdate(self) -> None:
        """Something has changed that may change a forecast."""
        self._changed.set()

    async def run(self) -> None:
        """Renew forecasts when things change, until cancelled."""
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(MAX_AGE_SECONDS if self.book.latest else None):
                        await self._changed.wait()
                self._changed.clear()
                began = time.perf_counter()
                try:
                    await self._renew()
                except Exception:
                    # A forecast that fails must not end the scheduler; the next one is made as usual.
                    log.exception("forecasts were not renewed")
                took = time.perf_counter() - began
                await asyncio.sleep(max(PAUSE_SECONDS, took / MAX_SHARE_OF_TIME))
        finally:
            await self._process.end()

    async def _renew(self) -> None:
        now = self._clock()
        awaited = self.book.awaited()
        started = await self._thread.ask(lambda engine: engine.start_times(awaited))
        for name, moment in started.items():
            self.book.started(name, moment)
        if not self._has_taken_over:
            written = await self._thread.ask(Engine.written_forecasts)
            # As of long ago, so that those that wait get another, and those that have started lose theirs.
            self._published |= dict.fromkeys(written, Forecast(0.0))
            self._has_taken_over = True
        question = await self._question(now)
        if not question.waiting:
            self.book.put({}, now)
            await self._publish()
            return
        request = ForecastRequest(question.problem)
        estimates = await self._process.ask(request, list[StartEstimate], _TIMEOUT_SECONDS, "a forecast")
        if estimates is not None:
            self.book.put(forecasts_of(question, estimates, self.book.calibration, now), now)
            await self._publish()

    async def _question(self, now: float) -> ForecastQuestion:
        builder = await self._thread.ask(lambda engine: Engine.forecast_builder(engine, now))
        steps = builder.steps()
        while await self._thread.ask(lambda _: next(steps, steps)) is not steps:
            pass
        return await self._thread.ask(lambda _: builder.question())

    async def _publish(self) -> None:
        """Write what has changed noticeably on the objects of the groups; remove what no longer holds."""
        latest = {name: one for name, one in self.book.latest.items() if isinstance(name, GroupKey)}
        for name in [name for name in self._published if name not in latest]:
            if await self._write(name, None):
                del self._published[name]
        for name, forecast in latest.items():
            before = self._published.get(name)
            is_news = before is None or forecast.differs_noticeably(before)
            # One Workload describes several groups, and has one annotation.
            if is_news and not form_of(name).is_implied and await self._write(name, note_text(forecast)):
                self._published[name] = forecast

    async def _write(self, name: GroupKey, text: str | None) -> bool:
        """Set or remove the annotation. Return whether that is done, or there is nothing to annotate."""
        patch = Patch(MERGE_PATCH, {"metadata": {"annotations": {FORECAST: text}}})
        try:
            await self._transport.patch(object_kind(name), name.namespace, name.name, patch)
        except ApiError as error:
            # It is tried again when forecasts are renewed.
            log.debug("the forecast of %s is not written: %s", name, error)
            return error.code == HTTPStatus.NOT_FOUND
        return True
