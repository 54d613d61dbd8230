"""Conditions in the status of an object, and the latest events about it and its pods."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from posse.engine.groups.forms import FORMS
from posse.kinds.machinery.durations import UNKNOWN, since

Json = dict[str, Any]

MAX_EVENTS = 6
SCHEDULED = "Scheduled"
_REFUSALS = {("PodScheduled", "False"), *(form.refusal for form in FORMS)}


@dataclass(frozen=True, slots=True)
class Happening:
    """One event, or several that say the same of several objects."""

    last_seen: str
    reason: str
    message: str
    kind: str
    name: str
    """Of the object, or of one of them."""
    objects: int
    count: int


def condition_lines(obj: Json | None, now: float, verdict: str | None = None) -> list[str]:
    """One line per condition. Those that differ from the current verdict are marked; empty: it fits now."""
    status = (obj or {}).get("status") or {}
    phase = [f"phase {status['phase']}"] if status.get("phase") else []
    return phase + [
        f"{_condition(one, now)}{_then(one, now, verdict)}" for one in status.get("conditions") or []
    ]


def _condition(condition: Json, now: float) -> str:
    age = since(condition.get("lastTransitionTime"), now)
    reason = f" ({condition['reason']})" if condition.get("reason") else ""
    text = f": {condition['message']}" if condition.get("message") else ""
    when = f", since {age}" if age != UNKNOWN else ""
    return f"{condition.get('type', '')}={condition.get('status', '')}{reason}{when}{text}"


def _then(condition: Json, now: float, verdict: str | None) -> str:
    text = condition.get("message") or ""
    is_refusal = (condition.get("type"), condition.get("status")) in _REFUSALS
    if verdict is None or not is_refusal or (verdict and verdict in text):
        return ""
    age = since(condition.get("lastTransitionTime"), now)
    when = f"up to {age} ago" if age != UNKNOWN else "earlier"
    return f" [written {when}; the current state is above]"


def happenings(events: Iterable[Json], uids: Collection[str]) -> list[Happening]:
    """The latest events about these objects, oldest first; equal events of several pods are merged."""
    found: dict[tuple[str, str, str], Happening] = {}
    about = {str((event.get("metadata") or {}).get("uid")): event for event in events}
    for event in about.values():
        involved = event.get("involvedObject") or {}
        if involved.get("uid") in uids:
            one = _happening(event, involved)
            said = (one.kind, one.reason, "" if one.reason == SCHEDULED else one.message)
            found[said] = _merged(found[said], one) if said in found else one
    return sorted(found.values(), key=lambda one: (one.last_seen, one.name))[-MAX_EVENTS:]


def preemptors(events: Iterable[Json], uids: Collection[str]) -> list[str]:
    """The preemptors of these pods, as far as events name them."""
    told = [
        event.get("related") or {}
        for event in events
        if event.get("reason") == "Preempted" and (event.get("involvedObject") or {}).get("uid") in uids
    ]
    named = [
        f"{one.get('kind', '').lower()} {one.get('namespace', '')}/{one['name']}"
        for one in told
        if "name" in one
    ]
    return list(dict.fromkeys(named))


def left_for(events: Iterable[Json], uids: Collection[str]) -> list[Happening]:
    """What was preempted for these pods or groups, as far as events name them; the first first."""
    found = [
        _happening(event, event.get("involvedObject") or {})
        for event in events
        if event.get("reason") == "Preempted" and (event.get("related") or {}).get("uid") in uids
    ]
    return sorted(found, key=lambda one: (one.last_seen, one.name))


def happening_lines(found: Iterable[Happening], now: float) -> list[str]:
    return [_line(one, now) for one in found]


def _happening(event: Json, involved: Json) -> Happening:
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return Happening(
        last_seen=next((str(time) for time in times if time), ""),
        reason=str(event.get("reason") or ""),
        message=str(event.get("message") or "").strip(),
        kind=str(involved.get("kind") or "").lower(),
        name=str(involved.get("name") or ""),
        objects=1,
        count=int(series.get("count") or event.get("count") or 1),
    )


def _merged(first: Happening, second: Happening) -> Happening:
    return replace(
        first,
        last_seen=max(first.last_seen, second.last_seen),
        name=min(first.name, second.name),
        message=first.message if first.message == second.message else "Successfully assigned to their nodes",
        objects=first.objects + 1,
        count=max(first.count, second.count),
    )


def _line(one: Happening, now: float) -> str:
    others = f" and {one.objects - 1} more" if one.objects > 1 else ""
    times = f", {one.count} times" if one.count > 1 else ""
    return (
        f"{since(one.last_seen, now)} ago{times}  {one.reason}  {one.kind}/{one.name}{others}: {one.message}"
    )
