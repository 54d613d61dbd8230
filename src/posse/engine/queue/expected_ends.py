"""When capacity is expected to become free, and the earliest time at which a refused entry then fits."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from posse.engine.nodes.arrays import BoolArray, FloatArray, IntArray
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


@dataclass(frozen=True, slots=True, eq=False)
class _NodeEnds:
    """When pods of one node are expected to end, and what that frees; read again only when it changes."""

    row: int
    uids: tuple[str, ...]
    keys: tuple[Key, ...]
    stale_at: float
    """An expectation has to be made again then."""
    ends: FloatArray
    """Of those pods that are expected to end."""
    arrivals: IntArray
    counts: IntArray
    """How many amounts each of them frees."""
    amounts: IntArray
    """Resource, row and amount."""
    is_uncertain: bool
    """No limit ends one of them."""

    def holds(self, row: int, there: Mapping[str, PodRecord], now: float) -> bool:
        return now < self.stale_at and self.row == row and self.uids == tuple(there)


_NOTHING = np.zeros(0, dtype=np.int64)
_NO_NODE = _NodeEnds(-1, (), (), math.inf, np.zeros(0), _NOTHING, _NOTHING, np.zeros((3, 0), np.int64), False)


class ExpectedEnds:
    def __init__(self, state: ClusterState, run_times: RunTimes) -> None:
        self._state = state
        self._run_times = run_times
        self._known: dict[Key, tuple[float, float]] = {}
        """Expected ends of running pods and groups, and the age at which that was expected."""
        self._nodes: dict[str, _NodeEnds] = {}
        self._running: Counter[Key] = Counter()
        """How many pods of each of them run on these nodes."""
        self._ends: FloatArray = np.zeros(0)
        """Of every pod that is expected to end, in order."""
        self._amounts = np.zeros((3, 0), dtype=np.int64)
        """What they free, in the same order: resource, row and amount."""
        self._offsets: IntArray = np.zeros(1, dtype=np.int64)
        """How many of these amounts the first so many pods free."""
        self.is_uncertain: BoolArray = np.zeros(0, dtype=np.bool_)
        """By row: whether the end of any pod there is expected, and no limit ends it."""

    def forget(self, keys: Iterable[Key], nodes: Iterable[str]) -> None:
        """What is known of these pods and groups, which run on these nodes, does not hold any more."""
        for key in keys:
            self._known.pop(key, None)
        for node in nodes:
            if node in self._nodes:
                self._nodes[node] = replace(self._nodes[node], stale_at=-math.inf)

    def renew(self, now: float) -> None:
        """Expect ends for what runs now. Expectations that are over, or far older by now, are made again."""
        row_of, before, self._nodes = self._state.nodes.row_of, self._nodes, {}
        changed: list[tuple[str, Mapping[str, PodRecord], _NodeEnds]] = []
        for node, there in self._state.attached_by_node():
            known = before.pop(node, _NO_NODE)
            if known.holds(row_of[node], there, now):
                self._nodes[node] = known
                continue
            changed.append((node, there, known))
            self._forget_gone(known, there)
        for known in before.values():
            self._forget_gone(known, {})
        for node, there, known in changed:
            self._nodes[node] = self._read(row_of[node], there, now)
            self._note_new(known, there)
        self._join()

    def _forget_gone(self, known: _NodeEnds, there: Mapping[str, PodRecord]) -> None:
        """A group that has left all nodes may run again, which is another run."""
        for uid, key in zip(known.uids, known.keys, strict=True):
            if uid not in there:
                self._running[key] -= 1
                if not self._running[key]:
                    del self._running[key]
                    self._known.pop(key, None)

    def _note_new(self, known: _NodeEnds, there: Mapping[str, PodRecord]) -> None:
        old = dict.fromkeys(known.uids)
        for uid, record in there.items():
            if uid not in old:
                self._running[_key(record)] += 1

    def _join(self) -> None:
        """Put the pods of all nodes in the order in which they end."""
        every = [*self._nodes.values()] or [_NO_NODE]
        ends = np.concatenate([one.ends for one in every])
        counts = np.concatenate([one.counts for one in every])
        order = np.lexsort((np.concatenate([one.arrivals for one in every]), ends))
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        in_order = np.argsort(np.repeat(place, counts), kind="stable")
        self._ends = ends[order]
        self._amounts = np.concatenate([one.amounts for one in every], axis=1)[:, in_order]
        self._offsets = np.concatenate([[0], np.cumsum(counts[order])])
        self.is_uncertain = np.zeros(self._state.nodes.alive.size, dtype=np.bool_)
        self.is_uncertain[[one.row for one in every if one.is_uncertain]] = True

    def _read(self, row: int, there: Mapping[str, PodRecord], now: float) -> _NodeEnds:
        keys, stale_at, ends, ending = [], math.inf, [], []
        for record in there.values():
            key = _key(record)
            end, stale = self._expected(key, record, now)
            keys.append(key)
            stale_at = min(stale_at, stale)
            if end < math.inf:
                ends.append(end)
                ending.append(record)
        jobs = self._run_times.jobs
        amounts = [(index, row, amount) for record in ending for index, amount in record.pod_class.requests]
        return _NodeEnds(
            row,
            tuple(there),
            tuple(keys),
            stale_at,
            np.array(ends),
            np.array([record.arrival for record in ending], dtype=np.int64),
            np.array([len(record.pod_class.requests) for record in ending], dtype=np.int64),
            np.array(amounts, dtype=np.int64).reshape(-1, 3).T,
            any(jobs.nominal_limit([record]) == math.inf for record in ending),
        )

    def _expected(self, key: Key, record: PodRecord, now: float) -> tuple[float, float]:
        """When it ends, and when that has to be expected again."""
        started, known = started_at(record), self._known.get(key)
        if started == math.inf:
            return known[0] if known is not None else math.inf, now + _SOON_SECONDS
        age = max(0.0, now - started)
        if known is None or known[0] <= now or age > known[1] * _STALE_GROWTH + _SOON_SECONDS:
            expected = self._run_times.of_record(record, age).usual
            known = self._known[key] = max(started + expected, now + _SOON_SECONDS), age
        return known[0], min(known[0], started + known[1] * _STALE_GROWTH + _SOON_SECONDS)

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
        begins = float(self._ends[count - 1]) if count else now
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
        resources, rows, amounts = self._amounts[:, : int(self._offsets[count])]
        np.add.at(freed, (resources, rows), amounts)
        return freed


def _key(record: PodRecord) -> Key:
    return record.group if record.group is not None else record.ref.uid
