"""What is held for a gang so large that it is uncertain which nodes it will start on.

Learned run times tell badly which nodes become free first. A plan that names half of the nodes waits for the
one run among them that takes days, while jobs that pass fill the nodes that would have been free by then.
"""

from collections.abc import Iterable

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.placement.search.fill import classes_of
from posse.engine.queue.capacity_reservation import ReservedShare, shares_of_amounts, usage_of
from posse.engine.queue.expected_ends import StartPlan
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord


def held_widely(
    state: ClusterState, plan: StartPlan, records: Iterable[PodRecord], is_uncertain: BoolArray
) -> tuple[ReservedShare, ...]:
    """What the plan holds, and what is free on all other nodes that may become free for these pods.

    `is_uncertain`: whether anything runs on a node of which no limit says when it ends.
    """
    usable = _usable(state, list(records))
    free = np.maximum(state.nodes.allocatable - state.nodes.requested, 0)
    wide = np.where(is_uncertain, np.minimum(usable, free), 0)
    return shares_of_amounts(np.maximum(usage_of(plan.held, wide.shape), wide))


def _usable(state: ClusterState, records: list[PodRecord]) -> IntArray:
    """By resource and row: the most that the pods of one class could use of an empty node."""
    allocatable = state.nodes.allocatable
    usable = np.zeros_like(allocatable)
    for scheduling_class, alike in classes_of(state, records):
        pod_class = scheduling_class.pod_class
        room = np.where(state.capacity(scheduling_class).open_when_empty(), len(alike), 0)
        for index, wanted in pod_class.limited:
            np.minimum(room, allocatable[index] // wanted, out=room)
        for index, wanted in pod_class.requests:
            np.maximum(usable[index], room * wanted, out=usable[index])
    return usable
