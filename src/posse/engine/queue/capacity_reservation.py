"""Capacity that is reserved for a refused entry of the queue: on which nodes, how much, and from when."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.node_table import Load, load_of
from posse.engine.queue.backlog import Key

_NO_ROWS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ReservedShare:
    """The same number of pods of one class on each of these rows."""

    rows: IntArray
    load: Load
    pods: int


@dataclass(frozen=True, slots=True, eq=False)
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
        """Rows on which anything counts as taken, or is planned to be used."""
        shares = (*self.planned, *self.shares)
        return np.unique(np.concatenate([_NO_ROWS, *(share.rows for share in shares)]))

    @property
    def resources(self) -> dict[int, None]:
        """Indexes of the resources of which it holds any."""
        return dict.fromkeys(index for share in self.shares for index, _ in share.load.requests)

    def usage(self, shape: tuple[int, ...]) -> IntArray:
        """What it counts for in the columns of requests, which have this shape."""
        return usage_of(self.shares, shape)


def held_by(reservations: Iterable[CapacityReservation], shape: tuple[int, ...]) -> IntArray:
    """What all of them hold together, in the columns of requests."""
    return sum((one.usage(shape) for one in reservations), np.zeros(shape, dtype=np.int64))


def usage_of(shares: Sequence[ReservedShare], shape: tuple[int, ...]) -> IntArray:
    total = np.zeros(shape, dtype=np.int64)
    for share in shares:
        total[share.load.lines, share.rows] += share.load.amounts * share.pods
    return total


def shares_of_amounts(amounts: IntArray) -> tuple[ReservedShare, ...]:
    """What is above zero of these amounts, by resource and row. Rows of equal amounts are one share."""
    rows = np.flatnonzero(np.any(amounts > 0, axis=0))
    if not rows.size:
        return ()
    kinds, which = np.unique(np.maximum(amounts[:, rows], 0), axis=1, return_inverse=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    alike = np.split(rows[order], np.cumsum(np.bincount(which))[:-1])
    return tuple(
        ReservedShare(own, load_of([(index, one) for index, one in enumerate(kind) if one > 0], (0, 0)), 1)
        for own, kind in zip(alike, kinds.T.tolist(), strict=True)
    )
