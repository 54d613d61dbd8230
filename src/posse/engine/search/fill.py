"""Placing n pods of one class: exactly what taking the best node n times gives, a wave at a time.

Nodes of equal rank take turns. All nodes that share the best rank get their pod in one step, as long as no node
becomes better than that rank by receiving one; where that happens the wave ends with that node.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.class_columns import REFUSED, ClassColumns
from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.draft import Draft
from posse.engine.node_table import IntArray
from posse.engine.pod_class import PodClass


def fill(state: ClusterState, draft: Draft, pod_class: PodClass, records: Sequence[PodRecord]) -> int:
    """Place as many of `records` as fit, in their order; returns how many."""
    columns = state.columns(pod_class)
    placed = 0
    while placed < len(records):
        rank = columns.rank()
        best = int(rank.max())
        if best == REFUSED:
            break
        rows = _in_turn(np.flatnonzero(np.equal(rank, best)), state.turn)[: len(records) - placed]
        placed += _place_wave(draft, columns, pod_class, records[placed : placed + rows.size], rows)
    return placed


def _in_turn(rows: IntArray, turn: int) -> IntArray:
    start = int(np.searchsorted(rows, turn))
    return np.concatenate((rows[start:], rows[:start])) if 0 < start < rows.size else rows


def _place_wave(
    draft: Draft, columns: ClassColumns, pod_class: PodClass, records: Sequence[PodRecord], rows: IntArray
) -> int:
    best = columns.rank()[rows[0]]
    before = draft.checkpoint()
    draft.place(pod_class, records, rows)
    improved = np.flatnonzero(columns.rank()[rows] > best)
    if not improved.size or improved[0] + 1 == rows.size:
        return rows.size
    keep = int(improved[0]) + 1
    draft.roll_back(before)
    draft.place(pod_class, records[:keep], rows[:keep])
    return keep
