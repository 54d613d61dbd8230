"""Runs the engine against a cluster: informers feed it, and its decisions are carried out.

Deciding and carrying out overlap: the engine assumes that its decisions succeed and goes on while bindings
are written. What the API refuses comes back as an event.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence

from posse.engine.decisions import Advise, Solve
from posse.engine.engine import Engine
from posse.engine.events import ClusterObject, EngineEvent, Observed, Solved, Vanished
from posse.engine.explain.overview import Overview
from posse.kinds.machinery.kind import Kind
from posse.runtime.scheduling.carrier import Carrier
from posse.runtime.scheduling.decision_log import DecisionLog
from posse.runtime.scheduling.delivery import Delivery
from posse.runtime.scheduling.exact_search import ExactSearch
from posse.runtime.scheduling.metrics import Metrics
from posse.runtime.scheduling.observers import DecisionObservers, EventObserver, Round
from posse.runtime.scheduling.overcommitment import OvercommitmentReports
from posse.runtime.watching.event_recorder import EventRecorder
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS, OPTIONAL_KINDS, WRITTEN_KINDS
from posse.runtime.watching.informers import AskVersions, StructFollower, attend
from posse.transport.transport import Transport

log = logging.getLogger(__name__)


class SchedulerLoop:
    def __init__(
        self,
        transport: Transport,
        engine: Engine,
        clock: Callable[[], float],
        kinds: Sequence[tuple[Kind, type[ClusterObject]]] = FOLLOWED_KINDS,
        onlooker: EventObserver | None = None,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._recorder = EventRecorder(transport, clock)
        self.metrics = Metrics(engine.statistics, clock, engine.gates)
        self._observer = DecisionObservers(self.metrics, DecisionLog(clock), *filter(None, (onlooker,)))
        self._onlooker = onlooker
        self._delivery = Delivery(Carrier(transport, self._recorder, self._observer, clock), self._absorb)
        self._exact_search = ExactSearch()
        self._overcommitment = OvercommitmentReports(engine.overcommitted, self._recorder)
        self._something_happened = asyncio.Event()
        self._followers = [self._follower(transport, kind, struct) for kind, struct in kinds]
        self.knows_all = asyncio.Event()
        """Set when all followed kinds are listed."""
        self._is_deciding = self._is_stopping = False
        self._has_stopped_deciding = asyncio.Event()

    def served_kinds(self) -> list[Kind]:
        """The followed kinds that the cluster serves."""
        return [follower.kind for follower in self._followers if follower.is_served]

    def overview(self) -> Overview:
        return self._engine.overview()

    async def run(self, may_begin: asyncio.Event | None = None) -> None:
        """Schedule until cancelled. Deciding starts after all kinds are listed and `may_begin` is set."""

        async def schedule() -> None:
            self.knows_all.set()
            if may_begin is not None:
                await may_begin.wait()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._decide())
                # Not earlier: reports of a scheduler that does not lead are dropped, and are not repeated.
                tasks.create_task(self._overcommitment.run())

        await attend(self._followers, self._recorder.run, self._delivery.run, schedule, self._await_answers)

    async def catch_up(self, ask: AskVersions) -> None:
        """Return when everything has been seen that another scheduler may have written so far."""
        written = [follower for follower in self._followers if follower.kind in WRITTEN_KINDS]
        await asyncio.gather(*(follower.catch_up(ask) for follower in written))

    async def finish(self) -> None:
        """Stop deciding, and return when all decisions are carried out and reported."""
        self._is_stopping = True
        self._something_happened.set()
        if self._is_deciding:
            await self._has_stopped_deciding.wait()
        await self._delivery.finish()

    async def flush_events(self) -> None:
        """Return when the Kubernetes Events so far are written."""
        await self._recorder.flush()

    async def _decide(self) -> None:
        self._is_deciding = True
        while not self._is_stopping:
            self._something_happened.clear()
            done = self._decide_once()
            for fault in self._engine.take_faults():
                log.error(fault)
            if done.decisions or done.tried:
                self._observer.decided(done)
            for decision in done.decisions:
                if isinstance(decision, Solve | Advise):
                    self._exact_search.put(decision)
            if done.decisions:
                await self._delivery.put(done)
            if self._engine.has_work:
                await asyncio.sleep(0)
            else:
                await self._wait()
        self._has_stopped_deciding.set()

    def _decide_once(self) -> Round:
        started = time.perf_counter()
        decisions = self._engine.decide(self._clock())
        return Round(started, time.perf_counter() - started, decisions, self._engine.tried())

    async def _wait(self) -> None:
        wakeup = self._engine.next_wakeup()
        timeout = max(0.0, wakeup - self._clock()) if wakeup is not None else None
        # Unlike wait_for, this never loses a cancellation that coincides with the event.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._something_happened.wait()

    async def _await_answers(self) -> None:
        async with contextlib.aclosing(self._exact_search.answers()) as answers:
            async for answer in answers:
                if isinstance(answer, Solved):
                    self.metrics.searched_exactly(answer.solution.outcome)
                self._absorb(answer)

    def _absorb(self, event: EngineEvent) -> None:
        self._engine.absorb(event)
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

        is_optional = kind in OPTIONAL_KINDS
        return StructFollower(transport, kind, on_seen, on_gone, struct, is_optional=is_optional)
