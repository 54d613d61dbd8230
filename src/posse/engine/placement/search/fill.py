"""Place equal pods as if each in turn took the best node, a wave at a time; order the classes of a group.

Nodes of equal rank take turns. Where placing a pod changes the rank of its own node only, all nodes that
share the best rank get their turn in one step, each with as many pods as it would receive before the next
one's turn comes. Several classes compete for the same capacity; a group that does not fit in one order is
tried in others before it is refused.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.node_scores import NodeScores
from posse.engine.state.pod_record import PodRecord

Fill = Callable[[ClusterState, Draft, SchedulingClass, Sequence[PodRecord]], int]
MemberClass = tuple[SchedulingClass, list[PodRecord]]


def classes_of(state: ClusterState, members: Sequence[PodRecord]) -> list[MemberClass]:
    """Identical members together, the class of the oldest member first."""
    classes: dict[SchedulingClass, list[PodRecord]] = {}
    before: PodRecord | None = None
    alike: list[PodRecord] = []
    for record in members:
        # Mostly the same class as for the record before, which is quicker to compare than to look up.
        if before is None or record.pod_class is not before.pod_class or record.labels is not before.labels:
            alike = classes.setdefault(state.scheduling_class(record), [])
        alike.append(record)
        before = record
    return list(classes.items())


def other_ways(
    state: ClusterState, classes: Sequence[MemberClass]
) -> Iterator[tuple[list[MemberClass], Fill]]:
    """Other orders worth trying after the plain order has failed."""
    if len(classes) == 1:
        return
    by_size = sorted(classes, key=lambda one: share(state, one[0]))
    by_choice = sorted(classes, key=lambda one: open_nodes(state, one[0]))
    for ordered in (by_size[::-1], by_choice, by_size):
        for way in (fill_tightly, fill):
            yield ordered, way


def share(state: ClusterState, scheduling_class: SchedulingClass) -> float:
    """The largest fraction of a largest node that one pod takes, over all resources."""
    largest = state.nodes.allocatable.max(axis=1)
    return max(wanted / max(int(largest[index]), 1) for index, wanted in scheduling_class.pod_class.requests)


def open_nodes(state: ClusterState, scheduling_class: SchedulingClass) -> int:
    return int((state.capacity(scheduling_class).per_node() > 0).sum())


def fill(
    state: ClusterState, draft: Draft, scheduling_class: SchedulingClass, records: Sequence[PodRecord]
) -> int:
    """Place as many of `records` as fit, in their order; returns how many.

    It stops when all effort is spent.
    """
    only = state.context.scope.rows
    if only is not None and only.size == 1 and state.rules(scheduling_class).counts_by_resources:
        return _fill_row(state, draft, scheduling_class, records, only)
    scores = state.scores(scheduling_class)
    cost, placed = scores.cost, 0
    while placed < len(records) and state.effort.spend(cost):
        if len(records) - placed > 1 and scores.is_row_local:
            rows = scores.best_rows()
            if not rows.size:
                break
            placed += _place_wave(state, draft, scores, state.in_turn(rows), records[placed:])
        else:
            row = _next_row(state, scores)
            if row is None:
                break
            draft.place_one(records[placed], row)
            placed += 1
    return placed


def _fill_row(
    state: ClusterState,
    draft: Draft,
    scheduling_class: SchedulingClass,
    records: Sequence[PodRecord],
    row: IntArray,
) -> int:
    """The same where all must go to one row: it is the best for as long as they fit."""
    if not (records and state.effort.spend(1)):
        return 0
    placed = min(int(state.capacity(scheduling_class).upper_bound_on(row)[0]), len(records))
    if placed:
        draft.place(records[:placed], np.repeat(row, placed))
    return placed


def _place_wave(
    state: ClusterState, draft: Draft, scores: NodeScores, rows: IntArray, waiting: Sequence[PodRecord]
) -> int:
    """Give each of the best rows its burst, while pods are left."""
    rows = rows[: len(waiting)]
    version = state.nodes.version
    lengths, after = scores.bursts(rows, len(waiting))
    turns = np.repeat(rows, lengths)
    draft.place(waiting[: turns.size], turns[: len(waiting)])
    if after is not None and turns.size <= len(waiting):
        scores.adopt(rows, after, version)
    return min(turns.size, len(waiting))


def _next_row(state: ClusterState, scores: NodeScores) -> int | None:
    """The best row whose turn it is; None if all refuse."""
    if not state.takes_turns_by_name:
        return scores.best_row_from(state.turn)
    rows = state.in_turn(scores.best_rows())
    return int(rows[0]) if rows.size else None


def fill_tightly(
    state: ClusterState, draft: Draft, scheduling_class: SchedulingClass, records: Sequence[PodRecord]
) -> int:
    """Place as many of `records` as fit, in their order; returns how many."""
    if not state.rules(scheduling_class).counts_by_resources:
        return fill(state, draft, scheduling_class, records)
    room = np.minimum(state.capacity(scheduling_class).per_node(), len(records))
    rows = state.in_order(np.flatnonzero(room))
    rows = rows[np.argsort(room[rows], kind="stable")]
    turns = np.repeat(rows, room[rows])[: len(records)]
    if turns.size:
        draft.place(records[: turns.size], turns)
    return int(turns.size)
