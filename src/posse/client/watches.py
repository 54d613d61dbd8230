"""Watches that go on for ever: over servers that end them, connections that break and bookmarks in between.

Changes come in batches, as many as arrived together. Reading is at the pace of the consumer:
what is not taken fills the connection, and in the end the server ends a watch that is too slow, with 410.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from posse.client.connection import Call, Connection, RequestRefused
from posse.client.raw_objects import shown
from posse.client.repeating import Pauses, retry_after
from posse.kinds.machinery.errors import TRANSIENT, ApiError, expired
from posse.kinds.machinery.kind import Kind
from posse.transport.objects import WatchEvent

# How long a server is asked to go on; different for each watch, so that they do not all start over at once.
LEAST_SECONDS, MOST_SECONDS = 240, 480
QUIET_SECONDS = 75.0
"""Servers send a bookmark every minute; a watch without one may be dead, and is asked for again."""
MOST_PAUSE_SECONDS = 5.0


@dataclass(slots=True)
class WatchHealth:
    """How the watch of one kind does, for people and probes. Times are of the monotonic clock."""

    is_open: bool = False
    since: float = field(default_factory=time.monotonic)
    """When it was opened, or broke."""
    interruptions: int = 0
    last_error: str = ""

    def opened(self) -> None:
        self.is_open, self.since, self.last_error = True, time.monotonic(), ""

    def broke(self, error: str) -> None:
        if self.is_open:
            self.since = time.monotonic()
        self.is_open, self.last_error = False, error
        self.interruptions += 1


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Versioned(msgspec.Struct):
    metadata: "_Version"


class _Version(msgspec.Struct, rename="camel"):
    resource_version: str = ""


_read_line = msgspec.json.Decoder(_Line).decode
_read_version = msgspec.json.Decoder(_Versioned).decode


@dataclass(slots=True)
class Watch:
    """One kind, from one version on. ApiError: it cannot go on from where it was."""

    kind: Kind
    spoken: str
    """The version of the API in which objects come."""
    path: str
    selection: Mapping[str, str]
    version: str
    """The resourceVersion up to which everything has been yielded."""

    async def batches(
        self, connection: Connection, health: WatchHealth
    ) -> AsyncIterator[Sequence[WatchEvent]]:
        pauses = Pauses(MOST_PAUSE_SECONDS)
        try:
            while True:
                try:
                    async for batch in self._once(connection, health):
                        pauses.start_over()
                        yield batch
                    pause = pauses.next()
                except ApiError as error:
                    health.broke(str(error))
                    if error.code not in TRANSIENT:
                        raise
                    pause = pauses.next(retry_after(error))
                await asyncio.sleep(pause)
        finally:
            health.is_open = False

    async def _once(self, connection: Connection, health: WatchHealth) -> AsyncIterator[Sequence[WatchEvent]]:
        seconds = random.randint(LEAST_SECONDS, MOST_SECONDS)  # noqa: S311 - not a secret
        query = {
            **self.selection,
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": self.version,
            "timeoutSeconds": str(seconds),
        }
        async with connection.stream(Call("GET", self.path, query), QUIET_SECONDS) as stream:
            health.opened()
            async for lines in stream.lines():
                if batch := self._read(lines):
                    yield batch

    def _read(self, lines: Sequence[bytes]) -> list[WatchEvent]:
        try:
            read = [_read_line(line) for line in lines if line]
            for line in read:
                if line.type == "ERROR":
                    raise _error(msgspec.json.decode(line.object))
            if read:
                self.version = _read_version(read[-1].object).metadata.resource_version
        except msgspec.DecodeError as error:
            # Only a list can tell what this was meant to say.
            raise expired(f"the watch of {self.kind.plural} said something unreadable: {error}") from error
        return [
            WatchEvent(line.type, shown(self.kind, self.spoken, line.object))
            for line in read
            if line.type != "BOOKMARK"
        ]


def _error(status: Any) -> ApiError:
    code = int(status.get("code") or 500)
    return RequestRefused(code, str(status.get("reason") or ""), str(status.get("message") or ""))
