"""Kubernetes Events about what Posse does, written when there is time for it.

All other writes come first; when too many events wait, the oldest are dropped.
"""

import asyncio
import itertools
import logging
import platform
from collections import deque
from collections.abc import Callable
from typing import Any

from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import EVENT
from posse.model.timestamps import format_micro_timestamp, format_timestamp
from posse.runtime.process.error_isolation import skipping
from posse.runtime.watching.permission_warnings import PermissionWarnings
from posse.transport.notes import Note
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

_MOST_WAITING = 10_000
_AT_ONCE = 100
_PAUSE_SECONDS = 0.1
"""Between batches: bindings come first."""
_MESSAGE_CHARACTERS = 1024

Json = dict[str, Any]


class EventRecorder:
    def __init__(self, transport: Transport, clock: Callable[[], float]) -> None:
        self._transport = transport
        self._clock = clock
        self._host = platform.node()
        self._waiting: deque[tuple[Note, float]] = deque(maxlen=_MOST_WAITING)
        """With the time of each; they are formatted when they are written, after a burst of bindings."""
        self._some_waiting = asyncio.Event()
        self._numbers = itertools.count()
        self._permissions = PermissionWarnings()

    def record(self, note: Note) -> None:
        self._waiting.append((note, self._clock()))
        self._some_waiting.set()

    async def run(self) -> None:
        while True:
            await self._some_waiting.wait()
            self._some_waiting.clear()
            while self._waiting:
                await self._write_some()
                if self._waiting:
                    await asyncio.sleep(_PAUSE_SECONDS)

    async def flush(self) -> None:
        """Write what is waiting, without pauses."""
        while self._waiting:
            await self._write_some()

    async def _write_some(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]
        await asyncio.gather(*(self._write(self._event(note, now)) for note, now in batch))

    def _event(self, note: Note, now: float) -> Json:
        stamp = format_timestamp(now)
        event: Json = {
            "metadata": {
                "name": f"{note.subject.name}.{int(now * 1e6):x}{next(self._numbers) % 0x1000:03x}",
                # Events about objects without a namespace are kept in this one.
                "namespace": note.subject.namespace or "default",
            },
            "involvedObject": note.subject.reference(),
            "reason": note.reason,
            "message": note.message[:_MESSAGE_CHARACTERS],
            "type": "Warning" if note.warning else "Normal",
            "source": {"component": note.reporter},
            "reportingComponent": note.reporter,
            "reportingInstance": f"{note.reporter}-{self._host}",
            "eventTime": format_micro_timestamp(now),
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "count": 1,
            "action": note.action or note.reason,
        }
        if note.related is not None:
            event["related"] = note.related.reference()
        return event

    async def _write(self, event: Json) -> None:
        namespace, name = event["metadata"]["namespace"], event["metadata"]["name"]
        with skipping("Event", namespace, name):
            try:
                await self._transport.create(EVENT, namespace, event)
                self._permissions.allowed("create", EVENT.plural)
            except ApiError as error:
                self._permissions.note(error)
                # Usually the namespace is being deleted.
                log.debug("event %s %s dropped: %s", event["reason"], name, error)
