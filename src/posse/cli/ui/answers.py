"""Answers the questions of the page, from the cluster as it is now or as a recording shows it."""

from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from posse.cli.problems import Problem
from posse.cli.reading.recorded import recorded_source
from posse.cli.ui.metric_figures import figures_of
from posse.cli.ui.page_state import PageState
from posse.cli.ui.recorded_times import recorded_times
from posse.engine.options import EngineOptions
from posse.model.timestamps import TimestampError, parse_timestamp
from posse.page.app import QuestionRefused
from posse.recording.segments import RecordingHeader
from posse.runtime.process.worker_thread import WorkerThread

Json = dict[str, Any]

KEPT_MOMENTS = 4
"""States of a recording that are kept."""


class RecordedCluster:
    def __init__(self, folder: Path, header: RecordingHeader, options: EngineOptions) -> None:
        self._folder, self._header, self._options = folder, header, options
        self.at = lru_cache(maxsize=KEPT_MOMENTS)(self._at)

    def _at(self, time: str) -> PageState:
        """Problem: it is no time, or nothing was decided by then. Without a time: the end."""
        try:
            until = parse_timestamp(time) if time else None
        except TimestampError as error:
            raise Problem(f"at: {error}") from error
        return PageState(recorded_source(self._folder, until, self._header), self._options)

    def times(self) -> Json:
        return recorded_times(self._folder)


class PageAnswers:
    """`events` and `metrics` ask the cluster; they are None where there is only a file."""

    def __init__(
        self,
        worker: WorkerThread,
        recorded: RecordedCluster | None,
        events: Callable[[str], Awaitable[list[Json]]] | None = None,
        metrics: Callable[[], Awaitable[str]] | None = None,
    ) -> None:
        self.worker = worker
        self._recorded = recorded
        self._events, self._metrics = events, metrics
        self.state: PageState | None = None
        """The latest one."""

    async def answer(self, question: str, arguments: Mapping[str, str]) -> object:
        try:
            match question:
                case "gang":
                    return await self._gang(arguments)
                case "plan":
                    return await self._with_state(arguments, lambda state: state.plan(arguments))
                case "at":
                    return await self._with_state(arguments, PageState.document)
                case "times" if self._recorded is not None:
                    return await self.worker.call(self._recorded.times)
                case "metrics":
                    return figures_of(await self._metrics()) if self._metrics else {"known": False}
                case _:
                    raise QuestionRefused(f"there is no question {question!r}")
        except Problem as problem:
            raise QuestionRefused(str(problem)) from problem

    async def _gang(self, arguments: Mapping[str, str]) -> object:
        name = arguments.get("id", "")
        is_now = self._events is not None and not arguments.get("time")
        events = await self._events(name.partition("/")[0]) if self._events and is_now else []
        return await self._with_state(arguments, lambda state: state.gang(state.key_of(name), events))

    async def _with_state(self, arguments: Mapping[str, str], ask: Callable[[PageState], Json]) -> Json:
        """Ask the state of the time that is meant, beside the event loop."""
        time = arguments.get("time", "")
        recorded, now = self._recorded, self.state
        if time and recorded is not None:
            return await self.worker.call(lambda: ask(recorded.at(time)))
        if now is None:
            raise QuestionRefused("the cluster is still being read; try again in a moment")
        return await self.worker.call(lambda: ask(now))
