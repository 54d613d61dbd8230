"""Numbers for the resource states of rows: rows of one number have equal capacity and usage.

What follows from the resources of a node alone is computed once for all rows of a number. A row is read once
after each change, however many scheduling classes ask for it.
"""

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.node_table import NodeTable

MAX_STATES = 50_000
MAX_STATE_BYTES = 32 * 1024 * 1024
"""Beyond these, numbering starts again: what is remembered by number must not grow without limit."""
_UNKNOWN = -1
_MAX_ROWS = MAX_STATES // 4
"""More rows are not numbered all at once: they might use up all numbers."""
_FEW_READS = 2
"""Reads of all rows, by any scheduling class, before it pays to number the rows."""


class RowStates:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._numbers: dict[bytes, int] = {}
        self._bytes = 0
        """Of all states that have a number."""
        self._number_of: IntArray = np.empty(0, dtype=np.int64)
        """By row; unknown if the row has changed since it was read."""
        self._version = -1
        """Version of the node table that these agree with."""
        self.generation = 0
        """Grows when numbering starts again."""
        self._full_reads = 0
        """How often all rows were read."""

    @property
    def count(self) -> int:
        """All numbers are below this."""
        return len(self._numbers)

    def pays_for_all(self) -> bool:
        """Whether numbers of all rows are quicker than reading all rows. Each call is one such read."""
        self._full_reads += 1
        return self._full_reads > _FEW_READS and self._nodes.row_count <= _MAX_ROWS

    def of(self, rows: IntArray) -> IntArray:
        """The numbers of these rows; a row may occur several times."""
        self._forget_changed()
        if len(self._numbers) > MAX_STATES or self._bytes > MAX_STATE_BYTES:
            self._numbers.clear()
            self._bytes = 0
            self._number_of[:] = _UNKNOWN
            self.generation += 1
        numbers: IntArray = self._number_of[rows]
        if numbers.size and numbers[numbers.argmin()] == _UNKNOWN:
            unread = rows[numbers == _UNKNOWN]
            self._number_of[unread] = self._read(unread)
            numbers = self._number_of[rows]
        return numbers

    def _forget_changed(self) -> None:
        nodes = self._nodes
        if self._version == nodes.version and self._number_of.size == nodes.alive.size:
            return
        changed = nodes.touched_since(self._version)
        if changed is None or self._number_of.size != nodes.alive.size:
            self._number_of = np.full(nodes.alive.size, _UNKNOWN, dtype=np.int64)
        else:
            self._number_of[changed] = _UNKNOWN
        self._version = nodes.version

    def _read(self, rows: IntArray) -> list[int]:
        numbers, states = self._numbers, self._nodes.resource_states(rows)
        before = len(numbers)
        found = [numbers.setdefault(state, len(numbers)) for state in states]
        self._bytes += (len(numbers) - before) * len(states[0])
        return found
