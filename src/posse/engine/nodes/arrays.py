"""The array types of the engine's columns, and how rows are picked from them."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Rows = slice | IntArray
Lines = slice | IntArray

ALL_ROWS = slice(None)


def resized(columns: IntArray, shape: tuple[int, ...]) -> IntArray:
    """A copy with as many lines and rows as wanted: new ones are zero, others are cut off."""
    result = np.zeros(shape, dtype=np.int64)
    lines, rows = (min(pair) for pair in zip(columns.shape, shape, strict=True))
    result[:lines, :rows] = columns[:lines, :rows]
    return result


def tally(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct rows, and how often each occurs."""
    counts = Counter(rows.tolist())
    return np.array(list(counts), dtype=np.int64), np.array(list(counts.values()), dtype=np.int64)
