"""Free capacity in a rollout, and how many pods of each shape it takes, kept row by row."""

import numpy as np

from posse.engine.forecast.forecast_problem import ANYWHERE, ForecastProblem
from posse.engine.nodes.arrays import IntArray

_MANY = 1 << 40
"""Pods that a node takes of a shape that requests nothing."""

Amounts = IntArray
"""Resources, rows and amounts, in three rows."""


class RolloutCapacity:
    def __init__(self, problem: ForecastProblem) -> None:
        self._free = problem.free_amounts()
        self._requests = np.array(problem.shapes, dtype=np.int64).reshape(-1, problem.resource_count)
        self._most = np.where(problem.openings(), _MANY, 0)
        """By shape and row, before resources count."""
        self._asking = [
            (resource, wanted.nonzero()[0], wanted[wanted > 0][:, None])
            for resource, wanted in enumerate(self._requests.T)
            if wanted.any()
        ]
        """The resources that are requested: the shapes that request them, and how much."""
        self._domains = problem.domain_numbers()
        self._room = np.zeros(self._most.shape, dtype=np.int64)
        sizes = [int(one.max(initial=-1)) + 1 for one in self._domains]
        self._totals = [np.zeros((size + 1, len(problem.shapes)), dtype=np.int64) for size in (0, *sizes)]
        """By topology key, the first of which is none: pods by domain and shape; the last is no domain."""
        self._count_again(np.arange(problem.node_count))

    def copy(self) -> "RolloutCapacity":
        made = object.__new__(RolloutCapacity)
        made._requests, made._most, made._asking = self._requests, self._most, self._asking
        made._domains = self._domains
        made._free, made._room = self._free.copy(), self._room.copy()
        made._totals = [one.copy() for one in self._totals]
        return made

    def most(self) -> IntArray:
        """Pods of each shape that fit into the best domain of each key; anywhere is the last row."""
        within = [one[:-1].max(axis=0, initial=0) for one in self._totals[1:]]
        return np.array([*within, self._totals[0][-1]])

    def give_back(self, amounts: Amounts) -> None:
        resources, rows, freed = amounts
        if rows.size:
            np.add.at(self._free, (resources, rows), freed)
            self._count_again(np.bincount(rows).nonzero()[0])

    def take(self, parts: tuple[tuple[int, int], ...], key: int) -> Amounts | None:
        """Place so many pods of each shape on the fullest nodes that take them; None if they do not fit."""
        domain = self._tightest(parts, key)
        taken: list[Amounts] = []
        for shape, pods in parts:
            found = self._taken(shape, pods, key, domain)
            if found is None:
                for one in taken:
                    self.give_back(one)
                return None
            taken.append(found)
        return np.concatenate(taken, axis=1)

    def free(self) -> IntArray:
        """A copy of what is free, by resource and row."""
        return self._free.copy()

    def requested(self, parts: tuple[tuple[int, int], ...]) -> IntArray:
        """What all pods of these parts request, by resource."""
        found: IntArray = sum(
            (self._requests[shape] * pods for shape, pods in parts),
            np.zeros(self._requests.shape[1], dtype=np.int64),
        )
        return found

    def may_fit_in(self, free: IntArray, parts: tuple[tuple[int, int], ...], key: int) -> bool:
        """Whether every part by itself would fit if so much were free."""
        enough = np.ones(1, dtype=np.bool_)
        for shape, pods in parts:
            room = np.minimum(self._room_in(free, shape), pods)
            if key == ANYWHERE:
                enough = enough & (int(room.sum()) >= pods)
            else:
                enough = enough & (self._by_domain(room, key) >= pods)
        return bool(np.any(enough))

    def taken_in(self, free: IntArray, parts: tuple[tuple[int, int], ...], key: int) -> Amounts | None:
        """What the parts would take if so much were free; None if they do not fit even then."""
        domain = ANYWHERE
        if key != ANYWHERE:
            spare = [self._by_domain(self._room_in(free, shape), key) - pods for shape, pods in parts]
            domain = _tightest(np.min(spare, axis=0))
        taken: list[Amounts] = []
        for shape, pods in parts:
            found = self._chosen(self._room_in(free, shape), shape, pods, key, domain)
            if found is None:
                return None
            free[found[0], found[1]] -= found[2]
            taken.append(found)
        return np.concatenate(taken, axis=1)

    def _room_in(self, free: IntArray, shape: int) -> IntArray:
        room: IntArray = self._most[shape]
        for resource in self._requests[shape].nonzero()[0].tolist():
            room = np.minimum(room, free[resource] // self._requests[shape, resource])
        return np.maximum(room, 0)

    def _by_domain(self, room: IntArray, key: int) -> IntArray:
        """Pods by domain; a node may be in none."""
        found: IntArray = np.bincount(self._domains[key] + 1, weights=room)[1:].astype(np.int64)
        return found

    def hold(self, amounts: Amounts) -> None:
        """Take these amounts out of what is free."""
        resources, rows, held = amounts
        self.give_back(np.array([resources, rows, -held]))

    def _tightest(self, parts: tuple[tuple[int, int], ...], key: int) -> int:
        """The domain that takes every part by itself with the least left over; -1 for anywhere."""
        if key == ANYWHERE:
            return ANYWHERE
        totals = self._totals[key + 1][:-1]
        return _tightest(np.min([totals[:, shape] - pods for shape, pods in parts], axis=0))

    def _taken(self, shape: int, pods: int, key: int, domain: int) -> Amounts | None:
        amounts = self._chosen(self._room[shape], shape, pods, key, domain)
        if amounts is not None:
            self._free[amounts[0], amounts[1]] -= amounts[2]
            self._count_again(np.bincount(amounts[1]).nonzero()[0])
        return amounts

    def _chosen(self, room: IntArray, shape: int, pods: int, key: int, domain: int) -> Amounts | None:
        """What so many pods take of the fullest rows that take them; None if they do not fit."""
        rows = (room if domain == ANYWHERE else room * (self._domains[key] == domain)).nonzero()[0]
        rows = rows[np.argsort(room[rows], kind="stable")]
        here = np.minimum(room[rows], pods)
        before = np.cumsum(here) - here
        here = np.clip(pods - before, 0, here)
        if int(here.sum()) < pods:
            return None
        rows, here = rows[here > 0], here[here > 0]
        wanted = self._requests[shape].nonzero()[0]
        taken = np.empty((3, wanted.size, rows.size), dtype=np.int64)
        taken[0], taken[1], taken[2] = wanted[:, None], rows, self._requests[shape, wanted][:, None] * here
        return taken.reshape(3, -1)

    def _count_again(self, rows: IntArray) -> None:
        """How many pods of each shape these rows take now."""
        room = self._most[:, rows]
        free = np.maximum(self._free[:, rows], 0)
        for resource, asking, wanted in self._asking:
            room[asking] = np.minimum(room[asking], free[resource] // wanted)
        gained = (room - self._room[:, rows]).T
        self._room[:, rows] = room
        self._totals[0][-1] += gained.sum(axis=0)
        for numbers, totals in zip(self._domains, self._totals[1:], strict=True):
            np.add.at(totals, numbers[rows], gained)


def _tightest(spare: IntArray) -> int:
    """The domain with the least left over of those that have enough."""
    return int(np.argmin(np.where(spare >= 0, spare, _MANY)))
