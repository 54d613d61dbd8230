"""Free capacity in a rollout beside reservations. Units differ in which of these they must leave alone."""

from collections.abc import Sequence

import numpy as np

from posse.engine.forecast.forecast_problem import WaitingUnit
from posse.engine.nodes.arrays import FloatArray, IntArray
from posse.solver.rollout_capacity import Amounts, RolloutCapacity
from posse.solver.rollout_reservation import RolloutReservation, amounts_of, joined

_TAKEN = np.array([[1], [1], [-1]])
"""Turns amounts that are given back into amounts that are taken."""

Bits = int
"""A set of reservations, by their places in the list."""


class DividedCapacity:
    def __init__(self, capacity: RolloutCapacity, present: Sequence[RolloutReservation]) -> None:
        self.whole = capacity
        self.reservations = list(present)
        self._beside: dict[Bits, RolloutCapacity] = {0: capacity}

    def beside(self, bits: Bits) -> RolloutCapacity:
        """What is free if these reservations are left alone."""
        found = self._beside.get(bits)
        if found is None:
            found = self._beside[bits] = self.whole.copy()
            held = [one.held for number, one in enumerate(self.reservations) if bits >> number & 1]
            found.hold(amounts_of(np.sum(held, axis=0)))
        return found

    def take(self, unit: WaitingUnit, bits: Bits) -> Amounts | None:
        taken = self.beside(bits).take(unit.parts, unit.topology_key)
        if taken is not None:
            for other, capacity in self._beside.items():
                if other != bits:
                    capacity.hold(taken)
        return taken

    def give_back(self, freed: Amounts) -> None:
        """Something has ended. What a reservation waits for is held from now on."""
        held = [one.has_come(freed) * _TAKEN for one in self.reservations]
        for bits, capacity in self._beside.items():
            kept = [amounts for number, amounts in enumerate(held) if bits >> number & 1]
            capacity.give_back(joined([freed, *kept]))

    def reserve(self, reservation: RolloutReservation) -> None:
        self.reservations.append(reservation)

    def release(self, over: Sequence[RolloutReservation]) -> None:
        if over:
            self.reservations = [one for one in self.reservations if one not in over]
            self._beside = {0: self.whole}

    def bound(self, ends: FloatArray, priority: IntArray) -> IntArray:
        """By unit, the reservations that it must leave alone, if it starts now and ends then.

        A unit with a reservation leaves alone those that were made before its own.
        """
        bound = np.zeros(ends.size, dtype=np.int64)
        for number, one in enumerate(self.reservations):
            binds = (ends > one.begins) & (priority <= priority[one.place])
            binds[[before.place for before in self.reservations[: number + 1]]] = False
            bound[binds] |= 1 << number
        return bound
