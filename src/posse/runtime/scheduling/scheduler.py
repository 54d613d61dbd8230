"""Runs the engine against a cluster: informers feed it, and its decisions are carried out.

Deciding and carrying out overlap, in two threads: the engine assumes that its decisions succeed and goes on
while bindings are written. What the API refuses comes back as an event.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from posse.engine.cycle.advice import MissingNodes
from posse.engine.decisions import Advise, Solve
from posse.engine.engine import Engine
from posse.engine.events import ClusterObject, EngineEvent, Observed, RunsRemembered, Solved, Vanished
from posse.engine.explain.overview import Overview
from posse.engine.explain.statistics import Overcommitted
from posse.kinds.machinery.kind import Kind
from posse.model.node import Node
from posse.model.pod import Pod
from posse.recording.recorder import Recorder
from posse.runtime.scheduling.carrier import Carrier
from posse.runtime.scheduling.decision_log import DecisionLog
from posse.runtime.scheduling.delivery import Delivery
from posse.runtime.scheduling.dry_run import DryRun
from posse.runtime.scheduling.engine_thread import EngineThread, Turn
from posse.runtime.scheduling.exact_search import ExactSearch
from posse.runtime.scheduling.forecasting import Forecasting
from posse.runtime.scheduling.gauges import ForecastGauges
from posse.runtime.scheduling.metrics import Metrics
from posse.runtime.scheduling.observers import DecisionObservers, EventObserver
from posse.runtime.scheduling.overcommitment import OvercommitmentReports
from posse.runtime.scheduling.run_times_file import LearnedSoFar, RunTimesFile
from posse.runtime.watching.event_recorder import EventRecorder
from posse.runtime.watching.followed_kinds import (
    FOLLOWED_KINDS,
    OPTIONAL_KINDS,
    READ_IN_PART,
    WRITTEN_KINDS,
)
from posse.runtime.watching.informers import AskVersions, PartFollower, StructFollower, attend
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

_LAST_DECISION_SECONDS = 1.0
"""For a decision that is under way when the scheduler is asked to stop."""


class SchedulerLoop:
    def __init__(
        self,
        transport: Transport,
        engine: Engine,
        clock: Callable[[], float],
        kinds: Sequence[tuple[Kind, type[ClusterObject]]] = FOLLOWED_KINDS,
        onlooker: EventObserver | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        self._thread = EngineThread(engine, clock, recorder)
        self._clock = clock
        self._recorder = EventRecorder(transport, clock)
        self.metrics = Metrics(lambda: self._thread.statistics, clock, engine.gates)
        decision_log = DecisionLog(clock, binds=not isinstance(transport, DryRun))
        self._observer = DecisionObservers(self.metrics, decision_log, *filter(None, (onlooker,)))
        self._onlooker = onlooker
        self._delivery = Delivery(Carrier(transport, self._recorder, self._observer, clock), self._absorb)
        self._exact_search = ExactSearch()
        self._forecasting = Forecasting(self._thread, transport, clock)
        self.metrics.add(ForecastGauges(self._forecasting.book))
        self._run_times_file: RunTimesFile | None = None
        self._overcommitment = OvercommitmentReports(self._overcommitted, self._recorder)
        self._something_happened = asyncio.Event()
        self._followers = [self._follower(transport, kind, struct) for kind, struct in kinds]
        self.knows_all = asyncio.Event()
        """Set when all followed kinds are listed."""
        self.has_absorbed_all = asyncio.Event()
        """Set when the engine has taken in what was listed."""
        self._may_decide = self._is_deciding = self._is_stopping = False
        self._has_stopped_deciding = asyncio.Event()

    def keep_run_times(self, folder: Path) -> None:
        """Keep learned run times and margins of forecasts there. To be called before `run`."""
        self._run_times_file = RunTimesFile(folder)

    def served_kinds(self) -> list[Kind]:
        """The followed kinds that the cluster serves."""
        return [follower.kind for follower in self._followers if follower.is_served]

    async def overview(self) -> Overview:
        return await self._thread.ask(Engine.overview)

    async def missing_nodes(self) -> list[MissingNodes]:
        return await self._thread.ask(Engine.missing_nodes)

    async def metrics_page(self, accept: str) -> tuple[bytes, str]:
        """All metrics in the format that the Accept header asks for, and its content type."""
        await self._thread.refresh_statistics()
        return self.metrics.page(accept)

    async def run(self, may_begin: asyncio.Event | None = None) -> None:
        """Schedule until cancelled. Deciding starts after all kinds are listed and `may_begin` is set."""

        async def schedule() -> None:
            self.knows_all.set()
            self._something_happened.set()
            if self._run_times_file is not None:
                self._remember(self._run_times_file.read())
            async with asyncio.TaskGroup() as tasks:
                if may_begin is not None:
                    await may_begin.wait()
                self._may_decide = True
                self._something_happened.set()
                # Not earlier: reports of a scheduler that does not lead are dropped, and are not repeated.
                tasks.create_task(self._overcommitment.run())
                tasks.create_task(self._forecasting.run())
                if self._run_times_file is not None:
                    tasks.create_task(self._run_times_file.run(self._learned))

        works = (self._recorder.run, self._delivery.run, schedule, self._await_answers)
        try:
            async with asyncio.TaskGroup() as tasks:
                # It absorbs what is listed while the API server makes the rest of the list.
                tasks.create_task(self._work())
                tasks.create_task(attend(self._followers, *works))
        finally:
            self._thread.close()

    def _remember(self, learned: LearnedSoFar) -> None:
        if learned.runs:
            self._absorb(RunsRemembered(learned.runs))
        if learned.margins is not None:
            self._forecasting.book.calibration = replace(learned.margins)

    async def _learned(self) -> LearnedSoFar:
        margins = self._forecasting.book.calibration
        runs = await self._thread.ask(Engine.known_runs)
        return LearnedSoFar(runs, replace(margins) if margins.learned else None)

    async def catch_up(self, ask: AskVersions) -> None:
        """Return when everything has been seen that another scheduler may have written so far."""
        written = [follower for follower in self._followers if follower.kind in WRITTEN_KINDS]
        await asyncio.gather(*(follower.catch_up(ask) for follower in written))

    async def finish(self) -> None:
        """Stop deciding, and return when all decisions are carried out and reported."""
        self._is_stopping = True
        self._something_happened.set()
        if self._is_deciding:
            # What is not decided by then is left to the next scheduler.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_DECISION_SECONDS):
                    await self._has_stopped_deciding.wait()
        await self._delivery.finish()

    async def flush_events(self) -> None:
        """Return when the Kubernetes Events so far are written."""
        await self._recorder.flush()

    async def _work(self) -> None:
        """Feed the engine, and have it decide if it may, until told to stop."""
        while not self._is_stopping:
            self._something_happened.clear()
            is_listed = self.knows_all.is_set()
            if not self._may_decide:
                await self._thread.absorb_queued()
                if is_listed:
                    self.has_absorbed_all.set()
                await self._wait(None)
                continue
            self._is_deciding = True
            turn = await self._thread.decide()
            if is_listed:
                self.has_absorbed_all.set()
            await self._take(turn)
            if turn.has_work:
                await asyncio.sleep(0)
            else:
                await self._wait(turn.wakeup)
        self._has_stopped_deciding.set()

    async def _take(self, turn: Turn) -> None:
        """Log, count and carry out what was decided."""
        for fault in turn.faults:
            log.error(fault)
        done = turn.done
        if done.decisions or done.tried:
            self._observer.decided(done)
        for decision in done.decisions:
            if isinstance(decision, Solve | Advise):
                self._exact_search.put(decision)
        if done.decisions:
            await self._delivery.put(done)
            self._forecasting.outdate()

    async def _wait(self, wakeup: float | None) -> None:
        timeout = max(0.0, wakeup - self._clock()) if wakeup is not None else None
        # Unlike wait_for, this never loses a cancellation that coincides with the event.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._something_happened.wait()

    async def _overcommitted(self) -> list[Overcommitted]:
        return await self._thread.ask(Engine.overcommitted)

    async def _await_answers(self) -> None:
        async with contextlib.aclosing(self._exact_search.answers()) as answers:
            async for answer in answers:
                if isinstance(answer, Solved):
                    self.metrics.searched_exactly(answer.solution.outcome)
                self._absorb(answer)

    def _absorb(self, event: EngineEvent) -> None:
        self._thread.queue(event)
        if isinstance(event, Observed | Vanished) and isinstance(event.obj, Pod | Node):
            self._forecasting.outdate()
        if self._onlooker is not None:
            self._onlooker.absorbed(event)
        self._something_happened.set()

    def _follower(
        self, transport: Transport, kind: Kind, struct: type[ClusterObject]
    ) -> StructFollower[ClusterObject]:
        def on_seen(obj: ClusterObject) -> None:
            self._absorb(Observed(obj))

        def on_gone(obj: ClusterObject) -> None:
            self._absorb(Vanished(obj))

        follower = PartFollower if kind in READ_IN_PART else StructFollower
        return follower(transport, kind, on_seen, on_gone, struct, is_optional=kind in OPTIONAL_KINDS)
