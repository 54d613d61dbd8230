"""Deletes events that were last observed more than an hour ago, or earlier if all together are too large.

Events are kept in a heap by the time of their last observation: while none is old, looking costs nothing.
"""

import heapq
from typing import Any, NamedTuple

import msgspec

from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Delete, Plan, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import EVENT
from posse.model.timestamps import TimestampError, parse_timestamp

Json = dict[str, Any]

LIFETIME_SECONDS = 3600.0
MAX_BYTES = 8 * 1024 * 1024
"""Of all events together, as text: some ten thousand of them. A burst of pods makes two for each pod."""
SWEEP_SECONDS = 60.0
# Few enough for the process to stay responsive between plans.
MAX_DELETED_AT_ONCE = 300
# All events together are one subject.
ALL_EVENTS = ""

_encode = msgspec.json.Encoder().encode


class _Known(NamedTuple):
    observed: float
    size_bytes: int
    namespace: str
    name: str


class EventExpiry(Reconciler):
    reporter = "event-expiry"
    kinds = (EVENT,)

    def __init__(self) -> None:
        # By uid.
        self._events: dict[str, _Known] = {}
        self._bytes = 0
        # Entries of events that were observed again or are gone are skipped when their time comes.
        self._by_time: list[tuple[float, str]] = []
        self.touched = Touched()
        self.touched.add(ALL_EVENTS)

    def see(self, _kind: Kind, obj: Json) -> None:
        uid, observed = obj["metadata"]["uid"], last_observed(obj)
        before = self._forget(uid)
        if is_deleting(obj):
            return
        metadata = obj["metadata"]
        # Not the whole event: there are some ten thousand.
        known = _Known(observed, len(_encode(obj)), metadata["namespace"], metadata["name"])
        self._events[uid] = known
        self._bytes += known.size_bytes
        if before is None or before.observed != observed:
            heapq.heappush(self._by_time, (observed, uid))
        if self._bytes > MAX_BYTES:
            self.touched.add(ALL_EVENTS)

    def lose(self, _kind: Kind, obj: Json) -> None:
        self._forget(obj["metadata"]["uid"])

    def plan(self, _key: str, now: float) -> Plan:
        """Delete a bounded number of events, longest unobserved first; each is deleted once."""
        expired: list[Json] = []
        while len(expired) < MAX_DELETED_AT_ONCE and self._has_surplus(now):
            observed, uid = heapq.heappop(self._by_time)
            known = self._events.get(uid)
            if known is not None and known.observed == observed:
                expired.append({"metadata": {"namespace": known.namespace, "name": known.name, "uid": uid}})
                self._forget(uid)
        result = Plan(wake_at=now if self._has_surplus(now) else now + SWEEP_SECONDS)
        result.then(*(Delete(EVENT, event, "") for event in expired))
        return result

    def _forget(self, uid: str) -> _Known | None:
        known = self._events.pop(uid, None)
        if known is not None:
            self._bytes -= known.size_bytes
        return known

    def _has_surplus(self, now: float) -> bool:
        if not self._by_time:
            return False
        return self._bytes > MAX_BYTES or self._by_time[0][0] < now - LIFETIME_SECONDS


def last_observed(event: Json) -> float:
    """Return the latest time the event carries; every stored event has at least the time of its creation."""
    texts = (
        event["metadata"].get("creationTimestamp"),
        event.get("lastTimestamp"),
        event.get("eventTime"),
        (event.get("series") or {}).get("lastObservedTime"),
    )
    return max(_seconds(text) for text in texts)


def _seconds(text: str | None) -> float:
    try:
        return parse_timestamp(text or "")
    except TimestampError:
        return 0.0
