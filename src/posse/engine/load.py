"""What one pod of a class adds to the columns of its node, in the form in which it is added."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.arrays import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """As columns, so that one operation covers every resource and every row; and as numbers, for one row alone."""

    lines: IntArray
    amounts: IntArray
    scoring: IntArray
    requests: Sequence[tuple[int, int]]
    scoring_requests: Sequence[int]


def load_of(requests: Sequence[tuple[int, int]], scoring: tuple[int, int]) -> Load:
    return Load(
        lines=np.array([[index] for index, _ in requests], dtype=np.int64),
        amounts=np.array([[amount] for _, amount in requests], dtype=np.int64),
        scoring=np.array([[amount] for amount in scoring], dtype=np.int64),
        requests=requests,
        scoring_requests=scoring,
    )
