"""What one pod of a class adds to the columns of its node, in the form in which it is added."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """Columns, so that one operation covers every resource and every row."""

    lines: IntArray
    amounts: IntArray
    scoring: IntArray


def load_of(requests: Sequence[tuple[int, int]], scoring: tuple[int, int]) -> Load:
    return Load(
        lines=np.array([[index] for index, _ in requests], dtype=np.int64),
        amounts=np.array([[amount] for _, amount in requests], dtype=np.int64),
        scoring=np.array([[amount] for amount in scoring], dtype=np.int64),
    )
