"""Has rounds of decisions carried out: all that wait are acted upon together, and what is told of them follows in order.

Acting does not wait for the telling of earlier rounds, except of the pods it is about: one that is bound must not be told
afterwards that it waits. Both queues are bounded; a slow API slows the engine down.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence

from posse.engine.decisions import ReportPod
from posse.engine.events import EngineEvent
from posse.runtime.carrier import Carrier, Refusal
from posse.runtime.witness import Round

log = logging.getLogger(__name__)

_MOST_ROUNDS_AHEAD = 8
_REPORT_AGAIN_SECONDS = 1.0
"""After a report that the API server could not take just then."""


class Delivery:
    def __init__(self, carrier: Carrier, absorb: Callable[[EngineEvent], None]) -> None:
        self._carrier = carrier
        self._absorb = absorb
        self._decided: asyncio.Queue[Round] = asyncio.Queue(_MOST_ROUNDS_AHEAD)
        self._acted: asyncio.Queue[tuple[Round, Sequence[Refusal]]] = asyncio.Queue(_MOST_ROUNDS_AHEAD)
        self._untold: Counter[str] = Counter()
        """Pods of which something is still to be told, by uid."""

    async def put(self, done: Round) -> None:
        await self._decided.put(done)

    async def finish(self) -> None:
        """Return when everything so far is carried out and told."""
        await self._decided.join()
        await self._acted.join()

    async def act(self) -> None:
        """Until cancelled."""
        while True:
            rounds = [await self._decided.get()]
            while not self._decided.empty():
                rounds.append(self._decided.get_nowait())
            if any(self._untold[p.pod.uid] for done in rounds for b in done.binds() for p in b.placements):
                await self._acted.join()
            for done, refusals in zip(
                rounds, await asyncio.gather(*map(self._carrier.act, rounds)), strict=True
            ):
                for refusal in refusals:
                    # It is told as an event and counted, where people look for it.
                    log.debug("refused: %s", refusal)
                    self._absorb(refusal)
                self._untold.update(_told_pods(done))
                await self._acted.put((done, refusals))
                self._decided.task_done()

    async def tell(self) -> None:
        """Until cancelled."""
        while True:
            done, refusals = await self._acted.get()
            for lost in await self._carrier.report(done, refusals):
                asyncio.get_running_loop().call_later(_REPORT_AGAIN_SECONDS, self._absorb, lost)
            self._untold -= Counter(_told_pods(done))
            self._acted.task_done()


def _told_pods(done: Round) -> list[str]:
    return [decision.pod.uid for decision in done.decisions if isinstance(decision, ReportPod)]
