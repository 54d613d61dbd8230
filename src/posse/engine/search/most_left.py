"""How many more pods of one sort can find a place at the very most, whatever else is placed, and in which order.

A bound: pods are counted as if no others came. It takes resources into account, what nodes say of themselves, and that pods
which keep away from their own kind are one to a domain.
"""

import numpy as np

from posse.engine.arrays import BoolArray, IntArray
from posse.engine.cluster_state import ClusterState
from posse.engine.label_columns import LabelColumn
from posse.engine.scene import Subject


class MostLeft:
    def __init__(self, state: ClusterState, subject: Subject) -> None:
        self._view = state.view(subject)
        self._is_orderless = self._view.is_orderless
        self._has_volumes = subject.pod_class.volumes is not None
        own = [term for term in subject.pod_class.terms.forbidden if term.query in subject.matches_own]
        self._one_each = [state.nodes.labels.column(term.topology_key) for term in own]

    def of(self, waiting: int, open_now: BoolArray) -> int:
        """Of so many that wait, with the nodes that take one of them now."""
        if self._has_volumes:
            return waiting
        # What is closed stays closed where nobody can open it; elsewhere only the node itself is certain.
        rows = np.flatnonzero(open_now if self._is_orderless else self._view.open_when_empty())
        room = np.minimum(np.maximum(self._view.room_on(rows), 0), waiting)
        counts = [_one_to_a_domain(label, rows, room) for label in self._one_each]
        return min(waiting, int(room.sum()), *counts)


def _one_to_a_domain(label: LabelColumn, rows: IntArray, room: IntArray) -> int:
    """Of domains that have room at all; nodes outside of any domain take what they can."""
    ids = label.ids[rows]
    inside = np.unique(ids[(room > 0) & (ids >= 0)])
    return int(inside.size) + int(room[ids < 0].sum())
