"""Rollouts: the queue played forward in virtual time, each time with other run times.

In a rollout, what runs ends at a drawn time. Whenever something has ended, what waits is tried in the order
of the queue, and whatever fits starts. Where the queue policy reserves capacity, it does so for the first
that does not fit. Nothing arrives, no node comes or fails, and nothing is preempted.
"""

import heapq
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

import numpy as np

from posse.engine.forecast.forecast_problem import ForecastProblem, StartEstimate
from posse.engine.nodes.arrays import BoolArray, FloatArray, IntArray
from posse.solver.rollout_capacity import Amounts, RolloutCapacity
from posse.solver.rollout_reservation import RolloutReservation

ROLLOUTS = 16
MAX_STEPS = 2_000
"""Of one rollout. What has not started by then counts as not started."""
HORIZON_SECONDS = 365 * 86400.0
_PRECISION = 0.01
"""Ends are taken together that are no farther apart than this share of the time until then, or a second."""
_STARTED = 1 << 50


class _Rollout:
    def __init__(
        self,
        problem: ForecastProblem,
        capacity: RolloutCapacity,
        run_times: FloatArray,
        own: Sequence[Amounts],
    ) -> None:
        """`run_times` of what runs, from now on, and of what waits; `own`: what each running unit holds."""
        self._problem = problem
        self._capacity = capacity
        self._run_times = run_times
        self._held = dict(enumerate(own))
        self._ends = [
            (float(end), unit) for unit, end in enumerate(run_times[: len(own)]) if end < HORIZON_SECONDS
        ]
        heapq.heapify(self._ends)
        parts = [
            (place, shape, pods, unit.topology_key)
            for place, unit in enumerate(problem.waiting)
            for shape, pods in unit.parts
        ]
        self._place, self._shape, self._pods, self._key = np.array(parts, dtype=np.int64).reshape(-1, 4).T
        self._first_part = np.searchsorted(self._place, np.arange(len(problem.waiting)))
        self._safe = np.array([problem.spreads[unit.spread].safe for unit in problem.waiting])
        self._reserving = [place for place, unit in enumerate(problem.waiting) if unit.is_reserved_for][::-1]
        """Units for which capacity is reserved when their turn comes; the next one last."""
        self._reservation: RolloutReservation | None = None
        self.starts = np.full(len(problem.waiting), math.inf)
        self.awaited = np.full(len(problem.waiting), -1)

    def play(self) -> None:
        self._start_what_fits(0.0, -1)
        for _ in range(MAX_STEPS):
            if not self._ends or np.isfinite(self.starts).all():
                return
            moment, ended = self._next_ends()
            freed = _joined([self._held.pop(unit) for unit in ended])
            self._capacity.give_back(freed)
            if self._reservation is not None:
                self._reservation.has_come(freed, moment)
            self._start_what_fits(moment, ended[-1])

    def _next_ends(self) -> tuple[float, list[int]]:
        moment, unit = heapq.heappop(self._ends)
        ended, until = [unit], moment + max(1.0, _PRECISION * moment)
        while self._ends and self._ends[0][0] <= until:
            moment, unit = heapq.heappop(self._ends)
            ended.append(unit)
        return moment, ended

    def _start_what_fits(self, moment: float, ended: int) -> None:
        """In order, and beside the capacity that is held for the first that does not fit."""
        places = np.arange(len(self.starts))
        while (head := self._head()) is not None:
            if not self._fitting(self._capacity).any():
                return
            self._start_fitting(moment, ended, places <= head)
            if self.starts[head] < math.inf:
                continue
            if not self._fitting(self._capacity).any():
                return
            reservation = self._reservation_for(head, moment)
            if reservation is not None:
                self._start_beside(reservation, moment, ended)
                return
            # It never fits, so it holds up no others.
            self._reserving.pop()
        self._start_fitting(moment, ended, places >= 0)

    def _start_beside(self, reservation: RolloutReservation, moment: float, ended: int) -> None:
        """Start what fits outside a reservation, and what ends before it begins."""
        is_short = moment + self._safe <= reservation.begins
        self._start_fitting(moment, ended, is_short)
        held, beside = reservation.held(), self._capacity.copy()
        beside.hold(held)
        if not (self._fitting(beside) & ~is_short).any():
            return
        self._capacity.hold(held)
        self._start_fitting(moment, ended, ~is_short)
        self._capacity.give_back(held)

    def _head(self) -> int | None:
        """The first that has not started and for which capacity is reserved."""
        while self._reserving and self.starts[self._reserving[-1]] < math.inf:
            self._reserving.pop()
        return self._reserving[-1] if self._reserving else None

    def _reservation_for(self, head: int, moment: float) -> RolloutReservation | None:
        """When and where it fits by what ends until then; None if it never does."""
        known = self._reservation
        if known is not None and known.place == head and moment < known.begins:
            return known
        unit, ends = self._problem.waiting[head], sorted(self._ends)
        each = [self._held[one] for _, one in ends]
        freed, offsets = _joined(each), np.cumsum([0, *(one.shape[1] for one in each)])

        def freed_by(count: int) -> Amounts:
            return freed[:, : int(offsets[count])]

        count = bisect_left(
            range(len(ends)),
            True,
            key=lambda count: self._capacity.may_fit_after(freed_by(count), unit.parts, unit.topology_key),
        )
        taken = self._capacity.taken_after(freed_by(count), unit.parts, unit.topology_key)
        if taken is None:
            return None
        begins = ends[count - 1][0] if count else moment
        self._reservation = RolloutReservation(head, begins, self._capacity.shape, taken, freed_by(count))
        return self._reservation

    def _start_fitting(self, moment: float, ended: int, wanted: BoolArray) -> None:
        """Start what fits of these units, in order."""
        after = 0
        while True:
            places = (self._fitting(self._capacity) & wanted)[after:].nonzero()[0]
            if not places.size:
                return
            place = after + int(places[0])
            after = place + 1
            unit = self._problem.waiting[place]
            taken = self._capacity.take(unit.parts, unit.topology_key)
            if taken is not None:
                self._start(place, moment, ended, taken)

    def _fitting(self, capacity: RolloutCapacity) -> BoolArray:
        """What has not started, and of which every part fits by itself."""
        enough = capacity.most()[self._key, self._shape] >= self._pods
        fitting: BoolArray = np.logical_and.reduceat(enough, self._first_part)
        return fitting

    def _start(self, place: int, moment: float, ended: int, taken: Amounts) -> None:
        self._pods[self._place == place] = _STARTED
        self.starts[place], self.awaited[place] = moment, ended
        number = len(self._problem.running) + place
        self._held[number] = taken
        end = moment + float(self._run_times[number])
        if end < HORIZON_SECONDS:
            heapq.heappush(self._ends, (end, number))


