"""The array types of the engine's columns, and how rows are picked from them."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Rows = slice | IntArray
Lines = slice | IntArray

ALL_ROWS = slice(None)


def tally(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct rows, and how often each occurs."""
    counts = Counter(rows.tolist())
    return np.array(list(counts), dtype=np.int64), np.array(list(counts.values()), dtype=np.int64)


def lines_at(indexes: Sequence[int]) -> Lines:
    """Lines of a table to `pick`: as a slice where they lie side by side, which is read much quicker."""
    if list(indexes) == list(range(indexes[0], indexes[0] + len(indexes))):
        return slice(indexes[0], indexes[0] + len(indexes))
    return np.array(indexes, dtype=np.int64)


def pick(table: IntArray, lines: Lines, rows: Rows) -> IntArray:
    """Some lines of a table, at some rows only."""
    if isinstance(rows, slice):
        picked: IntArray = table[lines, rows]
    else:
        picked = (
            table[lines].take(rows, axis=1) if isinstance(lines, slice) else table.take(rows, axis=1)[lines]
        )
    return picked
