"""The rows a search may use now: all, unless it is confined to some, such as the nodes of one rack.

Only the targets of pods are confined. Rules still see the whole cluster, such as the spreading of pods.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray


class SearchScope:
    def __init__(self) -> None:
        self.rows: IntArray | None = None
        """In ascending order; None for all rows."""
        self._inside: BoolArray | None = None

    @contextmanager
    def within(self, rows: IntArray) -> Iterator[None]:
        """Use only these rows, within any outer scope."""
        before = self.rows, self._inside
        self.rows, self._inside = rows, None
        try:
            yield
        finally:
            self.rows, self._inside = before

    def usable(self, alive: BoolArray) -> BoolArray:
        """Return a new column of the rows that have a node and may be used."""
        return alive.copy() if self.rows is None else alive & self.inside(alive.size)

    def inside(self, size: int) -> BoolArray:
        """Of columns of that size: the rows that may be used, where the search is confined."""
        if self._inside is None or self._inside.size != size:
            self._inside = np.zeros(size, dtype=np.bool_)
            self._inside[self.rows] = True
        return self._inside
