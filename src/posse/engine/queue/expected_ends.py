"""When capacity is expected to become free, and the earliest time at which a refused entry then fits."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.queue.backlog import Key
from posse.engine.queue.capacity_reservation import ReservedShare, shares_of_amounts, usage_of
from posse.engine.queue.run_times import RunTimes, started_at
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord

_SOON_SECONDS = 1.0
"""What should have ended by now is expected to end then at the earliest."""
_STALE_GROWTH = 1.5
"""An expectation is made again when the run has become so many times older."""

Placing = Callable[[IntArray], Sequence[ReservedShare] | None]
"""Takes the shares of an entry out of free capacity; None if it does not fit."""


@dataclass(frozen=True, slots=True)
class StartPlan:
    begins: float
    planned: tuple[ReservedShare, ...]
    held: tuple[ReservedShare, ...]
    """What of it must be held now, because nothing that ends before will free it."""


class ExpectedEnds:
    def __init__(self, state: ClusterState, run_times: RunTimes) -> None:
        self._state = state
        self._run_times = run_times
        self._known: dict[Key, tuple[float, float]] = {}
        """Expected ends of running pods and groups, and the age at which that was expected."""
        self._ends: list[float] = []
        """Of every pod that is expected to end, in order."""
        self._amounts = np.zeros((3, 0), dtype=np.int64)
        """What they free, in the same order: resource, row and amount."""
        self._offsets = [0]
        """How many of these amounts the first so many pods free."""
        self.is_uncertain: BoolArray = np.zeros(0, dtype=np.bool_)
        """By row: whether the end of any pod there is expected, and no limit ends it."""

    def forget(self) -> None:
        self._known = {}

    def renew(self, now: float) -> None:
        """Expect ends for what runs now. Expectations that are over, or far older by now, are made again."""
        known, self._known = self._known, {}
        ends: list[tuple[float, int, PodRecord]] = []
        for record in self._state.attached_records():
            key: Key = record.group if record.group is not None else record.ref.uid
            end = self._known.get(key)
            if end is None:
                end = self._known[key] = self._expected(record, known.get(key), now)
            if end[0] < math.inf:
                ends.append((end[0], record.arrival, record))
        ends.sort(key=lambda one: one[:2])
        self._ends = [end for end, _, _ in ends]
        row_of, amounts, self._offsets = self._state.nodes.row_of, [], [0]
        self.is_uncertain = np.zeros(self._state.nodes.alive.size, dtype=np.bool_)
        for _, _, record in ends:
            row = row_of[record.node]
            if self._run_times.jobs.nominal_limit([record]) == math.inf:
                self.is_uncertain[row] = True
            amounts += [(index, row, amount) for index, amount in record.pod_class.requests]
            self._offsets.append(len(amounts))
        self._amounts = np.array(amounts, dtype=np.int64).reshape(-1, 3).T

    def _expected(
        self, record: PodRecord, before: tuple[float, float] | None, now: float
    ) -> tuple[float, float]:
        started = started_at(record)
        age = max(0.0, now - started) if started < math.inf else 0.0
        if before is not None and before[0] > now and age <= before[1] * _STALE_GROWTH + _SOON_SECONDS:
            return before
        if started == math.inf:
            return math.inf, age
        expected = self._run_times.of_record(record, age).usual
        return max(started + expected, now + _SOON_SECONDS), age

    def plan(self, taken: IntArray, place: Placing, now: float) -> StartPlan | None:
        """The earliest start in what is free beside `taken`; None if expected ends are not enough.

        Taken is what others wait for that becomes free.
        """
        nodes = self._state.nodes
        free = nodes.allocatable - nodes.requested - taken
        count = self._fewest_ends(free, place)
        if count is None:
            return None
        freed = self._freed(count, free.shape)
        planned = tuple(place(free + freed) or ())
        begins = self._ends[count - 1] if count else now
        held = shares_of_amounts(usage_of(planned, free.shape) - np.maximum(freed - taken, 0))
        return StartPlan(begins, planned, held)

    def suffice(self, taken: IntArray, place: Placing) -> bool:
        """Whether it fits beside `taken` once all has ended of which an end is expected."""
        nodes = self._state.nodes
        free = nodes.allocatable - nodes.requested - taken
        return bool(place(free + self._freed(len(self._ends), free.shape)))

    def _fewest_ends(self, free: IntArray, place: Placing) -> int | None:
        if not place(free + self._freed(len(self._ends), free.shape)):
            return None
        low, high = -1, len(self._ends)
        while high - low > 1:
            middle = (low + high) // 2
            if place(free + self._freed(middle, free.shape)):
                high = middle
            else:
                low = middle
        return high

    def _freed(self, count: int, shape: tuple[int, ...]) -> IntArray:
        freed = np.zeros(shape, dtype=np.int64)
        resources, rows, amounts = self._amounts[:, : self._offsets[count]]
        np.add.at(freed, (resources, rows), amounts)
        return freed
