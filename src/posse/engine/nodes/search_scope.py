"""Which rows a search may use at the moment: all of them, unless it is confined to some, such as the nodes of one rack.

Only where pods may go is confined. What rules know of the cluster, such as how pods are spread, stays the whole of it.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray


class SearchScope:
    def __init__(self) -> None:
        self.rows: IntArray | None = None
        """In ascending order; None where a search may use all."""
        self._inside: BoolArray | None = None

    @contextmanager
    def within(self, rows: IntArray) -> Iterator[None]:
        """Use these rows only; inside of confines, some of theirs."""
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
