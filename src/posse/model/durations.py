"""Durations as Go writes them, such as 1h30m."""

import re

_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:h|ms|m|us|µs|ns|s))+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(h|ms|m|us|µs|ns|s)")
_MAX_LENGTH = 64


def parse_duration(text: str) -> float | None:
    """Seconds; None if the text is no duration. Zero needs no unit."""
    if text == "0":
        return 0.0
    if len(text) > _MAX_LENGTH or not _DURATION.fullmatch(text):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
