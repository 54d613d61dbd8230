"""Has rounds of decisions carried out: each is acted upon, then told of, beside all others that are under way.

A slow answer holds up its own round, and what is to be said of the same pods and groups: who is bound must not be told
afterwards that it waits. Everything is bounded, so many slow answers slow the engine down.
"""

import asyncio
import logging
from collections.abc import Callable, Hashable, Iterable, Sequence

from posse.engine.events import EngineEvent
from posse.runtime.scheduling.carrier import Carrier, Lost, Refusal
from posse.runtime.scheduling.observers import Round
from posse.runtime.scheduling.report_merging import last_words, subject_of

log = logging.getLogger(__name__)

_MOST_ROUNDS_AHEAD = 8
_MOST_ROUNDS = 64
"""Under way at once."""
_MOST_BINDINGS = 512
"""On their way at once; beyond that, what is decided grows old before it is written."""
_REPORT_AGAIN_SECONDS = 1.0
"""After a report that the API server could not take just then."""

Told = asyncio.Future[None]
"""Done when everything that a round has to say is said."""


class Delivery:
    def __init__(self, carrier: Carrier, absorb: Callable[[EngineEvent], None]) -> None:
        self._carrier = carrier
        self._absorb = absorb
        self._decided: asyncio.Queue[Round] = asyncio.Queue(_MOST_ROUNDS_AHEAD)
        self._places = asyncio.Semaphore(_MOST_ROUNDS)
        self._bindings = 0
        self._fewer_bindings = asyncio.Condition()
        self._last_word: dict[Hashable, Told] = {}
        """Of whom something is still to be told, with the last round that does: pods by uid, groups by key."""

    async def put(self, done: Round) -> None:
        await self._decided.put(done)

    async def finish(self) -> None:
        """Return when everything so far is carried out and told."""
        await self._decided.join()

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                done = await self._decided.get()
                await self._places.acquire()
                bound = [placement.pod.uid for bind in done.binds() for placement in bind.placements]
                await self._wait_for_room(len(bound))
                tasks.create_task(self._deliver(done, bound, tasks))

    async def _deliver(self, done: Round, bound: Sequence[str], tasks: asyncio.TaskGroup) -> None:
        scheduling_classes = _scheduling_classes(done)
        told: Told = asyncio.get_running_loop().create_future()
        before_acting, before_telling = self._unsaid(bound), self._unsaid(scheduling_classes)
        self._last_word.update(dict.fromkeys(scheduling_classes, told))
        await _all(before_acting)
        refusals = await self._act(done, len(bound))
        await _all(before_telling)
        lost = await self._carrier.report(done, refusals)
        if lost:
            tasks.create_task(self._absorb_later(lost))
        told.set_result(None)
        for scheduling_class in scheduling_classes:
            if self._last_word[scheduling_class] is told:
                del self._last_word[scheduling_class]
        self._places.release()
        self._decided.task_done()

    def _unsaid(self, scheduling_classes: Iterable[Hashable]) -> set[Told]:
        """What is still to be said of these."""
        return {
            self._last_word[scheduling_class]
            for scheduling_class in scheduling_classes
            if scheduling_class in self._last_word
        }

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

    async def _absorb_later(self, lost: Sequence[Lost]) -> None:
        """As a task like all others, so that an invariant which breaks then is not overlooked."""
        await asyncio.sleep(_REPORT_AGAIN_SECONDS)
        for event in lost:
            self._absorb(event)

    async def _wait_for_room(self, bindings: int) -> None:
        """A large round waits for half of the room, and goes beyond it if it must, rather than wait for each straggler."""
        wanted = min(bindings, _MOST_BINDINGS // 2)
        async with self._fewer_bindings:
            await self._fewer_bindings.wait_for(lambda: self._bindings + wanted <= _MOST_BINDINGS)
            self._bindings += bindings


async def _all(unsaid: set[Told]) -> None:
    if unsaid:
        await asyncio.wait(unsaid)


def _scheduling_classes(done: Round) -> list[Hashable]:
    return list(dict.fromkeys(subject_of(report) for report in last_words(done.decisions)))
