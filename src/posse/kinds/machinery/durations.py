"""Durations as kubectl shows them: short, and coarser the longer they are."""

from posse.model.timestamps import TimestampError, parse_timestamp

UNKNOWN = "<unknown>"

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY

# Below the first figure (in seconds), show the second unit and, when there is one, the third beneath it.
_SCALE = (
    (10 * _MINUTE, (_MINUTE, "m"), (1, "s")),
    (3 * _HOUR, (_MINUTE, "m"), None),
    (8 * _HOUR, (_HOUR, "h"), (_MINUTE, "m")),
    (2 * _DAY, (_HOUR, "h"), None),
    (8 * _DAY, (_DAY, "d"), (_HOUR, "h")),
    (2 * _YEAR, (_DAY, "d"), None),
    (8 * _YEAR, (_YEAR, "y"), (_DAY, "d")),
)


def human_duration(seconds: float) -> str:
    """Clocks differ a little between machines, so one second into the future is still now."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 2 * _MINUTE:
        return f"{max(whole, 0)}s"
    for below, (size, unit), finer in _SCALE:
        if whole < below:
            rest = whole % size // finer[0] if finer else 0
            return f"{whole // size}{unit}" + (f"{rest}{finer[1]}" if finer and rest else "")
    return f"{whole // _YEAR}y"


def since(timestamp: object, now: float) -> str:
    """How long ago a time of an object was; times that are absent or make no sense are unknown."""
    if not timestamp or not isinstance(timestamp, str):
        return UNKNOWN
    try:
        return human_duration(now - parse_timestamp(timestamp))
    except TimestampError:
        return UNKNOWN
