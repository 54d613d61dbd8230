"""Chooses the best domain for a group by utilization and number of pods, as kube-scheduler does.

The result equals that of trying every domain, but only domains whose bound matches the best result so far are
tried. Ties go to the first domain by name.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.placement.gang.domain_bounds import DomainBounds
from posse.engine.rules.profile import DomainScoring
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft

MAX_TRIED = 256
"""Domains tried at most for one group.

Bounds usually leave one; more are needed for pods with rules between them.
"""

_FULL_MARKS = 100

PlaceHere = Callable[[], int]
"""Place pods on the rows that the state is confined to and leave them in the draft.

Returns their number; 0 if too few.
"""

Number = TypeVar("Number", int, IntArray)


@dataclass(slots=True)
class DomainChoice:
    state: ClusterState
    draft: Draft
    bounds: DomainBounds
    least: int
    """Domains with a lower bound on pods than this are infeasible."""
    place: PlaceHere
    scoring: DomainScoring
    attached: int = 0
    """Pods that are on nodes already; they count as placed in every domain."""
    only: int | None = None
    """The only domain allowed, if given."""
    among: BoolArray | None = None
    """The domains allowed, if given."""
    tried: dict[int, tuple[int, int]] = field(default_factory=dict)
    """For each domain tried: the pods placed (0 if too few), and the utilization points."""
    _effective_priority: int | None = None
    """The domain whose placements are in the draft."""
    _start: int = 0

    def run(self) -> int | None:
        """The number of the best domain, with its placements in the draft; None if none fits."""
        self._start = self.draft.checkpoint()
        best = self._search()
        if best is None:
            self._undo()
        elif best != self._effective_priority:
            self._try(best)
        return best

    @property
    def left_over(self) -> bool:
        """Whether feasible domains may remain that were not tried."""
        return bool(self._untried().any())

    def _search(self) -> int | None:
        left, counts, points = self._untried(), self.bounds.counts, self.bounds.points
        while len(self.tried) < MAX_TRIED and left.any():
            # The most pods that any domain takes, as far as is known: points are relative to it.
            top, most = int(counts[left].max()), self._most_placed()
            promises = np.where(left, self._points(counts, points, max(top, most)), -1)
            number = int(np.argmax(promises))
            best = self._best(max(top, most))
            if best is not None and not self._beats(number, int(promises[number]), best, max(top, most)):
                if most >= top:
                    break
                number = int(np.argmax(left & np.equal(counts, top)))
            self._try(number)
            left[number] = False
            placed, _ = self.tried[number]
            if best is None and placed == int(counts[number]) == top:
                # It reaches its bound, and no other bound is higher.
                return number
        return self._best(self._most_placed())

    def _beats(self, number: int, promise: int, best: int, most: int) -> bool:
        return (promise, -number) > (self._points(*self.tried[best], most), -best)

    def _untried(self) -> BoolArray:
        left = np.greater_equal(self.bounds.counts, self.least)
        if self.only is not None:
            left &= np.equal(np.arange(left.size), self.only)
        if self.among is not None:
            left &= self.among
        if self.tried:
            left[list(self.tried)] = False
        return left

    def _try(self, number: int) -> None:
        self._undo()
        with self.state.confined(self.bounds.domains.rows(number)):
            placed = self.place()
        points = int(self.bounds.points[number])
        if placed != self.bounds.counts[number]:
            points = self.bounds.utilization.points_of(number) if placed else 0
        self.tried[number] = placed, points
        self._effective_priority = number

    def _undo(self) -> None:
        self.draft.roll_back(self._start)
        self._effective_priority = None

    def _best(self, most: int) -> int | None:
        enough = [number for number, (placed, _) in self.tried.items() if placed]
        return max(enough, key=lambda one: (self._points(*self.tried[one], most), -one), default=None)

    def _most_placed(self) -> int:
        return max((placed for placed, _ in self.tried.values()), default=0)

    def _points(self, counts: Number, points: Number, most: int) -> Number:
        """Points for this many placed pods, relative to the most placed in any domain."""
        share = (self.attached + counts) * _FULL_MARKS // (self.attached + most)
        return self.scoring.count_weight * share + self.scoring.fullness_weight * points