def estimate_starts(problem: ForecastProblem, seed: int = 0, rollouts: int = ROLLOUTS) -> list[StartEstimate]:
    """When everything that waits starts. Equal problems and seeds give equal answers."""
    if not problem.waiting:
        return []
    run_times = _drawn(problem, seed, rollouts)
    own = [
        np.array((unit.resources, unit.rows, unit.amounts), dtype=np.int64).reshape(3, -1)
        for unit in problem.running
    ]
    capacity = RolloutCapacity(problem)
    starts, awaited = [], []
    for number in range(rollouts):
        rollout = _Rollout(problem, capacity.copy(), run_times[number], own)
        rollout.play()
        starts.append(rollout.starts)
        awaited.append(rollout.awaited)
    ordered, deciding = np.sort(np.array(starts), axis=0).T, np.array(awaited).T
    held = problem.all_held()
    return [
        StartEstimate(
            tuple(one.tolist()),
            _most_often(which),
            bool(one[-1] < math.inf) or capacity.may_fit_after(held, unit.parts, unit.topology_key),
        )
        for one, which, unit in zip(ordered, deciding, problem.waiting, strict=True)
    ]


def _drawn(problem: ForecastProblem, seed: int, rollouts: int) -> FloatArray:
    """Run times by rollout and unit: every part of a distribution occurs equally often over the rollouts."""
    draws = np.random.default_rng(seed)
    units = [(unit.spread, unit.age) for unit in problem.running] + [
        (unit.spread, 0.0) for unit in problem.waiting
    ]
    parts = np.tile(np.arange(rollouts, dtype=np.float64), (len(units), 1))
    shares = (draws.permuted(parts, axis=1) + draws.random(parts.shape)) / rollouts
    rows = [
        np.maximum(problem.spreads[spread].drawn(age, own) - age, 0.0)
        for (spread, age), own in zip(units, shares, strict=True)
    ]
    return np.array(rows).T


def _joined(amounts: Sequence[Amounts]) -> Amounts:
    return np.concatenate(amounts, axis=1) if amounts else np.zeros((3, 0), dtype=np.int64)


def _most_often(which: IntArray) -> int | None:
    counts = Counter(one for one in which.tolist() if one >= 0)
    return min(counts, key=lambda one: (-counts[one], one)) if counts else None
