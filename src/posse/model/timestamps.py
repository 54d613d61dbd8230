"""Times as Kubernetes writes them (RFC 3339 in UTC), to and from seconds since the epoch.

Reads no clock. Metadata and conditions carry whole seconds; leases and events carry microseconds.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

# ISO 8601 allows more than RFC 3339 does, and Python reads more of it than Kubernetes.
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class TimestampError(ValueError):
    """The text is not a time."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text[:64]!r} is not a time such as 2026-01-31T12:00:00Z")


def parse_timestamp(text: str) -> float:
    """Seconds since the epoch, exact to the microsecond."""
    if not _RFC3339.fullmatch(text):
        raise TimestampError(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise TimestampError(text) from error
    return (moment - _EPOCH) // _MICROSECOND / 1_000_000


def format_timestamp(seconds: float) -> str:
    """Whole seconds, cut off rather than rounded, so that a time never lies in the future:
    2026-01-31T12:00:00Z.
    """
    return _whole_second(round(seconds * 1_000_000) // 1_000_000)


def format_micro_timestamp(seconds: float) -> str:
    """Microseconds, always with six digits: 2026-01-31T12:00:00.250000Z."""
    return _moment(seconds).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@lru_cache(maxsize=1024)
def _whole_second(seconds: int) -> str:
    """Remembered, since a busy server stamps thousands of objects in the same second."""
    return _moment(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def _moment(seconds: float) -> datetime:
    return _EPOCH + timedelta(microseconds=round(seconds * 1_000_000))
