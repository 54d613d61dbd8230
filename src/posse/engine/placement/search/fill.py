"""Placing pods that are alike: exactly what taking the best node for one after the other gives, a wave at a time.

Nodes of equal rank take turns. Where placing a pod changes the rank of its own node only, all nodes that share the best
rank get their turn in one step, each with as many pods as it would receive before the next one's turn comes.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.node_scores import NodeScores
from posse.engine.state.pod_record import PodRecord


def fill(
    state: ClusterState, draft: Draft, scheduling_class: SchedulingClass, records: Sequence[PodRecord]
) -> int:
    """Place as many of `records` as fit, in their order; returns how many."""
    scores = state.scores(scheduling_class)
    placed = 0
    while placed < len(records):
        rows = scores.best_rows()
        if not rows.size:
            break
        if scores.is_row_local and len(records) - placed > 1:
            placed += _place_wave(state, draft, scores, _in_turn(rows, state.turn), records[placed:])
        else:
            _place_one(state, draft, rows, records[placed])
            placed += 1
    return placed


def _place_one(state: ClusterState, draft: Draft, rows: IntArray, record: PodRecord) -> None:
    first = int(np.searchsorted(rows, state.turn)) % rows.size
    draft.place([record], rows[first : first + 1])


def _place_wave(
    state: ClusterState, draft: Draft, scores: NodeScores, rows: IntArray, waiting: Sequence[PodRecord]
) -> int:
    """Give each of the best rows its burst, as long as pods are left."""
    rows = rows[: len(waiting)]
    version = state.nodes.version
    lengths, after = scores.bursts(rows, len(waiting))
    turns = np.repeat(rows, lengths)
    draft.place(waiting[: turns.size], turns[: len(waiting)])
    if after is not None and turns.size <= len(waiting):
        scores.adopt(rows, after, version)
    return min(turns.size, len(waiting))


def _in_turn(rows: IntArray, turn: int) -> IntArray:
    start = int(np.searchsorted(rows, turn))
    return np.concatenate((rows[start:], rows[:start])) if 0 < start < rows.size else rows
