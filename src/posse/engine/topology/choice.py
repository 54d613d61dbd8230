"""The best domain for a group: most points for how full it would be and how many pods it takes, as in kube-scheduler.

Exactly what trying every domain would give, but only those are tried whose promise is as good as the best result so far.
Of equally good domains the first by name is taken.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from posse.engine.arrays import BoolArray, IntArray
from posse.engine.cluster_state import ClusterState
from posse.engine.draft import Draft
from posse.engine.profile import DomainScoring
from posse.engine.topology.fullness import Fullness
from posse.engine.topology.outlook import Outlook

MOST_TRIED = 256
"""Domains that are tried at most for one group. Bounds usually leave one; the rest is for pods with rules between them."""

_FULL_MARKS = 100

Number = TypeVar("Number", int, IntArray)

PlaceHere = Callable[[], int]
"""Place pods on the rows the state is confined to, leaving them in the draft. Returns how many; none if that is too few."""


@dataclass(slots=True)
class DomainChoice:
    state: ClusterState
    draft: Draft
    outlook: Outlook
    least: int
    """Domains that promise fewer pods are hopeless."""
    place: PlaceHere
    scoring: DomainScoring
    attached: int = 0
    """Pods that are there already; they count as found wherever the rest goes."""
    tried: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Pods that found a place, and points for fullness; of domains that were tried, whether that was enough or not."""
    _standing: int | None = None
    """The domain whose placements are in the draft."""
    _start: int = 0

    def run(self) -> int | None:
        """The number of the best domain, its placements in the draft; None, and nothing in the draft, if there is none."""
        self._start = self.draft.checkpoint()
        while len(self.tried) < MOST_TRIED and (number := self._promising()) is not None:
            self._try(number)
        best = self._best()
        if best is None:
            self._undo()
        elif best != self._standing:
            self._try(best)
        return best

    @property
    def left_over(self) -> bool:
        """Whether domains that might do were not tried."""
        return bool(self._untried().any())

    def _untried(self) -> BoolArray:
        left = np.greater_equal(self.outlook.counts, self.least)
        left[list(self.tried)] = False
        return left

    def _promising(self) -> int | None:
        """The next domain to try: the best promise of all that could still be the answer."""
        left, counts = self._untried(), self.outlook.counts
        if not left.any():
            return None
        most, best = self._most_placed(), self._best()
        top = int(counts[left].max())
        if best is None or top > most:
            # As long as the largest number of pods is not certain, no two domains can be compared.
            eligible, promise = left & np.equal(counts, top), self.outlook.fullness
        else:
            promise = self._points(counts, self.outlook.fullness, most)
            beaten = self._points(*self.tried[best], most)
            earlier = np.arange(counts.size) < best
            eligible = left & (np.greater(promise, beaten) | (np.equal(promise, beaten) & earlier))
        numbers = np.flatnonzero(eligible)
        return int(numbers[np.argmax(promise[numbers])]) if numbers.size else None

    def _try(self, number: int) -> None:
        self._undo()
        rows = self.outlook.domains.rows(number)
        with self.state.confined(rows):
            placed = self.place()
        fullness = Fullness(self.state.nodes, self.scoring.resources).points_of(rows) if placed else 0
        self.tried[number] = placed, fullness
        self._standing = number

    def _undo(self) -> None:
        self.draft.roll_back(self._start)
        self._standing = None

    def _best(self) -> int | None:
        enough = [number for number, (placed, _) in self.tried.items() if placed]
        most = self._most_placed()
        return max(enough, key=lambda one: (self._points(*self.tried[one], most), -one), default=None)

    def _most_placed(self) -> int:
        return max((placed for placed, _ in self.tried.values()), default=0)

    def _points(self, counts: Number, fullness: Number, most: int) -> Number:
        """With so many pods placed where most of them were."""
        share = (self.attached + counts) * _FULL_MARKS // (self.attached + most)
        return self.scoring.count_weight * share + self.scoring.fullness_weight * fullness
