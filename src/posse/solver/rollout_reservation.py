"""Capacity that is reserved in a rollout as the queue policy does: for which unit, where, and from when."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

import numpy as np

from posse.engine.forecast.forecast_problem import ForecastProblem, ReservedUnit, WaitingUnit
from posse.engine.nodes.arrays import FloatArray, IntArray
from posse.solver.rollout_capacity import Amounts, RolloutCapacity

_LITTLE = 1e-9
_NOTHING: Amounts = np.zeros((3, 0), dtype=np.int64)
End = tuple[float, Amounts]
"""When a unit ends, and what it frees."""


class RolloutReservation:
    def __init__(self, place: int, begins: float, needed: IntArray, lacking: IntArray) -> None:
        """From `begins` on it needs so much, of which so much is neither held by others nor coming.

        Both by resource and row; what is lacking is below zero where more is coming than it needs.
        """
        self.place = place
        self.begins = begins
        self.needed = needed
        self._lacking = lacking
        self.held = self._held()
        """What must be held now, because nothing that ends before will free it."""

    def has_come(self, amounts: Amounts) -> Amounts:
        """What has ended is free. Return what must be held of it from now on."""
        resources, rows, freed = amounts
        if not self.needed[resources, rows].any():
            return _NOTHING
        np.add.at(self._lacking, (resources, rows), freed)
        before, self.held = self.held, self._held()
        return amounts_of(self.held - before)

    def idle_part(self, totals: FloatArray) -> float:
        """Which part of what it needs is held, by the resource of which it needs most of the cluster."""
        needed = self.needed.sum(axis=1)
        most = int(np.argmax(needed / totals))
        return float(self.held[most].sum() / max(int(needed[most]), 1))

    def _held(self) -> IntArray:
        return np.maximum(np.minimum(self._lacking, self.needed), 0)


class ReservationPlanner:
    def __init__(self, problem: ForecastProblem) -> None:
        free = problem.free_amounts()
        self._shape = free.shape
        total = free.sum(axis=1)
        held = problem.all_held()
        np.add.at(total, held[0], held[2])
        self._totals: FloatArray = np.maximum(total, 1).astype(np.float64)

    def present(self, reserved: Sequence[ReservedUnit]) -> list[RolloutReservation]:
        """The reservations that the engine has now."""
        found = []
        for one in reserved:
            held, planned = (self._filled(np.array(part, dtype=np.int64)) for part in (one.held, one.planned))
            found.append(RolloutReservation(one.place, one.begins, np.maximum(planned, held), held))
        return found

    def plan(
        self,
        place: int,
        unit: WaitingUnit,
        capacity: RolloutCapacity,
        others: Sequence[RolloutReservation],
        ends: Sequence[End],
        moment: float,
    ) -> RolloutReservation | None:
        """When and where it fits beside the others, by what ends until then; None if it never does."""
        free, taken = capacity.free(), np.zeros(self._shape, dtype=np.int64)
        for one in others:
            free -= one.needed
            taken += one.needed - one.held
        freed = joined([amounts for _, amounts in ends])
        offsets = np.cumsum([0, *(amounts.shape[1] for _, amounts in ends)])

        def freed_by(count: int) -> IntArray:
            return self._filled(freed[:, : offsets[count]])

        def fits_by(count: int) -> bool:
            return capacity.may_fit_in(free + freed_by(count), unit.parts, unit.topology_key)

        count = _first(fits_by, self._fewest(capacity.requested(unit.parts), free, freed, offsets), len(ends))
        coming = freed_by(count)
        found = capacity.taken_in(free + coming, unit.parts, unit.topology_key)
        if found is None:
            return None
        needed = self._filled(found)
        begins = ends[count - 1][0] if count else moment
        return RolloutReservation(place, begins, needed, needed - np.maximum(coming - taken, 0))

    def _fewest(self, requested: IntArray, free: IntArray, freed: Amounts, offsets: IntArray) -> int:
        """How many ends it takes at least until so much is free in all, wherever that is."""
        fewest = 0
        for resource, wanted in enumerate(requested.tolist()):
            lacking = wanted - int(np.maximum(free[resource], 0).sum())
            if lacking > 0:
                freed_so_far = np.cumsum(freed[2] * (freed[0] == resource))
                column = int(np.searchsorted(freed_so_far, lacking)) + 1
                fewest = max(fewest, int(np.searchsorted(offsets, column)))
        return min(fewest, offsets.size - 1)

    def allowed_from(self, unit: WaitingUnit, plan: RolloutReservation) -> float:
        """When it gets this reservation: what stands idle must be little beside how long it has waited."""
        idle = plan.idle_part(self._totals)
        return (idle * plan.begins - unit.idle_share * unit.waited) / max(idle + unit.idle_share, _LITTLE)

    def _filled(self, amounts: Amounts) -> IntArray:
        places = amounts[0] * self._shape[1] + amounts[1]
        filled = np.bincount(places, weights=amounts[2], minlength=self._shape[0] * self._shape[1])
        return filled.astype(np.int64).reshape(self._shape)


def _first(fits: Callable[[int], bool], fewest: int, most: int) -> int:
    """The first number from `fewest` on that fits, mostly near it; else `most`."""
    low, step = fewest, 1
    while low < most and not fits(low):
        fewest, low, step = low + 1, min(low + step, most), step * 2
    return fewest + bisect_left(range(fewest, low), True, key=fits)


def joined(amounts: Sequence[Amounts]) -> Amounts:
    return np.concatenate(amounts, axis=1) if amounts else _NOTHING


def amounts_of(filled: IntArray) -> Amounts:
    """What is above zero of these amounts by resource and row."""
    resources, rows = np.nonzero(filled)
    return np.array([resources, rows, filled[resources, rows]])
