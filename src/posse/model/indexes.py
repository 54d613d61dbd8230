"""Sets of completion indexes as Kubernetes writes them: `0,2-4` for 0, 2, 3 and 4. Two neighbours print as
`1,2`.

A range costs the same however many indexes it has: nine characters may stand for two thousand million.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

_RANGE = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?")
_WORTH_A_DASH = 3


class IndexesError(ValueError):
    """The text is no list of ascending indexes below the limit."""


class Indexes:
    """A set of indexes, kept as ranges."""

    __slots__ = ("_ranges",)

    def __init__(self, ranges: Iterable[range] = ()) -> None:
        # Ascending, and with a gap between any two.
        self._ranges: list[range] = []
        for one in sorted((one for one in ranges if one), key=lambda one: one.start):
            if self._ranges and one.start <= self._ranges[-1].stop:
                last = self._ranges[-1]
                self._ranges[-1] = range(last.start, max(last.stop, one.stop))
            else:
                self._ranges.append(one)

    def __len__(self) -> int:
        return sum(map(len, self._ranges))

    def __contains__(self, index: int) -> bool:
        position = self._position(index)
        return position >= 0 and index < self._ranges[position].stop

    def __or__(self, other: "Indexes") -> "Indexes":
        return Indexes([*self._ranges, *other._ranges])

    def __sub__(self, other: "Indexes") -> "Indexes":
        return Indexes(
            range(max(own.start, gap.start), min(own.stop, gap.stop))
            for own in self._ranges
            for gap in other.gaps_in(own)
        )

    def with_all(self, indexes: Iterable[int]) -> "Indexes":
        return Indexes([*self._ranges, *(range(index, index + 1) for index in indexes)])

    def missing(self, below: int) -> Iterator[int]:
        """All others below the limit, in ascending order."""
        for gap in self.gaps_in(range(below)):
            yield from gap

    def gaps_in(self, whole: range) -> Iterator[range]:
        """What the range has between ours."""
        start = whole.start
        for one in self._ranges[max(0, self._position(whole.start)) :]:
            if one.start >= whole.stop:
                break
            if one.start > start:
                yield range(start, one.start)
            start = max(start, one.stop)
        if start < whole.stop:
            yield range(start, whole.stop)

    def __str__(self) -> str:
        return ",".join(text for one in self._ranges for text in _texts(one))

    def _position(self, index: int) -> int:
        """Of the last range that begins at or below the index; -1 if none does."""
        return bisect_right(self._ranges, index, key=lambda one: one.start) - 1


def parse_indexes(text: str, below: int) -> Indexes:
    """Each part must lie above the one before it."""
    ranges: list[range] = []
    for part in text.split(",") if text else ():
        found = _RANGE.fullmatch(part)
        if not found:
            raise IndexesError(f'"{part}" is neither an index nor a range such as 2-4')
        first, last = int(found[1]), int(found[2] or found[1])
        if (found[2] and first >= last) or (ranges and first < ranges[-1].stop):
            raise IndexesError(f'non-increasing order at "{part}"')
        if last >= below:
            raise IndexesError(f'"{part}" is not below the number of completions, {below}')
        ranges.append(range(first, last + 1))
    return Indexes(ranges)


def known_indexes(text: str, below: int) -> Indexes:
    """Read indexes that a controller wrote: what is out of range by now, or was never an index, does not
    count.
    """
    return Indexes(_range_below(part, below) for part in text.split(","))


def _range_below(part: str, below: int) -> range:
    found = _RANGE.fullmatch(part)
    if not found:
        return range(0)
    return range(int(found[1]), min(int(found[2] or found[1]) + 1, below))


def _texts(one: range) -> Iterable[str]:
    return [f"{one.start}-{one.stop - 1}"] if len(one) >= _WORTH_A_DASH else map(str, one)
