"""Numbers for the resource states of rows: rows of one number have equal capacity and usage.

What follows from the resources of a node alone is computed once for all rows of a number. A row is read once
after each change, however many scheduling classes ask for it. Where all rows have a number, the rows of each
are counted, too: a class that knows the rank of every such state needs to look at few rows.
"""

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.node_table import NodeTable

MAX_STATES = 50_000
MAX_STATE_BYTES = 32 * 1024 * 1024
"""Beyond these, numbering starts again: what is remembered by number must not grow without limit."""
_FEW_STATES = 4096
_MAX_STATES_PER_ROW = 4
"""Neither may most numbers be those of states that no row is in any more."""
_FEW = 8
"""Changed rows that are numbered one by one."""
_UNKNOWN = -1
NO_LIMIT = np.iinfo(np.int64).max
NO_RANK = -1
"""The highest rank of a state that no row is in: that of a refusal."""
_MAX_ROWS = MAX_STATES // 4
"""More rows are not numbered all at once: they might use up all numbers."""
_ROWS_PER_STATE = 4
"""With fewer rows to a state, following each row that changed is quicker than seeking the best state."""
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
        self._version = self._description_version = -1
        """Versions of the node table that these agree with."""
        self._has_all = False
        """Whether every row with a node has a number, and what is kept by number below agrees with that."""
        self._rows_in: list[int] = []
        """How many rows are in each state."""
        self._row_in: IntArray = np.empty(0, dtype=np.int64)
        """The row that was found in each state last, which may have changed since."""
        self._limits: IntArray = np.empty(0, dtype=np.int64)
        """NO_LIMIT for states that some row is in, NO_RANK for all others."""
        self.generation = 0
        """Grows when numbering starts again."""
        self._full_reads = 0
        """How often all rows were read."""

    @property
    def count(self) -> int:
        """All numbers are below this."""
        return len(self._numbers)

    def note_full_read(self) -> None:
        """A scheduling class has to read all rows."""
        self._full_reads += 1

    @property
    def pays_for_all(self) -> bool:
        """Whether numbers of all rows are quicker than reading all rows."""
        return self._full_reads > _FEW_READS and self._nodes.row_count <= _MAX_ROWS

    @property
    def are_few(self) -> bool:
        """Whether it pays to number all rows, and many rows share a state as far as is known."""
        return self.pays_for_all and len(self._numbers) * _ROWS_PER_STATE <= self._nodes.row_count

    def of(self, rows: IntArray) -> IntArray:
        """The numbers of these rows; a row may occur several times."""
        self._follow_changes()
        numbers: IntArray = self._number_of[rows]
        if numbers.size and numbers[numbers.argmin()] == _UNKNOWN:
            unread = rows[numbers == _UNKNOWN]
            self._number_of[unread] = self._read(unread)
            numbers = self._number_of[rows]
        return numbers

    def of_all(self) -> IntArray:
        """The numbers of all rows, read-only; those of rows without a node mean nothing."""
        self._follow_changes()
        if not self._has_all:
            rows = np.flatnonzero(self._nodes.alive)
            numbers = self.of(rows)
            counts = np.bincount(numbers, minlength=2 * self.count)
            self._rows_in = counts.tolist()
            self._limits = np.where(counts > 0, NO_LIMIT, NO_RANK)
            self._row_in = np.zeros_like(counts)
            self._row_in[numbers] = rows
            self._has_all = True
        return self._number_of

    def limits(self) -> IntArray:
        """What ranks of states are at most, by number: those that no row is in do not count.

        As of the last call of `of_all`.
        """
        return self._limits[: len(self._numbers)]

    def some_rows(self, numbers: IntArray) -> IntArray:
        """A row in each of these states, all of which have one; as of the last call of `of_all`."""
        rows: IntArray = self._row_in[numbers]
        if not np.array_equal(self._number_of[rows], numbers):
            alive = np.flatnonzero(self._nodes.alive)
            self._row_in[self._number_of[alive]] = alive
            rows = self._row_in[numbers]
        return rows

    def _follow_changes(self) -> None:
        nodes = self._nodes
        if self._version == nodes.version and self._number_of.size == nodes.alive.size:
            return
        changed = nodes.touched_since(self._version)
        if changed is None or self._number_of.size != nodes.alive.size:
            self._number_of, self._has_all = np.full(nodes.alive.size, _UNKNOWN, dtype=np.int64), False
        elif (
            self._has_all and changed.size <= _FEW and self._description_version == nodes.description_version
        ):
            for row in changed.tolist():
                self._move(row)
        else:
            self._number_of[changed], self._has_all = _UNKNOWN, False
        self._version, self._description_version = nodes.version, nodes.description_version
        limit = min(MAX_STATES, max(_FEW_STATES, _MAX_STATES_PER_ROW * nodes.row_count))
        if len(self._numbers) > limit or self._bytes > MAX_STATE_BYTES:
            self._start_again()

    def _start_again(self) -> None:
        self._numbers.clear()
        self._bytes = 0
        self._number_of[:], self._has_all = _UNKNOWN, False
        self.generation += 1

    def _move(self, row: int) -> None:
        """Follow a row with a node to the state that it is in now."""
        state, before = self._nodes.resource_state(row), self._number_of[row]
        number = self._numbers.get(state)
        if number is None:
            number = self._add(state)
        self._rows_in[before] -= 1
        if not self._rows_in[before]:
            self._limits[before] = NO_RANK
        self._rows_in[number] += 1
        self._limits[number] = NO_LIMIT
        self._row_in[number] = row
        self._number_of[row] = number

    def _add(self, state: bytes) -> int:
        """Number a state that has none."""
        number = self._numbers[state] = len(self._numbers)
        self._bytes += len(state)
        if number == len(self._rows_in):
            self._rows_in += [0] * (number + 1)
            self._row_in = np.pad(self._row_in, (0, number + 1))
            self._limits = np.pad(self._limits, (0, number + 1), constant_values=NO_RANK)
        return number

    def _read(self, rows: IntArray) -> list[int]:
        numbers, states = self._numbers, self._nodes.resource_states(rows)
        before = len(numbers)
        found = [numbers.setdefault(state, len(numbers)) for state in states]
        self._bytes += (len(numbers) - before) * len(states[0])
        return found
