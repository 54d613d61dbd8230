"""Node labels as columns of small integers, one per key that some rule uses.

A column holds the id of the node's value, or ABSENT. Selectors become comparisons of integers, and a topology
key's column is the domain of each node. Unused keys cost nothing.
"""

from collections.abc import Mapping
from weakref import WeakValueDictionary

import numpy as np

from posse.engine.nodes.arrays import IntArray

ABSENT = -1


class LabelColumn:
    def __init__(self, size: int) -> None:
        self.ids: IntArray = np.full(size, ABSENT, dtype=np.int64)
        self.values: list[str] = []
        """The value behind each id; ids are never reused."""
        self._id_of: dict[str, int] = {}
        self._nodes_with: list[int] = []
        """How many nodes have each value."""
        self._shared = 0
        """Values that more than one node has."""

    @property
    def is_one_to_one(self) -> bool:
        """Whether no two nodes share a value, as with host names: each node is then its own domain."""
        return not self._shared

    def put(self, row: int, value: str | None) -> None:
        self._count(int(self.ids[row]), -1)
        self.ids[row] = ABSENT if value is None else self._intern(value)
        self._count(int(self.ids[row]), 1)

    def fill(self, values: Mapping[int, str]) -> None:
        """Put the values of many rows in a column that has none yet."""
        rows = sorted(values)
        in_order = list(map(values.__getitem__, rows))
        self.values = list(dict.fromkeys(in_order))
        self._id_of = {value: number for number, value in enumerate(self.values)}
        ids = np.fromiter(map(self._id_of.__getitem__, in_order), dtype=np.int64, count=len(rows))
        self.ids[rows] = ids
        self._nodes_with = np.bincount(ids, minlength=len(self.values)).tolist()
        self._shared = sum(nodes > 1 for nodes in self._nodes_with)

    def _intern(self, value: str) -> int:
        known = self._id_of.get(value)
        if known is None:
            known = self._id_of[value] = len(self.values)
            self.values.append(value)
            self._nodes_with.append(0)
        return known

    def _count(self, known: int, change: int) -> None:
        if known != ABSENT:
            was_shared = self._nodes_with[known] > 1
            self._nodes_with[known] += change
            self._shared += (self._nodes_with[known] > 1) - was_shared

    def id_of(self, value: str) -> int:
        """The id of a value, or one that no node has."""
        return self._id_of.get(value, ABSENT - 1)

    def grow(self, size: int) -> None:
        self.ids = np.pad(self.ids, (0, size - self.ids.size), constant_values=ABSENT)


class LabelColumns:
    def __init__(self, size: int) -> None:
        self._size = size
        self._columns: dict[str, LabelColumn] = {}
        """Of keys that some node has or had."""
        self._absent: WeakValueDictionary[str, LabelColumn] = WeakValueDictionary()
        """Of other keys. They last as long as rules use them, so that pods cannot fill the memory."""
        self._labels: dict[int, Mapping[str, str]] = {}
        self._values: dict[str, dict[int, str]] = {}
        """The labels once more: the value of each row, by key."""

    def column(self, key: str) -> LabelColumn:
        column = self._columns.get(key) or self._absent.get(key)
        if column is not None:
            return column
        column = LabelColumn(self._size)
        values = self._values.get(key)
        if values is None:
            self._absent[key] = column
            return column
        self._columns[key] = column
        column.fill(values)
        return column

    def put(self, row: int, labels: Mapping[str, str]) -> None:
        before, self._labels[row] = self._labels.get(row, {}), labels
        for key in before:
            if key not in labels:
                self._remove(key, row)
        for key, value in labels.items():
            if before.get(key) != value:
                values = self._values.get(key)
                if values is None:
                    values = self._take_key(key)
                values[row] = value
                if key in self._columns:
                    self._columns[key].put(row, value)

    def _remove(self, key: str, row: int) -> None:
        del self._values[key][row]
        if key in self._columns:
            self._columns[key].put(row, None)

    def _take_key(self, key: str) -> dict[int, str]:
        """A node has the key for the first time: from now on its column stays."""
        column = self._absent.pop(key, None)
        if column is not None:
            self._columns[key] = column
        values = self._values[key] = {}
        return values

    def grow(self, size: int) -> None:
        self._size = size
        for column in (*self._columns.values(), *self._absent.values()):
            column.grow(size)
