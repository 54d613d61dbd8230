"""Placing as many members as must start by going through the ways to do it, one pod at a time, in a bounded number of steps.

A way is a sequence: every pod goes where rules let it at that moment, among those that came before. Which members come is part of
it, and so is their order where rules make it matter. Ways that lead to the same pods on equal nodes are gone through once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from posse.engine.nodes.arrays import BoolArray
from posse.engine.placement.search.equivalent_nodes import equal_nodes
from posse.engine.placement.search.fill import open_nodes, share
from posse.engine.placement.search.upper_bound import MostLeft
from posse.engine.pods.census import Column
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.node_scores import NodeScores
from posse.engine.state.pod_record import PodRecord


class Ending(Enum):
    FOUND = "as many as must start are in the draft"
    THROUGH = "no way was left out, and none leads there"
    CUT_SHORT = "the steps allowed did not suffice"
    OUT_OF_REACH = "there are more pods to place than steps"


@dataclass(frozen=True, slots=True)
class _Sort:
    """Members that nobody can tell apart."""

    scheduling_class: SchedulingClass
    records: tuple[PodRecord, ...]
    scores: NodeScores
    most_left: MostLeft
    totals: list[int]
    """How good each row was before anybody of them came: those are tried first."""
    comes_any_time: bool
    """It makes no difference to anybody when these come, so they come last, one sort after the other."""


_Move = tuple[int, int]
"""The number of a sort, and the row that one of its pods goes to."""
_Counts = tuple[int, ...]
"""Pods on a node, by sort."""


class Backtracking:
    def __init__(
        self, state: ClusterState, draft: Draft, members: Sequence[PodRecord], needed: int, steps: int
    ) -> None:
        self.steps_left = steps
        self._state = state
        self._draft = draft
        self._needed = needed
        self._sorts = _sorts(state, members)
        self._likeness: list[int] = equal_nodes(
            state, [sort.scheduling_class for sort in self._sorts]
        ).tolist()
        self._placed = [0] * len(self._sorts)
        self._nobody: _Counts = (0,) * len(self._sorts)
        self._on: dict[int, _Counts] = {}
        """By row, where any were placed."""
        self._seen: dict[tuple[tuple[int, _Counts], ...], None] = {}
        """What has been reached once, and led nowhere unless the search is there now."""

    def run(self) -> Ending:
        """If it is found, the pods are in the draft; otherwise the draft is as it was."""
        start, affordable = self._draft.checkpoint(), self._needed <= self.steps_left
        path: list[_Move] = []
        moves = [self._moves()]
        while moves:
            move = next(moves[-1], None)
            if move is None:
                moves.pop()
                if path:
                    self._take_back(path.pop())
            elif self.steps_left < self._needed - len(path):
                self._draft.roll_back(start)
                return Ending.CUT_SHORT if affordable else Ending.OUT_OF_REACH
            elif self._make(move):
                path.append(move)
                if len(path) == self._needed:
                    return Ending.FOUND
                moves.append(self._moves())
        return Ending.THROUGH

    def _make(self, move: _Move) -> bool:
        """Place the pod, unless that leads where the search has been before."""
        sort, row = move
        self._count(move, 1)
        reached = tuple(sorted((self._likeness[one], counts) for one, counts in self._on.items()))
        if reached in self._seen:
            self._count(move, -1)
            return False
        self._seen[reached] = None
        self.steps_left -= 1
        self._draft.place([self._sorts[sort].records[self._placed[sort] - 1]], np.array([row]))
        return True

    def _take_back(self, move: _Move) -> None:
        self._draft.roll_back(self._draft.checkpoint() - 1)
        self._count(move, -1)

    def _count(self, move: _Move, sign: int) -> None:
        sort, row = move
        self._placed[sort] += sign
        counts = list(self._on.get(row, self._nobody))
        counts[sort] += sign
        if any(counts):
            self._on[row] = tuple(counts)
        else:
            del self._on[row]

    def _moves(self) -> Iterator[_Move]:
        """Whatever may come next, worked out at once; nothing if too few can find a place from here."""
        open_sorts = [number for number in self._in_turn() if self._waiting(number)]
        places = {number: self._sorts[number].scores.takes_one() for number in open_sorts}
        most = sum(
            self._sorts[number].most_left.of(self._waiting(number), there) for number, there in places.items()
        )
        if most < self._needed - sum(self._placed):
            return iter(())
        return iter([(number, row) for number, there in places.items() for row in self._rows(number, there)])

    def _in_turn(self) -> range:
        """Sorts of which somebody may come next."""
        begun = [
            number for number, sort in enumerate(self._sorts) if sort.comes_any_time and self._placed[number]
        ]
        return range(begun[-1] if begun else 0, len(self._sorts))

    def _waiting(self, number: int) -> int:
        return len(self._sorts[number].records) - self._placed[number]

    def _rows(self, number: int, places: BoolArray) -> list[int]:
        """One of those that are equal; where members are already first, since that closes the fewest others, then the best."""
        names, totals = self._state.nodes.names, self._sorts[number].totals
        rows = np.flatnonzero(places).tolist()
        rows.sort(key=lambda row: (row not in self._on, -totals[row], names[row]))
        distinct: dict[tuple[int, _Counts], int] = {}
        for row in rows:
            distinct.setdefault((self._likeness[row], self._on.get(row, self._nobody)), row)
        return list(distinct.values())


def _sorts(state: ClusterState, members: Sequence[PodRecord]) -> list[_Sort]:
    """Those first whose order matters, then those with the smallest choice, then the largest."""
    alike: dict[tuple[SchedulingClass, tuple[Column, ...]], list[PodRecord]] = {}
    for record in members:
        # Pods of one subject see others alike, but others may still count them differently.
        alike.setdefault((state.scheduling_class(record), state.census.matched(record.labels)), []).append(
            record
        )
    counted = dict.fromkeys(
        column for scheduling_class, _ in alike for column in _ordered_by(state, scheduling_class)
    )
    pod_sets = [
        _Sort(
            scheduling_class,
            tuple(records),
            state.scores(scheduling_class),
            MostLeft(state, scheduling_class),
            state.scores(scheduling_class).totals().tolist(),
            state.rules(scheduling_class).is_orderless and not any(column in counted for column in matched),
        )
        for (scheduling_class, matched), records in alike.items()
    ]
    return sorted(
        pod_sets,
        key=lambda sort: (
            sort.comes_any_time,
            open_nodes(state, sort.scheduling_class),
            -share(state, sort.scheduling_class),
        ),
    )


def _ordered_by(state: ClusterState, scheduling_class: SchedulingClass) -> Iterator[Column]:
    """What is counted by pods for which it matters who came before them."""
    if not state.rules(scheduling_class).is_orderless:
        yield from (state.census.column(query) for query in scheduling_class.pod_class.queries)
