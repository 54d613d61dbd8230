"""Capacity that is reserved for a refused entry of the queue: on which nodes, how much, and from when."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.node_table import Load
from posse.engine.queue.backlog import Key


@dataclass(frozen=True, slots=True)
class ReservedShare:
    """A number of pods of one class on one row."""

    row: int
    load: Load
    pods: int


@dataclass(frozen=True, slots=True)
class CapacityReservation:
    key: Key
    priority: int
    until: float
    """It lapses then."""
    shares: tuple[ReservedShare, ...]
    """What counts as taken now."""
    begins: float = math.inf
    """When the entry is expected to start, and what ends before may pass. Infinite where that is unknown."""
    planned: tuple[ReservedShare, ...] = ()
    """Where it is expected to start; some of that is still to become free, and need not be held.

    For a very large gang more is held, on other nodes too.
    """

    @property
    def is_dated(self) -> bool:
        return self.begins < math.inf

    @property
    def rows(self) -> IntArray:
        return np.unique(np.array([share.row for share in (*self.planned, *self.shares)], dtype=np.int64))

    @property
    def resources(self) -> dict[int, None]:
        """Indexes of the resources of which it holds any."""
        return dict.fromkeys(index for share in self.shares for index, _ in share.load.requests)

    def usage(self, shape: tuple[int, ...]) -> IntArray:
        """What it counts for in the columns of requests, which have this shape."""
        return usage_of(self.shares, shape)


def usage_of(shares: Sequence[ReservedShare], shape: tuple[int, ...]) -> IntArray:
    total = np.zeros(shape, dtype=np.int64)
    for share in shares:
        for index, amount in share.load.requests:
            total[index, share.row] += amount * share.pods
    return total
