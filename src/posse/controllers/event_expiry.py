"""Deletes events that were last observed more than an hour ago.

Events are kept in a heap by the time of their last observation: while none is old, looking costs nothing.
"""

import heapq
from typing import Any

from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Delete, Plan, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import EVENT
from posse.model.timestamps import TimestampError, parse_timestamp

Json = dict[str, Any]

LIFETIME_SECONDS = 3600.0
SWEEP_SECONDS = 60.0
# Few enough for the process to stay responsive between plans.
MAX_DELETED_AT_ONCE = 300
# All events together are one subject.
ALL_EVENTS = ""


class EventExpiry(Reconciler):
    reporter = "event-expiry"
    kinds = (EVENT,)

    def __init__(self) -> None:
        # By uid, with the time of the last observation.
        self._events: dict[str, tuple[float, Json]] = {}
        # Entries of events that were observed again or are gone are skipped when their time comes.
        self._by_time: list[tuple[float, str]] = []
        self.touched = Touched()
        self.touched.add(ALL_EVENTS)

    def see(self, _kind: Kind, obj: Json) -> None:
        uid, observed = obj["metadata"]["uid"], last_observed(obj)
        if is_deleting(obj):
            self._events.pop(uid, None)
            return
        known = self._events.get(uid)
        self._events[uid] = observed, obj
        if known is None or known[0] != observed:
            heapq.heappush(self._by_time, (observed, uid))

    def lose(self, _kind: Kind, obj: Json) -> None:
        self._events.pop(obj["metadata"]["uid"], None)

    def plan(self, _key: str, now: float) -> Plan:
        """Delete a bounded number of old events, longest unobserved first; each is deleted once."""
        expired: list[Json] = []
        while len(expired) < MAX_DELETED_AT_ONCE and self._has_old(now):
            observed, uid = heapq.heappop(self._by_time)
            if uid in self._events and self._events[uid][0] == observed:
                expired.append(self._events.pop(uid)[1])
        result = Plan(wake_at=now if self._has_old(now) else now + SWEEP_SECONDS)
        result.then(*(Delete(EVENT, event, "") for event in expired))
        return result

    def _has_old(self, now: float) -> bool:
        return bool(self._by_time) and self._by_time[0][0] < now - LIFETIME_SECONDS


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
