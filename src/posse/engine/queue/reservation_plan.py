"""Chooses nodes for the minimum of a group, in whatever capacity is or becomes free."""

from collections.abc import Sequence

import numpy as np

from posse.engine.groups.part import Part, Root
from posse.engine.nodes.arrays import IntArray
from posse.engine.placement.search.fill import classes_of
from posse.engine.placement.tree.domains import Rows, all_places, inside
from posse.engine.queue.capacity_reservation import ReservedShare
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord

_MAX_DOMAINS = 32
"""Domains that are searched for a group that must be in one domain."""


def preempts(root: Root) -> bool:
    """Whether it has victims, whose capacity is already reserved for it."""
    return any(record.nominated for record in root.members.values())


def plan_beside_higher(state: ClusterState, root: Root, taken: IntArray) -> tuple[ReservedShare, ...]:
    """Where its minimum would fit without pods of equal or lower priority; empty if not even then.

    `taken` is planned for entries that come before it.
    """
    part = root.top
    if part is None or part.is_started:
        return ()
    free = state.nodes.allocatable - state.usage.above(root.priority) - taken
    _take_own(state, root, free)
    return tuple(planned(state, part, None, free) or ())


def planned(
    state: ClusterState, part: Part, rows: Rows, free: IntArray, *, is_tight: bool = False
) -> list[ReservedShare] | None:
    """Take capacity for a part's minimum out of `free`, in one domain of its key; the emptiest first.

    Tight: nodes come first of which the least would be left over.
    """
    for place in all_places(state, part, rows)[:_MAX_DOMAINS]:
        left = free.copy()
        if part.children:
            shares = _planned_children(state, part, place.rows, left, is_tight=is_tight)
        else:
            with inside(state, place.rows):
                shares = _planned_pods(state, part, left, is_tight=is_tight)
        if shares is not None:
            free[:] = left
            return shares
    return None


def _planned_children(
    state: ClusterState, part: Part, rows: Rows, free: IntArray, *, is_tight: bool
) -> list[ReservedShare] | None:
    missing = part.minimum - part.started_count
    shares: list[ReservedShare] = []
    for child in part.children:
        is_needed = missing > 0 and not child.is_started
        found = planned(state, child, rows, free, is_tight=is_tight) if is_needed else None
        if found is not None:
            shares += found
            missing -= 1
    return shares if missing <= 0 else None


def _planned_pods(
    state: ClusterState, part: Part, free: IntArray, *, is_tight: bool
) -> list[ReservedShare] | None:
    """Prefer nodes that are emptier now: their capacity will be free soonest."""
    missing = part.minimum - part.started_count
    shares: list[ReservedShare] = []
    for scheduling_class, records in classes_of(state, part.own_unattached()):
        found = shares_of(state, scheduling_class, records[:missing], free, is_tight=is_tight)
        missing -= sum(share.pods * share.rows.size for share in found)
        shares += found
        if missing <= 0:
            return shares
    return None


def _take_own(state: ClusterState, group: Root, free: IntArray) -> None:
    """Take the requests of its own members out of `free`: they stay."""
    for record in group.members.values():
        row = state.nodes.row_of.get(record.node)
        if row is not None and record.effective_priority <= group.priority:
            for index, amount in record.pod_class.requests:
                free[index, row] -= amount


def shares_of(
    state: ClusterState,
    scheduling_class: SchedulingClass,
    records: Sequence[PodRecord],
    free: IntArray,
    *,
    is_tight: bool = False,
) -> list[ReservedShare]:
    """Take capacity for as many of the records as fit out of `free`, which is changed."""
    pod_class = scheduling_class.pod_class
    open_rows = state.capacity(scheduling_class).open_when_empty()
    room = np.where(open_rows, len(records), 0)
    for index, wanted in pod_class.limited:
        np.minimum(room, free[index] // wanted, out=room)
    nodes = state.nodes
    limited = [index for index, _ in pod_class.limited]
    largest = np.maximum(nodes.allocatable[limited], 1)
    if is_tight:
        wanted_amounts = np.array([wanted for _, wanted in pod_class.limited], dtype=np.int64)[:, None]
        fullness = ((free[limited] - room * wanted_amounts) / largest).max(axis=0)
    else:
        fullness = (nodes.requested[limited] / largest).max(axis=0)
    rows = np.argsort(fullness, kind="stable")
    rows = rows[room[rows] > 0]
    before = np.cumsum(room[rows]) - room[rows]
    pods = np.minimum(room[rows], len(records) - before)
    rows, pods = rows[pods > 0], pods[pods > 0]
    for index, wanted in pod_class.requests:
        free[index, rows] -= pods * wanted
    return [ReservedShare(rows[pods == one], pod_class.load, one) for one in np.unique(pods).tolist()]
