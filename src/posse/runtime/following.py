"""Keeps somebody told of every object of a kind, as JSON: a list first, then a watch, and a new list when it breaks.

Whatever the watch misses shows in the next list: what is no longer there is told as gone.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from posse.apiserver.transport import Transport
from posse.kinds.errors import EXPIRED, ApiError
from posse.kinds.kind import Kind
from posse.runtime.skipping import skipping

log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0

Json = dict[str, Any]
Listener = Callable[[Json], None]


class Follower:
    def __init__(self, transport: Transport, kind: Kind, on_seen: Listener, on_gone: Listener) -> None:
        self._transport = transport
        self._kind = kind
        self._on_seen = on_seen
        self._on_gone = on_gone
        self._known: dict[tuple[str, str], Json] = {}
        self._version = ""

    async def sync(self) -> None:
        """Tell everything there is now, and what has gone since the last time."""
        listing = await self._transport.list(self._kind)
        present = {_place(obj) for obj in listing.items}
        for place in [place for place in self._known if place not in present]:
            self._tell(self._on_gone, self._known.pop(place))
        for obj in listing.items:
            self._see(obj)
        self._version = listing.resource_version

    async def follow(self) -> None:
        """Tell changes for ever, listing anew whenever the watch breaks. `sync` comes first."""
        is_broken = False
        while True:
            try:
                if is_broken:
                    await self.sync()
                is_broken = False
                await self._follow_once()
            except ApiError as error:
                # An expired watch is to be expected, and a list mends it at once; the rest is given time to pass.
                if is_broken or error.code != EXPIRED:
                    log.warning("following %s failed, trying again: %s", self._kind.plural, error)
                    await asyncio.sleep(RETRY_SECONDS)
                is_broken = True

    async def _follow_once(self) -> None:
        async for batch in self._transport.watch(self._kind, self._version):
            for event in batch:
                if event.type == "DELETED":
                    self._known.pop(_place(event.obj), None)
                    self._tell(self._on_gone, event.obj)
                elif event.type != "BOOKMARK":
                    self._see(event.obj)
                self._version = event.resource_version

    def _see(self, obj: Json) -> None:
        previous = self._known.get(_place(obj))
        if previous is not None and previous["metadata"].get("uid") != obj["metadata"].get("uid"):
            self._tell(self._on_gone, previous)
        self._known[_place(obj)] = obj
        self._tell(self._on_seen, obj)

    def _tell(self, listener: Listener, obj: Json) -> None:
        with skipping(self._kind.name, *_place(obj)):
            listener(obj)


async def attend(followers: Sequence[Follower], *works: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Follow all of these for ever, and do the works beside it, which begin when everything there is has been seen."""
    for follower in followers:
        await follower.sync()
    async with asyncio.TaskGroup() as tasks:
        for follower in followers:
            tasks.create_task(follower.follow())
        for work in works:
            tasks.create_task(work())


def _place(obj: Json) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
