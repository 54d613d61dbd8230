"""Placing pods that are alike where they leave the fewest holes: nodes that can take few of them come first.

Scores spread pods out, which may split the room that larger members of the same group need. Where a group does not
fit with them, room matters more than scores.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.placement.search.fill import fill
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.pod_record import PodRecord


def fill_tightly(
    state: ClusterState, draft: Draft, scheduling_class: SchedulingClass, records: Sequence[PodRecord]
) -> int:
    """Place as many of `records` as fit, in their order; returns how many."""
    if not state.rules(scheduling_class).counts_by_resources:
        return fill(state, draft, scheduling_class, records)
    room = np.minimum(state.capacity(scheduling_class).per_node(), len(records))
    rows = np.flatnonzero(room)
    rows = rows[np.argsort(room[rows], kind="stable")]
    turns = np.repeat(rows, room[rows])[: len(records)]
    if turns.size:
        draft.place(records[: turns.size], turns)
    return int(turns.size)
