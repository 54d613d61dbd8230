"""Events tell what happened lately: an event that was last observed more than an hour ago goes.

The events seen are kept in a heap by the time of their last observation, so that finding the old ones costs nothing
while there are none, however many events there are.
"""

import heapq
from typing import Any, NamedTuple

from posse.model.timestamps import TimestampError, parse_timestamp

Json = dict[str, Any]

LIFETIME_SECONDS = 3600.0


class EventName(NamedTuple):
    namespace: str
    name: str


class EventExpiry:
    """Events seen go in; those that are too old come out, each once."""

    def __init__(self) -> None:
        self._observed: dict[EventName, float] = {}
        # An event that was observed again or is gone leaves its entry behind, to be passed over when its time comes.
        self._by_time: list[tuple[float, EventName]] = []

    def see(self, event: Json) -> None:
        name, observed = _name_of(event), last_observed(event)
        if event["metadata"].get("deletionTimestamp"):
            self._observed.pop(name, None)
        elif self._observed.get(name) != observed:
            self._observed[name] = observed
            heapq.heappush(self._by_time, (observed, name))

    def lose(self, event: Json) -> None:
        self._observed.pop(_name_of(event), None)

    def expired(self, now: float, limit: int) -> list[EventName]:
        """Return up to `limit` events to delete, longest unobserved first."""
        names: list[EventName] = []
        while self._by_time and self._by_time[0][0] < now - LIFETIME_SECONDS and len(names) < limit:
            observed, name = heapq.heappop(self._by_time)
            if self._observed.get(name) == observed:
                del self._observed[name]
                names.append(name)
        return names


def last_observed(event: Json) -> float:
    """Return the latest time the event carries; every stored event has at least the time of its creation."""
    texts = (
        event["metadata"].get("creationTimestamp"),
        event.get("lastTimestamp"),
        event.get("eventTime"),
        (event.get("series") or {}).get("lastObservedTime"),
    )
    return max(_seconds(text) for text in texts)


def _name_of(event: Json) -> EventName:
    return EventName(event["metadata"]["namespace"], event["metadata"]["name"])


def _seconds(text: str | None) -> float:
    try:
        return parse_timestamp(text or "")
    except TimestampError:
        return 0.0
