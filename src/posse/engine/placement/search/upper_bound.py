"""Upper bound on the further pods of one class that can be placed, beside any others and in any order.

Pods are counted as if no others came. The bound respects resources, properties of nodes, and that pods with
anti-affinity to their own class are one to a domain.
"""

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.nodes.label_columns import LabelColumn
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState


class MostLeft:
    def __init__(self, state: ClusterState, scheduling_class: SchedulingClass) -> None:
        self._capacity = state.capacity(scheduling_class)
        self._is_orderless = state.rules(scheduling_class).is_orderless
        self._has_volumes = scheduling_class.pod_class.volumes is not None
        own = [
            term
            for term in scheduling_class.pod_class.terms.forbidden
            if term.query in scheduling_class.matches_own
        ]
        self._one_each = [state.nodes.labels.column(term.topology_key) for term in own]

    def of(self, waiting: int, open_now: BoolArray) -> int:
        """The bound for so many waiting pods, given the nodes that accept one of them now."""
        if self._has_volumes:
            return waiting
        # Closed nodes stay closed where no pod can open them; elsewhere only the node's own properties are
        # certain.
        rows = np.flatnonzero(open_now if self._is_orderless else self._capacity.open_when_empty())
        room = np.minimum(np.maximum(self._capacity.by_resources_on(rows), 0), waiting)
        counts = [_one_to_a_domain(label, rows, room) for label in self._one_each]
        return min(waiting, int(room.sum()), *counts)


def _one_to_a_domain(label: LabelColumn, rows: IntArray, room: IntArray) -> int:
    """One pod for each domain with capacity; nodes outside of any domain take what they can."""
    ids = label.ids[rows]
    inside = np.unique(ids[(room > 0) & (ids >= 0)])
    return int(inside.size) + int(room[ids < 0].sum())
