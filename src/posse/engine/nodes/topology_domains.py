"""The domains of a label key.

The nodes that share a value, as runs of rows. Nodes without the label are in none.

They are derived from the label columns, and computed again only after nodes change. Pods make no difference
here.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.label_columns import ABSENT, LabelColumn
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.search_scope import SearchScope

_NOWHERE = -1


class Domains:
    """Domains, numbered in the order of their values as text."""

    def __init__(self, key: str, values: Sequence[str], members: IntArray, sizes: IntArray) -> None:
        self.key = key
        self.values = tuple(values)
        self.members = members
        """Rows of all domains, domain by domain, ascending inside of each."""
        self._sizes = sizes
        self._ends = np.cumsum(sizes)
        self._places: IntArray | None = None

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, number: int) -> IntArray:
        """Rows of one domain, in ascending order."""
        end = self._ends[number]
        return self.members[end - self._sizes[number] : end]

    def sums(self, amounts: IntArray) -> IntArray:
        """Exact sums per domain of the amounts of all members, in one dimension or two."""
        if not self.values:
            return np.zeros((*amounts.shape[:-1], 0), dtype=np.int64)
        summed: IntArray = np.add.reduceat(amounts, self._ends - self._sizes, axis=-1)
        return summed

    def places_of(self, rows: IntArray, row_count: int) -> IntArray:
        """Positions of rows among the members, without rows in no domain."""
        if self._places is None or self._places.size < row_count:
            self._places = np.full(row_count, _NOWHERE, dtype=np.int64)
            self._places[self.members] = np.arange(self.members.size)
        places: IntArray = self._places[rows]
        return places[np.not_equal(places, _NOWHERE)]

    def numbers_at(self, places: IntArray) -> IntArray:
        """The domains of members at these positions."""
        return np.searchsorted(self._ends, places, side="right")


class DomainBook:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._known: dict[str, tuple[int, Domains]] = {}
        """Domains with the version of the node descriptions they were computed for."""

    def of(self, key: str, scope: SearchScope) -> Domains:
        column = self._nodes.labels.column(key)
        if scope.rows is not None:
            return _divided(key, column, scope.rows)
        known = self._known.get(key)
        if known is None or known[0] != self._nodes.description_version:
            rows = np.arange(column.ids.size, dtype=np.int64)
            known = self._known[key] = self._nodes.description_version, _divided(key, column, rows)
        return known[1]


def _divided(key: str, column: LabelColumn, rows: IntArray) -> Domains:
    rows = rows[np.not_equal(column.ids[rows], ABSENT)]
    present, which = np.unique(column.ids[rows], return_inverse=True)
    values = [column.values[value] for value in present.tolist()]
    in_order = sorted(range(len(values)), key=values.__getitem__)
    number = np.empty(len(values), dtype=np.int64)
    number[in_order] = np.arange(len(values))
    numbers = number[which]
    members = rows[np.argsort(numbers, kind="stable")]
    sizes = np.bincount(numbers, minlength=len(values))
    return Domains(key, [values[one] for one in in_order], members, sizes)
