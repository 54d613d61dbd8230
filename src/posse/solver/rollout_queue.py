"""The order in which units are tried in a rollout. What has waited for long comes before the others."""

import math

import numpy as np

from posse.engine.forecast.forecast_problem import ForecastProblem
from posse.engine.nodes.arrays import BoolArray, IntArray


class RolloutQueue:
    def __init__(self, problem: ForecastProblem) -> None:
        waiting = problem.waiting
        self._priority: IntArray = np.array([unit.priority for unit in waiting], dtype=np.int64)
        self._by_age = np.array([unit.by_age for unit in waiting], dtype=np.int64)
        self._ages_at = np.array([unit.ages_at for unit in waiting])
        self._is_reserved_for = np.array([unit.is_reserved_for for unit in waiting], dtype=np.bool_)
        self.has_aged: BoolArray = np.zeros(len(waiting), dtype=np.bool_)
        self.order: IntArray = np.arange(len(waiting))
        """The units, from the first to the last."""
        self._position: IntArray = self.order
        """By unit: its place in the order."""
        self._next = float(self._ages_at.min(initial=math.inf))
        """When the order changes."""

    def advance(self, moment: float) -> None:
        if moment < self._next:
            return
        self.has_aged = self._ages_at <= moment
        self._next = float(self._ages_at[~self.has_aged].min(initial=math.inf))
        within = np.where(self.has_aged, self._by_age, np.arange(self.order.size))
        self.order = np.lexsort((within, ~self.has_aged, -self._priority))
        self._position = np.argsort(self.order)

    def is_before(self, unit: int, other: int) -> bool:
        return bool(self._position[unit] < self._position[other])

    def eligible(self, is_waiting: BoolArray, most: int) -> list[int]:
        """The first units that wait, and for which capacity may be reserved."""
        may_be = (self._is_reserved_for | self.has_aged) & is_waiting
        found: list[int] = self.order[may_be[self.order]][:most].tolist()
        return found
