"""Runs the garbage collector of the embedded cluster over every kind that is stored, except events."""

import asyncio
from collections.abc import Iterable

from posse.controllers.garbage_collection import Amend, Collect, GarbageCollector, ObjectIdentity, Step
from posse.kinds.machinery.errors import NOT_FOUND, ApiError
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import EVENT, KINDS
from posse.runtime.control.controllers import attempt
from posse.runtime.watching.informers import Follower, Json, attend
from posse.transport.patches import MERGE_PATCH, Patch
from posse.transport.transport import Transport

# Events own nothing, are owned by nobody and are many.
COLLECTED_KINDS = tuple(kind for kind in KINDS if kind.stored is kind and kind is not EVENT)
# Enough for one group commit to be worth its while, little enough to stay responsive in between.
STEPS_TOGETHER = 100


class GarbageControl:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._collector = GarbageCollector()
        self._changed = asyncio.Event()
        self._followers = [self._follower(kind) for kind in COLLECTED_KINDS]

    async def run(self) -> None:
        """Collect until cancelled. Nothing is concluded before everything that exists has been seen."""
        await attend(self._followers, self._collect)

    def _follower(self, kind: Kind) -> Follower:
        def on_seen(obj: Json) -> None:
            self._collector.see(kind, obj)
            self._changed.set()

        def on_gone(obj: Json) -> None:
            self._collector.lose(obj)
            self._changed.set()

        return Follower(self._transport, kind, on_seen, on_gone)

    async def _collect(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            steps = self._collector.steps()
            for start in range(0, len(steps), STEPS_TOGETHER):
                batch = steps[start : start + STEPS_TOGETHER]
                await asyncio.gather(
                    *(attempt(self._take(step), step.place.kind, *_names(step)) for step in batch)
                )

    async def _take(self, step: Step) -> None:
        if not await self._are_gone(step.absent):
            return
        place = step.place
        match step:
            case Collect():
                await self._transport.delete(
                    place.kind, place.namespace, place.name, uid=place.uid, propagation=step.propagation
                )
            case Amend():
                patch = Patch(MERGE_PATCH, step.patch)
                await self._transport.patch(place.kind, place.namespace, place.name, patch)

    async def _are_gone(self, owners: Iterable[ObjectIdentity]) -> bool:
        """The watches of different kinds run apart: an owner may exist that has not been seen yet."""
        for owner in owners:
            try:
                found = await self._transport.get(owner.kind, owner.namespace, owner.name)
            except ApiError as error:
                if error.code != NOT_FOUND:
                    raise
            else:
                if found["metadata"]["uid"] == owner.uid:
                    return False
        return True


def _names(step: Step) -> tuple[str, str]:
    return step.place.namespace, step.place.name
