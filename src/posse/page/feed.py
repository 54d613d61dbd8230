"""The current data of the page, and its last changes, encoded once for all open pages.

A page that reads slowly gets several changes at once, or all data if it is far behind. Nothing is queued
for it, so pages cost the same however slow they are.
"""

import asyncio
from collections import deque
from typing import Any

import msgspec

from posse.page.increments import increment

Json = dict[str, Any]

KEPT_CHANGES = 64


class LiveFeed:
    def __init__(self) -> None:
        self.version = 0
        self._data: Json = {}
        self._whole = b""
        self._changes: deque[bytes] = deque(maxlen=KEPT_CHANGES)
        """The last of them leads to the current version."""
        self._published = asyncio.Event()

    def publish(self, data: Json) -> None:
        """Make this the current data; nothing happens if it is what pages have already."""
        change = increment(self._data, data) if self.version else data
        if self.version and not change:
            return
        self.version += 1
        self._data, self._whole = data, b""
        self._changes.append(_event("change", self.version, change))
        self._published.set()
        self._published = asyncio.Event()

    async def newer_than(self, version: int) -> None:
        while self.version <= version:
            await self._published.wait()

    def since(self, version: int) -> bytes:
        """What leads from this version to the current one, 0 from nothing."""
        behind = self.version - version
        if version and behind <= len(self._changes):
            return b"".join(list(self._changes)[len(self._changes) - behind :])
        if not self._whole:
            self._whole = _event("whole", self.version, self._data)
        return self._whole


def _event(name: str, version: int, data: Json) -> bytes:
    return b"event: %s\nid: %d\ndata: %s\n\n" % (name.encode(), version, msgspec.json.encode(data))
