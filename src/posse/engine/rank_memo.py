"""Ranks of single rows, remembered by what they follow from: capacity, usage, and pods added on top.

Clusters consist of many equal nodes. Where the rank of a row follows from its resources alone, a row in a state that was
seen before need not be worked out again; one by one that is far cheaper than a pass over arrays, as long as they are few.
"""

from collections.abc import Callable

import numpy as np

from posse.engine.arrays import IntArray
from posse.engine.node_table import NodeTable

FEW = 8
"""Rows for which looking up one by one beats computing all at once."""

_MOST_REMEMBERED = 50_000


class RankMemo:
    def __init__(self, nodes: NodeTable, compute: Callable[[IntArray, int], IntArray]) -> None:
        self._nodes = nodes
        self._compute = compute
        """Works ranks out for rows that each have some pods more."""
        self._known: dict[tuple[bytes, int], int] = {}

    def rank(self, row: int, pods: int) -> int:
        """A row without a node is left to the caller."""
        key = (self._nodes.resource_state(row), pods)
        known = self._known.get(key)
        if known is None:
            if len(self._known) > _MOST_REMEMBERED:
                self._known.clear()
            known = self._known[key] = int(self._compute(np.array([row]), pods)[0])
        return known
