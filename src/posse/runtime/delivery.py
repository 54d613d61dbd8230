"""Has rounds of decisions carried out: each is acted upon as soon as there is room, and told of in the order of deciding.

Rounds overlap, so that one slow answer holds up nobody else; only of the same pod or group there is one word at a time: who
is bound must not be told afterwards that it waits. Everything is bounded: a slow API slows the engine down.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from posse.engine.decisions import MarkDisrupted, ReportGroup, ReportPod
from posse.engine.events import EngineEvent
from posse.runtime.carrier import Carrier, Refusal
from posse.runtime.witness import Round

log = logging.getLogger(__name__)

_MOST_ROUNDS_AHEAD = 8
_MOST_UNTOLD_ROUNDS = 64
_MOST_BINDINGS = 512
"""On their way at once; beyond that, what is decided grows old before it is written."""
_REPORT_AGAIN_SECONDS = 1.0
"""After a report that the API server could not take just then."""


class _Acting(NamedTuple):
    done: Round
    refusals: asyncio.Task[Sequence[Refusal]]
    subjects: Sequence[Hashable]
    """Of whom something is to be told: pods by uid, groups by key."""


class Delivery:
    def __init__(self, carrier: Carrier, absorb: Callable[[EngineEvent], None]) -> None:
        self._carrier = carrier
        self._absorb = absorb
        self._decided: asyncio.Queue[Round] = asyncio.Queue(_MOST_ROUNDS_AHEAD)
        self._acting: asyncio.Queue[_Acting] = asyncio.Queue(_MOST_UNTOLD_ROUNDS)
        self._bindings = 0
        self._fewer_bindings = asyncio.Condition()
        self._untold: Counter[Hashable] = Counter()
        """Of whom something is still to be told."""

    async def put(self, done: Round) -> None:
        await self._decided.put(done)

    async def finish(self) -> None:
        """Return when everything so far is carried out and told."""
        await self._decided.join()
        await self._acting.join()

    async def act(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                done = await self._decided.get()
                bound = [placement.pod.uid for bind in done.binds() for placement in bind.placements]
                if any(self._untold[uid] for uid in bound):
                    await self._acting.join()
                await self._wait_for_room(len(bound))
                subjects = _subjects(done)
                self._untold.update(subjects)
                task = tasks.create_task(self._act(done, len(bound)))
                await self._acting.put(_Acting(done, task, subjects))
                self._decided.task_done()

    async def tell(self) -> None:
        """Until cancelled."""
        following: _Acting | None = None
        while True:
            batch = [following or await self._acting.get()]
            await asyncio.wait([batch[0].refusals])
            following = self._gather(batch)
            await asyncio.gather(*map(self._tell, batch))
            for _ in batch:
                self._acting.task_done()

    def _gather(self, batch: list[_Acting]) -> _Acting | None:
        """Add to the batch what can be told together with it; return what was taken and cannot."""
        spoken_of = set(batch[0].subjects)
        while not self._acting.empty():
            following = self._acting.get_nowait()
            if not following.refusals.done() or not spoken_of.isdisjoint(following.subjects):
                return following
            spoken_of.update(following.subjects)
            batch.append(following)
        return None

    async def _act(self, done: Round, bindings: int) -> Sequence[Refusal]:
        try:
            refusals = await self._carrier.act(done)
        finally:
            async with self._fewer_bindings:
                self._bindings -= bindings
                self._fewer_bindings.notify_all()
        for refusal in refusals:
            # It is told as an event and counted, where people look for it.
            log.debug("refused: %s", refusal)
            self._absorb(refusal)
        return refusals

    async def _tell(self, acting: _Acting) -> None:
        for lost in await self._carrier.report(acting.done, acting.refusals.result()):
            asyncio.get_running_loop().call_later(_REPORT_AGAIN_SECONDS, self._absorb, lost)
        self._untold -= Counter(acting.subjects)

    async def _wait_for_room(self, bindings: int) -> None:
        """One round that is larger than all the room there is goes alone."""
        async with self._fewer_bindings:
            await self._fewer_bindings.wait_for(
                lambda: not self._bindings or self._bindings + bindings <= _MOST_BINDINGS
            )
            self._bindings += bindings


def _subjects(done: Round) -> list[Hashable]:
    return [
        decision.pod.uid if isinstance(decision, ReportPod) else decision.group
        for decision in done.decisions
        if isinstance(decision, ReportPod | ReportGroup | MarkDisrupted)
    ]
