"""One rollout: the queue played forward in virtual time, with run times that were drawn for it.

What runs ends at its drawn time. Whenever something has ended, what waits is tried in the order of the queue,
and whatever fits starts. Where the queue policy reserves capacity, it is reserved for the first units that do
not fit, and others start beside it, or end before it is needed.
"""

import heapq
import math
from collections.abc import Sequence

import numpy as np

from posse.engine.forecast.forecast_problem import ForecastProblem
from posse.engine.nodes.arrays import BoolArray, FloatArray, IntArray
from posse.solver.divided_capacity import DividedCapacity
from posse.solver.rollout_capacity import Amounts, RolloutCapacity
from posse.solver.rollout_queue import RolloutQueue
from posse.solver.rollout_reservation import ReservationPlanner, RolloutReservation, joined

MAX_STEPS = 2_000
"""Of one rollout. What has not started by then counts as not started."""
HORIZON_SECONDS = 365 * 86400.0
_PRECISION = 0.04
"""Ends are taken together that are no farther apart than this share of the time until then, or a second."""
_MAX_MISSES = 4
"""Units that get no reservation and are passed over, as in the engine."""
_STARTED = 1 << 50


class QueueRollout:
    def __init__(
        self,
        problem: ForecastProblem,
        capacity: RolloutCapacity,
        run_times: FloatArray,
        own: Sequence[Amounts],
    ) -> None:
        """`run_times` of what runs, from now on, and of what waits; `own`: what each running unit holds."""
        self._problem = problem
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
        self._safe = np.array([unit.safe for unit in problem.waiting])
        self._priority = np.array([unit.priority for unit in problem.waiting], dtype=np.int64)
        self._queue = RolloutQueue(problem)
        self._planner = ReservationPlanner(problem)
        self._capacity = DividedCapacity(capacity, self._planner.present(problem.reserved))
        self._denied: dict[int, float] = {}
        """Units that get no reservation before some time."""
        self.starts = np.full(len(problem.waiting), math.inf)
        self.awaited = np.full(len(problem.waiting), -1)

    def play(self) -> None:
        self._start_what_fits(0.0, -1)
        for _ in range(MAX_STEPS):
            if not self._ends or np.isfinite(self.starts).all():
                return
            moment, ended = self._next_ends()
            self._capacity.give_back(joined([self._held.pop(unit) for unit in ended]))
            self._start_what_fits(moment, ended[-1])

    def _next_ends(self) -> tuple[float, list[int]]:
        moment, unit = heapq.heappop(self._ends)
        ended, until = [unit], moment + max(1.0, _PRECISION * moment)
        while self._ends and self._ends[0][0] <= until:
            moment, unit = heapq.heappop(self._ends)
            ended.append(unit)
        return moment, ended

    def _start_what_fits(self, moment: float, ended: int) -> None:
        """In order. For a unit that does not fit capacity is reserved before those behind it are tried."""
        self._queue.advance(moment)
        capacity, order = self._capacity, self._queue.order
        capacity.release([one for one in capacity.reservations if not self._lasts(one, moment)])
        bound = capacity.bound(moment + self._safe, self._priority)
        refused: list[int] = []
        while True:
            fitting = self._fitting_beside(bound)
            fitting[refused] = False
            places = fitting[order].nonzero()[0]
            if not places.size:
                return
            place = int(order[places[0]])
            owed = self._owed(moment, place)
            if owed is not None:
                self._reserve(owed, moment)
            else:
                taken = capacity.take(self._problem.waiting[place], int(bound[place]))
                if taken is None:
                    refused.append(place)
                    continue
                self._start(place, moment, ended, taken)
                if all(one.place != place for one in capacity.reservations):
                    continue
                self._release(place)
            bound = capacity.bound(moment + self._safe, self._priority)

    def _owed(self, moment: float, before: int) -> int | None:
        """The first unit that may get a reservation, if it comes before another that fits."""
        reservations, most = self._capacity.reservations, self._problem.reservations
        if len(reservations) >= most:
            return None
        holders = [one.place for one in reservations]
        for place in self._queue.eligible(self.starts == math.inf, most + _MAX_MISSES):
            if place == before or self._queue.is_before(before, place):
                return None
            if place not in holders and moment >= self._denied.get(place, -math.inf):
                return place
        return None

    def _reserve(self, place: int, moment: float) -> None:
        """For a unit, unless it never fits, or too much would stand idle for it."""
        unit, ends = self._problem.waiting[place], sorted(self._ends)
        freed = [(end, self._held[one]) for end, one in ends]
        capacity = self._capacity
        plan = self._planner.plan(place, unit, capacity.whole, capacity.reservations, freed, moment)
        if plan is None:
            self._denied[place] = math.inf
        elif self._lasts(plan, moment):
            capacity.reserve(plan)
        else:
            # Too much would stand idle; or its parts fit now one by one, and not together.
            self._denied[place] = max(self._denied.get(place, 0.0), math.nextafter(moment, math.inf))

    def _lasts(self, reservation: RolloutReservation, moment: float) -> bool:
        """Whether its time has not come, and what is held for it is not too much beside its wait."""
        place = reservation.place
        unit = self._problem.waiting[place]
        if unit.idle_share < math.inf and not self._queue.has_aged[place]:
            allowed_from = self._planner.allowed_from(unit, reservation)
            if moment < allowed_from:
                self._denied[place] = min(allowed_from, reservation.begins)
                return False
        return moment < reservation.begins

    def _release(self, holder: int) -> None:
        """It has started. What never fitted beside its reservation may fit now."""
        self._capacity.release([one for one in self._capacity.reservations if one.place == holder])
        self._denied = {place: until for place, until in self._denied.items() if until < math.inf}

    def _fitting_beside(self, bound: IntArray) -> BoolArray:
        """What fits into the capacity that the reservations which bind it leave."""
        fitting = self._fitting(self._capacity.whole)
        if self._capacity.reservations:
            for bits in dict.fromkeys(bound[fitting].tolist()):
                if bits:
                    fitting &= (bound != bits) | self._fitting(self._capacity.beside(bits))
        return fitting

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
