"""Sets of completion indexes as Kubernetes writes them: `0,2-4` for 0, 2, 3 and 4. Two neighbours print as
`1,2`.
"""

import re
from collections.abc import Collection, Iterator

_RANGE = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?")


class IndexesError(ValueError):
    """The text is no list of ascending indexes below the limit."""


def parse_indexes(text: str, below: int) -> list[int]:
    """Return the indexes in ascending order; each part must lie above the one before it."""
    indexes: list[int] = []
    for part in text.split(",") if text else ():
        found = _RANGE.fullmatch(part)
        if not found:
            raise IndexesError(f'"{part}" is neither an index nor a range such as 2-4')
        first, last = int(found[1]), int(found[2] or found[1])
        if (found[2] and first >= last) or (indexes and first <= indexes[-1]):
            raise IndexesError(f'non-increasing order at "{part}"')
        if last >= below:
            raise IndexesError(f'"{part}" is not below the number of completions, {below}')
        indexes.extend(range(first, last + 1))
    return indexes


def known_indexes(text: str, below: int) -> set[int]:
    """Read indexes that a controller wrote: what is out of range by now, or was never an index, does not
    count.
    """
    return {index for part in text.split(",") for index in _range_below(part, below)}


def format_indexes(indexes: Collection[int]) -> str:
    return ",".join(_runs(sorted(indexes)))


def _range_below(part: str, below: int) -> range:
    found = _RANGE.fullmatch(part)
    if not found:
        return range(0)
    return range(int(found[1]), min(int(found[2] or found[1]) + 1, below))


def _runs(indexes: list[int]) -> Iterator[str]:
    position = 0
    while position < len(indexes):
        end = position
        while end + 1 < len(indexes) and indexes[end + 1] == indexes[end] + 1:
            end += 1
        # A range is worth its dash from three members on.
        if end - position >= 2:
            yield f"{indexes[position]}-{indexes[end]}"
            position = end + 1
        else:
            yield str(indexes[position])
            position += 1
