"""Placing pods that are alike: exactly what taking the best node for one after the other gives, a wave at a time.

Nodes of equal rank take turns. Where placing a pod changes the rank of its own node only, all nodes that share the best
rank get their turn in one step, each with as many pods as it would receive before the next one's turn comes.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.arrays import IntArray
from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.draft import Draft
from posse.engine.scene import Subject
from posse.engine.view import REFUSED


def fill(state: ClusterState, draft: Draft, subject: Subject, records: Sequence[PodRecord]) -> int:
    """Place as many of `records` as fit, in their order; returns how many."""
    view = state.view(subject)
    placed = 0
    while placed < len(records):
        totals = view.totals()
        best = int(totals.max())
        if best == REFUSED:
            break
        most = len(records) - placed if view.is_row_local else 1
        rows = _in_turn(np.flatnonzero(np.equal(totals, best)), state.turn)[:most]
        if most > 1:
            rows = np.repeat(rows, view.bursts(rows, best, most))[:most]
        draft.place(records[placed : placed + rows.size], rows)
        placed += rows.size
    return placed


def _in_turn(rows: IntArray, turn: int) -> IntArray:
    start = int(np.searchsorted(rows, turn))
    return np.concatenate((rows[start:], rows[:start])) if 0 < start < rows.size else rows
