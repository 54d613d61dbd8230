"""Events tell what happened lately: an event that was last observed more than an hour ago goes."""

from collections.abc import Iterable
from typing import Any

from posse.model.timestamps import TimestampError, parse_timestamp

Json = dict[str, Any]

LIFETIME_SECONDS = 3600.0


def expired_events(events: Iterable[Json], now: float, limit: int) -> list[Json]:
    """Return up to `limit` events to delete, longest unobserved first."""
    dated = [(last_observed(event), event) for event in events]
    old = [item for item in dated if item[0] < now - LIFETIME_SECONDS]
    old.sort(key=lambda item: (item[0], item[1]["metadata"]["namespace"], item[1]["metadata"]["name"]))
    return [event for _, event in old[:limit]]


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
