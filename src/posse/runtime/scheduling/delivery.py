"""Carries out rounds: binds and evicts, then reports. Rounds overlap.

A slow answer delays only its own round, and later reports about the same pods and groups. Everything is
bounded, so many slow answers slow the engine down.
"""

import asyncio
import logging
from collections.abc import Callable, Hashable, Iterable, Sequence

from posse.engine.events import EngineEvent, Setback, WriteNews
from posse.runtime.scheduling.carrier import Carrier
from posse.runtime.scheduling.observers import Round
from posse.writes.round_writes import RoundWrites, writes_of

log = logging.getLogger(__name__)

_MAX_ROUNDS_QUEUED = 8
_MAX_ROUNDS = 64
"""Rounds that are carried out at once."""
_MAX_BINDINGS = 512
"""Bindings that are written at once; beyond that, decisions are outdated before they are written."""
_REPORT_AGAIN_SECONDS = 1.0
"""Delay after a report that the API server could not take."""

Reported = asyncio.Future[None]
"""Done when all reports of a round are written."""


class Delivery:
    def __init__(self, carrier: Carrier, absorb: Callable[[EngineEvent], None]) -> None:
        self._carrier = carrier
        self._absorb = absorb
        self._decided: asyncio.Queue[Round] = asyncio.Queue(_MAX_ROUNDS_QUEUED)
        self._slots = asyncio.Semaphore(_MAX_ROUNDS)
        self._bindings = 0
        self._fewer_bindings = asyncio.Condition()
        self._last_report: dict[Hashable, Reported] = {}
        """The last round with a report that is still to be written; of pods by uid, of groups by key."""

    async def put(self, done: Round) -> None:
        await self._decided.put(done)

    async def finish(self) -> None:
        """Return when everything so far is carried out and reported."""
        await self._decided.join()

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                done = await self._decided.get()
                await self._slots.acquire()
                writes = writes_of(done.decisions)
                bound = writes.bound_pods()
                await self._reserve_bindings(len(bound))
                tasks.create_task(self._deliver(done, writes, bound, tasks))

    async def _deliver(
        self, done: Round, writes: RoundWrites, bound: Sequence[str], tasks: asyncio.TaskGroup
    ) -> None:
        subjects = writes.subjects()
        reported: Reported = asyncio.get_running_loop().create_future()
        before_acting, before_reporting = self._unreported(bound), self._unreported(subjects)
        self._last_report.update(dict.fromkeys(subjects, reported))
        await _all(before_acting)
        setbacks = await self._act(done, writes, len(bound))
        await _all(before_reporting)
        lost = await self._carrier.report(writes, setbacks)
        if lost:
            tasks.create_task(self._absorb_later(lost))
        reported.set_result(None)
        for subject in subjects:
            if self._last_report[subject] is reported:
                del self._last_report[subject]
        self._slots.release()
        self._decided.task_done()

    def _unreported(self, subjects: Iterable[Hashable]) -> set[Reported]:
        """Rounds with reports about these that are still to be written."""
        return {self._last_report[subject] for subject in subjects if subject in self._last_report}

    async def _act(self, done: Round, writes: RoundWrites, bindings: int) -> Sequence[WriteNews]:
        try:
            setbacks = await self._carrier.act(done, writes)
        finally:
            async with self._fewer_bindings:
                self._bindings -= bindings
                self._fewer_bindings.notify_all()
        for setback in setbacks:
            # People see it as an event and in the metrics.
            log.debug("absorbed after writing: %s", setback)
            self._absorb(setback)
        return setbacks

    async def _absorb_later(self, lost: Sequence[Setback]) -> None:
        """A task of the group, so that a broken invariant ends the scheduler."""
        await asyncio.sleep(_REPORT_AGAIN_SECONDS)
        for event in lost:
            self._absorb(event)

    async def _reserve_bindings(self, bindings: int) -> None:
        """A large round waits for half of the limit only, and may exceed it."""
        wanted = min(bindings, _MAX_BINDINGS // 2)
        async with self._fewer_bindings:
            await self._fewer_bindings.wait_for(lambda: self._bindings + wanted <= _MAX_BINDINGS)
            self._bindings += bindings


async def _all(rounds: set[Reported]) -> None:
    if rounds:
        await asyncio.wait(rounds)
