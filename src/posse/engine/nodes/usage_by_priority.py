"""What pods of each priority request on each node: how much room evicting the less important would make."""

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.node_table import Load, NodeTable


class PriorityUsage:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._requested: dict[int, IntArray] = {}

    def priorities(self) -> list[int]:
        """Every priority that some pod on a node has or had, lowest first."""
        return sorted(self._requested)

    def requested(self, priority: int) -> IntArray:
        """Like the table's own `requested`, for pods of this priority alone."""
        known = self._requested.get(priority)
        shape = self._nodes.requested.shape
        if known is None:
            known = self._requested[priority] = np.zeros(shape, dtype=np.int64)
        elif known.shape != shape:
            more = ((0, shape[0] - known.shape[0]), (0, shape[1] - known.shape[1]))
            known = self._requested[priority] = np.pad(known, more)
        return known

    def above(self, priority: int) -> IntArray:
        """What pods of higher priorities request on each node, in all."""
        total = np.zeros(self._nodes.requested.shape, dtype=np.int64)
        for higher in self.priorities():
            if higher > priority:
                total += self.requested(higher)
        return total

    def below(self, priority: int) -> IntArray:
        """What pods of lower priorities request on each node, in all."""
        total = np.zeros(self._nodes.requested.shape, dtype=np.int64)
        for lower in self.priorities():
            if lower < priority:
                total += self.requested(lower)
        return total

    def add(self, priority: int, rows: IntArray, load: Load, pods: IntArray) -> None:
        """Count that many more pods on each of the rows, which are distinct."""
        self.requested(priority)[load.lines, rows] += load.amounts * pods

    def add_to_row(self, priority: int, row: int, load: Load, pods: int) -> None:
        requested = self.requested(priority)
        for line, amount in load.requests:
            requested[line, row] += amount * pods

    def clear_row(self, row: int) -> None:
        for priority in self._requested:
            self.requested(priority)[:, row] = 0
