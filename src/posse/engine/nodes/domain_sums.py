"""Columns summed by domain. After a change of a few rows only these are updated.

Sums do not refer to their owner, who reads the column: the two would outlive what they were made for.
"""

from collections.abc import Callable

import numpy as np

from posse.engine.nodes.arrays import IntArray, tally
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.topology_domains import Domains

Read = Callable[[IntArray], IntArray]
"""Returns the present amounts for rows, in one dimension or two."""


class DomainSums:
    def __init__(self, nodes: NodeTable, domains: Domains) -> None:
        self.domains = domains
        self._nodes = nodes
        self._amounts = np.empty(0, dtype=np.int64)
        """Amounts of the rows of all domains, as included in the sums."""
        self._sums = np.empty(0, dtype=np.int64)
        self._version = -1

    def present(self, read: Read) -> IntArray:
        """The current sums; read-only."""
        if self._version == self._nodes.version:
            return self._sums
        touched = self._nodes.touched_since(self._version) if self._version >= 0 else None
        if touched is None:
            self._amounts = read(self.domains.members)
            self._sums = self.domains.sums(self._amounts)
        elif touched.size:
            self._follow(tally(touched)[0], read)
        self._version = self._nodes.version
        return self._sums

    def _follow(self, rows: IntArray, read: Read) -> None:
        places = self.domains.places_of(rows, self._nodes.alive.size)
        after = read(self.domains.members[places])
        change = after - self._amounts[..., places]
        # Transposed, so that domains come first.
        np.add.at(self._sums.T, self.domains.numbers_at(places), change.T)
        self._amounts[..., places] = after
