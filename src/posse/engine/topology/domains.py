"""The domains of a label key: the nodes that share a value of it, as runs of rows. Nodes without the label belong to none.

They follow from the label columns, which are kept up to date as nodes come and change, and are worked out again only after
that. What is on the nodes makes no difference here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.arrays import IntArray
from posse.engine.confines import Confines
from posse.engine.label_columns import ABSENT, LabelColumn
from posse.engine.node_table import NodeTable


@dataclass(frozen=True, slots=True, eq=False)
class Domains:
    """Numbered in the order of their values as text."""

    key: str
    values: tuple[str, ...]
    _rows: IntArray
    """Of all domains, those of the first one first, ascending inside of each."""
    _starts: IntArray
    """Where each begins, and behind them the end."""

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, number: int) -> IntArray:
        """Of one domain, in ascending order."""
        return self._rows[self._starts[number] : self._starts[number + 1]]

    def only(self, numbers: Sequence[int]) -> "Domains":
        """Some of them, in this order."""
        rows = [self.rows(number) for number in numbers]
        starts = np.cumsum([0, *(part.size for part in rows)])
        together = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
        return Domains(self.key, tuple(self.values[number] for number in numbers), together, starts)

    def sums(self, columns: IntArray) -> IntArray:
        """What a column, or each of several, adds up to in every domain. Exact, also for amounts beyond 2^53."""
        if not self.values:
            return np.zeros((*columns.shape[:-1], 0), dtype=np.int64)
        summed: IntArray = np.add.reduceat(columns[..., self._rows], self._starts[:-1], axis=-1)
        return summed


class DomainBook:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._known: dict[str, tuple[int, Domains]] = {}
        """With the version of the descriptions of nodes that they agree with."""

    def of(self, key: str, confines: Confines) -> Domains:
        column = self._nodes.labels.column(key)
        if confines.rows is not None:
            return _divided(key, column, confines.rows)
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
    starts = np.concatenate(([0], np.cumsum(np.bincount(numbers, minlength=len(values)))))
    by_domain = rows[np.argsort(numbers, kind="stable")]
    return Domains(key, tuple(values[one] for one in in_order), by_domain, starts)
