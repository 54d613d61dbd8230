"""Semantic versions, as devices state them (`2.0.0-rc.1`). Build metadata does not count in comparisons."""

import re
from functools import total_ordering

_NUMERIC = r"(?:0|[1-9][0-9]*)"
_IDENTIFIER = rf"(?:{_NUMERIC}|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_STRICT = re.compile(
    rf"({_NUMERIC})\.({_NUMERIC})\.({_NUMERIC})"
    rf"(?:-({_IDENTIFIER}(?:\.{_IDENTIFIER})*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?"
)
_LOOSE = re.compile(r"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?((?:[-+].*)?)")
_LENGTH_MAX = 1000


@total_ordering
class Semver:
    __slots__ = ("major", "minor", "patch", "prerelease")

    def __init__(self, major: int, minor: int, patch: int, prerelease: str) -> None:
        self.major, self.minor, self.patch = major, minor, patch
        self.prerelease = prerelease

    def _rank(self) -> tuple[object, ...]:
        # A release comes after its pre-releases; numbers come before words, and a shorter list first.
        parts = tuple(
            (0, int(part), "") if part.isdigit() else (1, 0, part)
            for part in self.prerelease.split(".")
            if part
        )
        return self.major, self.minor, self.patch, not parts, parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self._rank() == other._rank()

    def __lt__(self, other: "Semver") -> bool:
        return self._rank() < other._rank()

    def __hash__(self) -> int:
        return hash(self._rank())


def parse_semver(text: str, normalize: bool = False) -> Semver | None:
    """None if the text is no version. `normalize` lets `v1.2` pass, and leading zeros."""
    if len(text) > _LENGTH_MAX:
        return None
    if normalize and (loose := _LOOSE.fullmatch(text)):
        numbers = (str(int(number or "0")) for number in loose.group(1, 2, 3))
        text = ".".join(numbers) + loose.group(4)
    found = _STRICT.fullmatch(text)
    if found is None:
        return None
    return Semver(int(found.group(1)), int(found.group(2)), int(found.group(3)), found.group(4) or "")
