"""Place as many members as must start by enumerating sequences of pods, in a bounded number of steps.

Each pod goes where rules allow it at that moment, beside the pods before it. A sequence also decides which
members are placed, and their order where rules depend on it. Sequences that put the same pods on equal nodes
are tried once.
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


class SearchEnd(Enum):
    FOUND = "as many as must start are in the draft"
    THROUGH = "no way was left out, and none leads there"
    CUT_SHORT = "the steps allowed did not suffice"
    OUT_OF_REACH = "there are more pods to place than steps"


@dataclass(frozen=True, slots=True)
class _Sort:
    """Members that are indistinguishable."""

    scheduling_class: SchedulingClass
    records: tuple[PodRecord, ...]
    scores: NodeScores
    most_left: MostLeft
    totals: list[int]
    """The score of each row before any of them was placed: high scores are tried first."""
    comes_any_time: bool
    """Their order is irrelevant to all rules, so they come last, one sort after the other."""


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
        """Counts by row, where any were placed."""
        self._seen: dict[tuple[tuple[int, _Counts], ...], None] = {}
        """States reached before; they led nowhere, except for those on the current path."""

    def run(self) -> SearchEnd:
        """If a placement is found, the pods are in the draft; otherwise the draft is unchanged."""
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
                return SearchEnd.CUT_SHORT if affordable else SearchEnd.OUT_OF_REACH
            elif self._make(move):
                path.append(move)
                if len(path) == self._needed:
                    return SearchEnd.FOUND
                moves.append(self._moves())
        return SearchEnd.THROUGH

    def _make(self, move: _Move) -> bool:
        """Place the pod, unless that leads to a state seen before."""
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
        """All possible next moves; empty if too few pods can be placed from here."""
        open_sorts = [number for number in self._in_turn() if self._waiting(number)]
        places = {number: self._sorts[number].scores.takes_one() for number in open_sorts}
        most = sum(
            self._sorts[number].most_left.of(self._waiting(number), there) for number, there in places.items()
        )
        if most < self._needed - sum(self._placed):
            return iter(())
        return iter([(number, row) for number, there in places.items() for row in self._rows(number, there)])

    def _in_turn(self) -> range:
        """Sorts with pods that may come next."""
        begun = [
            number for number, sort in enumerate(self._sorts) if sort.comes_any_time and self._placed[number]
        ]
        return range(begun[-1] if begun else 0, len(self._sorts))

    def _waiting(self, number: int) -> int:
        return len(self._sorts[number].records) - self._placed[number]

    def _rows(self, number: int, places: BoolArray) -> list[int]:
        """One of each set of equal rows.

        First rows with members, since that closes the fewest others, then the best.
        """
        names, totals = self._state.nodes.names, self._sorts[number].totals
        rows = np.flatnonzero(places).tolist()
        rows.sort(key=lambda row: (row not in self._on, -totals[row], names[row]))
        distinct: dict[tuple[int, _Counts], int] = {}
        for row in rows:
            distinct.setdefault((self._likeness[row], self._on.get(row, self._nobody)), row)
        return list(distinct.values())


def _sorts(state: ClusterState, members: Sequence[PodRecord]) -> list[_Sort]:
    """Sorts whose order is relevant first, then those with the fewest feasible nodes, then the largest."""
    alike: dict[tuple[SchedulingClass, tuple[Column, ...]], list[PodRecord]] = {}
    for record in members:
        # Pods of one class see others equally, but others may still count them differently.
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
    """The counts on which the rules of these pods depend, so that order is relevant to them."""
    if not state.rules(scheduling_class).is_orderless:
        yield from (state.census.column(query) for query in scheduling_class.pod_class.queries)
