"""Schedules as cron writes them: five fields, or a name such as @hourly, or @every with a duration.

Like the parser of Kubernetes: a day matches if both of its fields match, or either if neither is a star.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from posse.model.durations import parse_duration
from posse.model.formats import Format

NAMED = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
EVERY = "@every "
FIELD_COUNT = 5
# A schedule such as February 30 never comes.
MAX_DAYS = 5 * 366
# Looking back over these many seconds one after the other, few times of any schedule are counted.
_WINDOWS = (60.0, 3600.0, 86400.0, 32 * 86400.0, 366 * 86400.0, MAX_DAYS * 86400.0)


class ScheduleError(ValueError):
    """The text is not a schedule."""


class _Range(NamedTuple):
    lowest: int
    highest: int
    names: tuple[str, ...] = ()
    """Of the lowest number and those that follow."""


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_RANGES = (_Range(0, 59), _Range(0, 23), _Range(1, 31), _Range(1, 12, MONTHS), _Range(0, 6, DAYS))


@dataclass(frozen=True, slots=True)
class EverySchedule:
    """At a fixed distance from whatever came before."""

    seconds: float

    def next_time(self, after: float, _zone: tzinfo) -> float | None:
        return float(int(after)) + self.seconds

    def last_time(self, after: float, until: float, _zone: tzinfo) -> float | None:
        passed = (until - int(after)) // self.seconds
        return int(after) + passed * self.seconds if passed >= 1 else None


@dataclass(frozen=True, slots=True)
class CronSchedule:
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    needs_both_days: bool

    def next_time(self, after: float, zone: tzinfo) -> float | None:
        """Return the first time behind `after`, in seconds; None if there is none within years."""
        start = datetime.fromtimestamp(after, zone).replace(tzinfo=None)
        day = start.replace(hour=0, minute=0, second=0, microsecond=0)
        for _ in range(MAX_DAYS):
            if self._has_day(day) and (found := self._time_on(day, after, zone)) is not None:
                return found
            day += timedelta(days=1)
        return None

    def last_time(self, after: float, until: float, zone: tzinfo) -> float | None:
        """Return the last time behind `after` and not behind `until`; None if there is none."""
        for window in _WINDOWS:
            found, start = None, max(after, until - window)
            while (moment := self.next_time(start, zone)) is not None and moment <= until:
                found = start = moment
            if found is not None or start <= after:
                return found
        return None

    def _has_day(self, day: datetime) -> bool:
        if day.month not in self.months:
            return False
        found = day.day in self.days, (day.weekday() + 1) % 7 in self.weekdays
        return all(found) if self.needs_both_days else any(found)

    def _time_on(self, day: datetime, after: float, zone: tzinfo) -> float | None:
        for hour in self.hours:
            for minute in self.minutes:
                moment = day.replace(hour=hour, minute=minute, tzinfo=zone)
                seconds = moment.timestamp()
                # An hour that the change of clocks leaves out does not exist.
                if seconds > after and datetime.fromtimestamp(seconds, zone).hour == hour:
                    return seconds
        return None


Schedule = CronSchedule | EverySchedule


def parse_schedule(text: str) -> Schedule:
    """Raise ScheduleError if it cannot be read."""
    if text.startswith(EVERY):
        return _every(text)
    if text.startswith("@") and text not in NAMED:
        raise ScheduleError(f"unrecognized descriptor: {text}")
    fields = NAMED.get(text, text).split()
    if len(fields) != FIELD_COUNT:
        found = f"found {len(fields)}: [{' '.join(fields)}]"
        raise ScheduleError(f"expected exactly {FIELD_COUNT} fields, {found}")
    minutes, hours, days, months, weekdays = (
        _numbers(field, span) for field, span in zip(fields, _RANGES, strict=True)
    )
    needs_both = any(fields[place][0] in "*?" for place in (2, 4))
    ordered = tuple(sorted(minutes)), tuple(sorted(hours))
    return CronSchedule(*ordered, days, months, weekdays, needs_both)


def _every(text: str) -> EverySchedule:
    seconds = parse_duration(text.removeprefix(EVERY))
    if seconds is None:
        raise ScheduleError(f"failed to parse duration {text}")
    return EverySchedule(float(max(1, int(seconds))))


def _numbers(field: str, span: _Range) -> frozenset[int]:
    return frozenset(number for part in field.split(",") for number in _part(part, span))


def _part(part: str, span: _Range) -> range:
    places, slash, step_text = part.partition("/")
    step = _number(step_text, {}) if slash else 1
    first, dash, last = places.partition("-")
    names = {name: span.lowest + place for place, name in enumerate(span.names)}
    if first in ("*", "?") and not dash:
        low, high = span.lowest, span.highest
    else:
        low = _number(first, names)
        high = _number(last, names) if dash else span.highest if slash else low
    if step < 1:
        raise ScheduleError(f"step of range should be a positive number: {part}")
    if low < span.lowest:
        raise ScheduleError(f"beginning of range ({low}) below minimum ({span.lowest}): {part}")
    if high > span.highest:
        raise ScheduleError(f"end of range ({high}) above maximum ({span.highest}): {part}")
    if low > high:
        raise ScheduleError(f"beginning of range ({low}) beyond end of range ({high}): {part}")
    return range(low, high + 1, step)


def _number(text: str, names: Mapping[str, int]) -> int:
    if text.lower() in names:
        return names[text.lower()]
    if not (text.isascii() and text.isdigit() and len(text) <= 4):
        raise ScheduleError(f"failed to parse int from {text}")
    return int(text)


def time_zone(name: str | None) -> tzinfo | None:
    """Return the time zone of that name, UTC without one; None if it is unknown."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _schedule_problems(text: str) -> list[str]:
    if "TZ" in text:
        return ["cannot use TZ or CRON_TZ in schedule, use timeZone field instead"]
    try:
        parse_schedule(text)
    except ScheduleError as error:
        return [str(error)]
    return []


def _time_zone_problems(name: str) -> list[str]:
    if not name:
        return ["timeZone must be nil or non-empty string"]
    return [] if time_zone(name) is not None else [f"unknown time zone {name}"]


cron_schedule = Format(_schedule_problems, ".+", 0)
time_zone_name = Format(_time_zone_problems, ".+", 0)
