"""Kubernetes Events about what Posse does, written when there is time for it.

Events are for people. They wait behind everything that matters, and when there are too many the oldest are dropped.
"""

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from posse.apiserver.transport import Transport
from posse.kinds.errors import ApiError
from posse.kinds.registry import EVENT
from posse.model.timestamps import format_timestamp

log = logging.getLogger(__name__)

_MOST_WAITING = 10_000
_AT_ONCE = 100
_MESSAGE_CHARACTERS = 1024

Json = dict[str, Any]


class Subject(NamedTuple):
    """The object that an event is about."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str


class EventRecorder:
    def __init__(self, transport: Transport, clock: Callable[[], float], component: str) -> None:
        self._transport = transport
        self._clock = clock
        self._component = component
        self._waiting: deque[Json] = deque(maxlen=_MOST_WAITING)
        self._some_waiting = asyncio.Event()
        self._numbers = itertools.count()

    def record(self, subject: Subject, reason: str, message: str, *, warning: bool = False) -> None:
        now = self._clock()
        stamp = format_timestamp(now)
        self._waiting.append(
            {
                "metadata": {
                    "name": f"{subject.name}.{int(now * 1e6):x}{next(self._numbers) % 0x1000:03x}",
                    "namespace": subject.namespace,
                },
                "involvedObject": {
                    "apiVersion": subject.api_version,
                    "kind": subject.kind,
                    "namespace": subject.namespace,
                    "name": subject.name,
                    "uid": subject.uid,
                },
                "reason": reason,
                "message": message[:_MESSAGE_CHARACTERS],
                "type": "Warning" if warning else "Normal",
                "source": {"component": self._component},
                "reportingComponent": self._component,
                "firstTimestamp": stamp,
                "lastTimestamp": stamp,
                "count": 1,
            }
        )
        self._some_waiting.set()

    async def run(self) -> None:
        while True:
            await self._some_waiting.wait()
            self._some_waiting.clear()
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]
                await asyncio.gather(*(self._write(event) for event in batch))

    async def _write(self, event: Json) -> None:
        try:
            await self._transport.create(EVENT, event["metadata"]["namespace"], event)
        except ApiError as error:
            # Usually the namespace is on its way out; nobody would read the event.
            log.debug(
                "event %s about %s dropped: %s", event["reason"], event["involvedObject"]["name"], error
            )
