"""Points in time and durations, exact to the nanosecond."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from fractions import Fraction
from zoneinfo import ZoneInfo

from posse.cel.errors import EvaluationError
from posse.cel.functions import Overload, function, method
from posse.cel.types import BOOL, DURATION, INT, STRING, TIMESTAMP
from posse.cel.values import Duration, Timestamp

_SECOND = 10**9
_UNITS = {"h": 3600 * _SECOND, "m": 60 * _SECOND, "s": _SECOND, "ms": 10**6, "us": 1000, "µs": 1000, "ns": 1}
_PART = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_DURATION = re.compile(rf"([+-]?)((?:{_PART}(?:h|ms|m|s|us|µs|ns))+|0)")
_PARTS = re.compile(rf"({_PART})(h|ms|m|s|us|µs|ns)")
_TIMESTAMP = re.compile(
    r"(?i)([0-9]{4}-[0-9]{2}-[0-9]{2})T([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(Z|[+-][0-9]{2}:[0-9]{2})"
)
_OFFSET = re.compile(r"([+-]?)([0-9]{2}):([0-9]{2})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# From the year 1 to the end of the year 9999.
_TIMESTAMPS = range(-62135596800 * _SECOND, 253402300800 * _SECOND)
_DURATIONS = range(-(2**63), 2**63)


def _timestamp_of(nanos: int) -> Timestamp:
    if nanos not in _TIMESTAMPS:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanos)


def _duration_of(nanos: int) -> Duration:
    if nanos not in _DURATIONS:
        raise EvaluationError("duration overflow")
    return Duration(nanos)


def _parse_duration(text: str) -> Duration:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise EvaluationError(f"invalid duration {text[:64]!r}")
    sign, parts = found.groups()
    nanos = sum(Fraction(amount) * _UNITS[unit] for amount, unit in _PARTS.findall(parts))
    return _duration_of(int(nanos) * (-1 if sign == "-" else 1))


def _parse_timestamp(text: str) -> Timestamp:
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise EvaluationError(f"invalid timestamp {text[:64]!r}")
    day, time, fraction, zone = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{time}{'+00:00' if zone in 'Zz' else zone}")
    except ValueError as error:
        raise EvaluationError(f"invalid timestamp {text[:64]!r}") from error
    return _timestamp_of(_seconds(moment) * _SECOND + int((fraction or "0").ljust(9, "0")))


def _seconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(seconds=1)


def duration_text(duration: Duration) -> str:
    seconds, nanos = divmod(abs(duration.nanos), _SECOND)
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    return f"{'-' if duration.nanos < 0 else ''}{seconds}{fraction}s"


def timestamp_text(timestamp: Timestamp) -> str:
    nanos = timestamp.nanos % _SECOND
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    return f"{_moment(timestamp).strftime('%Y-%m-%dT%H:%M:%S').rjust(19, '0')}{fraction}Z"


def _moment(timestamp: Timestamp, zone: tzinfo = UTC) -> datetime:
    try:
        return (_EPOCH + timedelta(seconds=timestamp.nanos // _SECOND)).astimezone(zone)
    except OverflowError as error:
        raise EvaluationError("timestamp overflow") from error


def _zone(name: str) -> tzinfo:
    offset = _OFFSET.fullmatch(name)
    try:
        if offset is None:
            return ZoneInfo(name or "UTC")
        sign, hours, minutes = offset.groups()
        return timezone(timedelta(hours=int(hours), minutes=int(minutes)) * (-1 if sign == "-" else 1))
    except (ValueError, OSError, KeyError) as error:
        raise EvaluationError(f"unknown time zone {name[:64]}") from error


def _field(read: Callable[[datetime], int]) -> list[Overload]:
    return [
        method(TIMESTAMP, to=INT, run=lambda timestamp: read(_moment(timestamp))),
        method(TIMESTAMP, STRING, to=INT, run=lambda timestamp, zone: read(_moment(timestamp, _zone(zone)))),
    ]


def _whole(unit: int) -> Overload:
    """How often the unit fits into a duration, towards zero."""
    return method(DURATION, to=INT, run=lambda one: abs(one.nanos) // unit * (-1 if one.nanos < 0 else 1))


def _milliseconds(timestamp: Timestamp, _zone: str = "") -> int:
    return timestamp.nanos % _SECOND // 10**6


def _comparisons(run: Callable[[int, int], bool]) -> list[Overload]:
    kinds = (TIMESTAMP, DURATION)
    return [
        function(kind, kind, to=BOOL, run=lambda one, other: run(one.nanos, other.nanos)) for kind in kinds
    ]


TIMES = {
    "timestamp": [
        function(STRING, to=TIMESTAMP, run=_parse_timestamp),
        function(INT, to=TIMESTAMP, run=lambda seconds: _timestamp_of(seconds * _SECOND)),
        function(TIMESTAMP, to=TIMESTAMP, run=lambda timestamp: timestamp),
    ],
    "duration": [
        function(STRING, to=DURATION, run=_parse_duration),
        function(DURATION, to=DURATION, run=lambda duration: duration),
    ],
    "int": [function(TIMESTAMP, to=INT, run=lambda timestamp: timestamp.nanos // _SECOND)],
    "string": [
        function(TIMESTAMP, to=STRING, run=timestamp_text),
        function(DURATION, to=STRING, run=duration_text),
    ],
    "_+_": [
        function(TIMESTAMP, DURATION, to=TIMESTAMP, run=lambda at, by: _timestamp_of(at.nanos + by.nanos)),
        function(DURATION, TIMESTAMP, to=TIMESTAMP, run=lambda by, at: _timestamp_of(at.nanos + by.nanos)),
        function(DURATION, DURATION, to=DURATION, run=lambda one, by: _duration_of(one.nanos + by.nanos)),
    ],
    "_-_": [
        function(TIMESTAMP, DURATION, to=TIMESTAMP, run=lambda at, by: _timestamp_of(at.nanos - by.nanos)),
        function(TIMESTAMP, TIMESTAMP, to=DURATION, run=lambda at, by: _duration_of(at.nanos - by.nanos)),
        function(DURATION, DURATION, to=DURATION, run=lambda one, by: _duration_of(one.nanos - by.nanos)),
    ],
    "_<_": _comparisons(lambda one, other: one < other),
    "_<=_": _comparisons(lambda one, other: one <= other),
    "_>_": _comparisons(lambda one, other: one > other),
    "_>=_": _comparisons(lambda one, other: one >= other),
    "getFullYear": _field(lambda moment: moment.year),
    "getMonth": _field(lambda moment: moment.month - 1),
    "getDate": _field(lambda moment: moment.day),
    "getDayOfMonth": _field(lambda moment: moment.day - 1),
    "getDayOfWeek": _field(lambda moment: moment.isoweekday() % 7),
    "getDayOfYear": _field(lambda moment: moment.timetuple().tm_yday - 1),
    "getHours": [*_field(lambda moment: moment.hour), _whole(3600 * _SECOND)],
    "getMinutes": [*_field(lambda moment: moment.minute), _whole(60 * _SECOND)],
    "getSeconds": [*_field(lambda moment: moment.second), _whole(_SECOND)],
    "getMilliseconds": [
        method(TIMESTAMP, to=INT, run=_milliseconds),
        method(TIMESTAMP, STRING, to=INT, run=_milliseconds),
        _whole(10**6),
    ],
}
