"""Placing pods that are alike where they leave the fewest holes: nodes that can take few of them come first.

Scores spread pods out, which may split the room that larger members of the same group need. Where a group does not
fit with them, room matters more than scores.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.draft import Draft
from posse.engine.scene import Subject
from posse.engine.search.fill import fill


def fill_tightly(state: ClusterState, draft: Draft, subject: Subject, records: Sequence[PodRecord]) -> int:
    """Place as many of `records` as fit, in their order; returns how many."""
    view = state.view(subject)
    if not view.counts_by_resources:
        return fill(state, draft, subject, records)
    room = np.minimum(view.capacity(), len(records))
    rows = np.flatnonzero(room)
    rows = rows[np.argsort(room[rows], kind="stable")]
    turns = np.repeat(rows, room[rows])[: len(records)]
    if turns.size:
        draft.place(records[: turns.size], turns)
    return int(turns.size)
