"""Ranks of single rows, remembered by what they follow from: capacity, usage, and pods added on top.

Clusters consist of many equal nodes. Where the rank of a row follows from its resources alone, a row in a state that was
seen before need not be worked out again; for a few rows that is far cheaper than a pass over arrays.
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

    def ranks(self, rows: IntArray, pods: int) -> IntArray:
        """Rows without a node are left to the caller."""
        keys = [(self._nodes.resource_state(row), pods) for row in rows.tolist()]
        known = [self._known.get(key) for key in keys]
        if None in known:
            computed = self._compute(rows, pods)
            if len(self._known) > _MOST_REMEMBERED:
                self._known.clear()
            self._known.update(zip(keys, computed.tolist(), strict=True))
            return computed
        return np.array(known, dtype=np.int64)
