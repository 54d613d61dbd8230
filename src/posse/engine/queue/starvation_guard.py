"""Capacity reserved for a group that has waited long, so that smaller work cannot starve it.

A refused group blocks no others, but the capacity that they leave free would never add up to a large gang. So
once a group has been refused for a minute, and overtaken, nodes are chosen where it would fit without the
pods there. Their capacity counts as taken for pods of equal or lower priority. That lasts five minutes at
most, followed by a rest of equal length: pods that never finish delay others for a while, not for ever. One
group at a time, the first in the queue.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.part import Part, Root
from posse.engine.groups.tree import root_of
from posse.engine.keys import GroupKey
from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.node_table import Load
from posse.engine.placement.search.fill import classes_of
from posse.engine.placement.tree.domains import Rows, all_places, inside
from posse.engine.queue.backlog import Backlog, Key, Waiting
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord
from posse.engine.statement import Reservation

PATIENCE_SECONDS = 60.0
RESERVATION_SECONDS = 300.0
REST_SECONDS = 300.0
_MAX_DOMAINS = 32
"""Domains that are searched for a group that must be in one domain."""
_LOOK_SECONDS = 1.0
"""Pause between two searches for a group to reserve capacity for."""


@dataclass(frozen=True, slots=True)
class ReservedShare:
    """A number of pods of one class on one row."""

    row: int
    load: Load
    pods: int


@dataclass(frozen=True, slots=True)
class CapacityReservation:
    key: GroupKey
    priority: int
    until: float
    shares: tuple[ReservedShare, ...]

    @property
    def rows(self) -> IntArray:
        return np.unique(np.array([share.row for share in self.shares], dtype=np.int64))

    def usage(self, shape: tuple[int, ...]) -> IntArray:
        """What it counts for in the columns of requests, which have this shape."""
        total = np.zeros(shape, dtype=np.int64)
        for share in self.shares:
            for index, amount in share.load.requests:
                total[index, share.row] += amount * share.pods
        return total


class StarvationGuard:
    def __init__(
        self, state: ClusterState, groups: GroupBook, backlog: Backlog, *, reserves: bool = True
    ) -> None:
        self._state = state
        self._groups = groups
        self._backlog = backlog
        self._reservation: CapacityReservation | None = None
        self._look_at = 0.0 if reserves else math.inf
        self._ended: dict[Key, float] = {}
        """When a group's reservation ended, or proved useless; then it rests."""
        self._unfinished: dict[Key, float] = {}
        """End times of reservations that had to be released early."""
        self._overtaken_at = -math.inf
        """When any pod was last placed."""
        self.changes = 0
        """Grows when capacity is reserved or released."""

    @property
    def reservation(self) -> CapacityReservation | None:
        return self._reservation

    def settle(self, now: float) -> None:
        """End a reservation that is over, wake its group when it is ready, and reserve for the next group."""
        if self._reservation is not None:
            self._review(self._reservation, now)
        if self._reservation is None and now >= self._look_at:
            self._look_at = now + _LOOK_SECONDS
            self._ended = {key: ended for key, ended in self._ended.items() if key in self._backlog}
            self._unfinished = {key: end for key, end in self._unfinished.items() if key in self._backlog}
            self._reserve_for_next(now)

    def take_over(self, reservation: CapacityReservation) -> None:
        """Go on with the reservation of an earlier scheduler."""
        if self._reservation is None:
            self._put(reservation)

    def note_placed(self, now: float) -> None:
        """A pod was placed, so groups that have waited longer were overtaken."""
        self._overtaken_at = now

    def next_wakeup(self) -> float | None:
        if self._reservation is not None:
            return self._reservation.until
        if self._look_at == math.inf:
            return None
        turns = [self._due(entry) for entry in self._backlog.refused_groups() if self._is_overtaken(entry)]
        return max(min(turns), self._look_at) if turns else None

    @contextmanager
    def lifted_for(self, priority: int, key: GroupKey | None = None) -> Iterator[None]:
        """Let the group use the capacity reserved for it, and pods of higher priority too."""
        reservation = self._reservation
        if reservation is None or (reservation.key != key and priority <= reservation.priority):
            yield
            return
        self._count(reservation, -1)
        try:
            yield
        finally:
            self._count(reservation, 1)

    def tried(self, group: Root, now: float, *, started: bool) -> None:
        """End the reservation of a group that has started, or cannot use it although it is ready."""
        reservation = self._reservation
        if reservation is None or reservation.key != group.key:
            return
        if started or self._is_ready(reservation):
            self._ended[group.key] = now
            self.release()
        elif _preempts(group):
            self._unfinished[group.key] = reservation.until
            self.release()

    def reservation_against(self, priority: int, key: GroupKey | None = None) -> Reservation | None:
        """The reservation that a group, or a pod, of this priority meets."""
        reservation = self._reservation
        if reservation is None or (reservation.key != key and priority > reservation.priority):
            return None
        return Reservation(reservation.rows.size, None if reservation.key == key else reservation.key)

    def release_on(self, node: str) -> None:
        """The node is about to go; its group may get another reservation for the remaining time."""
        row = self._state.nodes.row_of.get(node)
        if self._reservation is not None and row in self._reservation.rows.tolist():
            self._unfinished[self._reservation.key] = self._reservation.until
            self.release()

    def release(self) -> None:
        """Release the capacity, and retry entries that could use it."""
        if self._reservation is not None:
            reservation, self._reservation = self._reservation, None
            self.changes += 1
            self._count(reservation, -1)
            for row in reservation.rows.tolist():
                self._state.note_improved(self._state.nodes.names[row], reservation.priority)

    def _review(self, reservation: CapacityReservation, now: float) -> None:
        if self._backlog.get(reservation.key) is None:
            self.release()
        elif now >= reservation.until:
            self.release()
            self._ended[reservation.key] = now
        elif self._is_ready(reservation):
            self._backlog.wake(reservation.key)

    def _is_ready(self, reservation: CapacityReservation) -> bool:
        nodes = self._state.nodes
        return bool(np.all(nodes.requested[:, reservation.rows] <= nodes.allocatable[:, reservation.rows]))

    def _due(self, entry: Waiting) -> float:
        rested = self._ended[entry.key] + REST_SECONDS if entry.key in self._ended else -math.inf
        return max(entry.refused_since + PATIENCE_SECONDS, rested)

    def _is_overtaken(self, entry: Waiting) -> bool:
        """Whether any pod was placed since the group was refused, or since its last reservation."""
        return self._overtaken_at >= max(entry.refused_since, self._ended.get(entry.key, -math.inf))

    def _reserve_for_next(self, now: float) -> None:
        refused = self._backlog.refused_groups()
        due = [entry for entry in refused if self._is_overtaken(entry) and self._due(entry) <= now]
        for entry in sorted(due, key=Waiting.order):
            group = root_of(self._groups, entry.key) if isinstance(entry.key, GroupKey) else None
            shares = _plan(self._state, group) if group is not None and not _preempts(group) else ()
            if group is not None and shares:
                until = self._unfinished.pop(group.key, now + RESERVATION_SECONDS)
                self._put(CapacityReservation(group.key, entry.priority, until, shares))
                return
            self._ended[entry.key] = now

    def _put(self, reservation: CapacityReservation) -> None:
        self._reservation = reservation
        self.changes += 1
        self._count(reservation, 1)

    def _count(self, reservation: CapacityReservation, sign: int) -> None:
        for share in reservation.shares:
            self._state.nodes.change_usage_of_row(share.row, share.load, sign * share.pods)
        self._state.nodes.touch_all(reservation.rows.tolist())


def _preempts(root: Root) -> bool:
    """Whether it has victims, whose capacity is already reserved for it."""
    return any(record.nominated for record in root.members.values())


def _plan(state: ClusterState, root: Root) -> tuple[ReservedShare, ...]:
    """Where its minimum would fit without pods of equal or lower priority; empty if not even then."""
    part = root.top
    if part is None or part.is_started:
        return ()
    free = state.nodes.allocatable - state.usage.above(root.priority)
    _take_own(state, root, free)
    return tuple(_planned(state, part, None, free) or ())


def _planned(state: ClusterState, part: Part, rows: Rows, free: IntArray) -> list[ReservedShare] | None:
    """Take capacity for a part's minimum out of `free`, in one domain of its key; the emptiest first."""
    for place in all_places(state, part, rows)[:_MAX_DOMAINS]:
        left = free.copy()
        if part.children:
            shares = _planned_children(state, part, place.rows, left)
        else:
            with inside(state, place.rows):
                shares = _planned_pods(state, part, left)
        if shares is not None:
            free[:] = left
            return shares
    return None


def _planned_children(
    state: ClusterState, part: Part, rows: Rows, free: IntArray
) -> list[ReservedShare] | None:
    missing = part.minimum - part.started_count
    shares: list[ReservedShare] = []
    for child in part.children:
        found = _planned(state, child, rows, free) if missing > 0 and not child.is_started else None
        if found is not None:
            shares += found
            missing -= 1
    return shares if missing <= 0 else None


def _planned_pods(state: ClusterState, part: Part, free: IntArray) -> list[ReservedShare] | None:
    """Prefer nodes that are emptier now: their capacity will be free soonest."""
    missing = part.minimum - part.started_count
    shares: list[ReservedShare] = []
    for scheduling_class, records in classes_of(state, part.own_unattached()):
        found = _shares(state, scheduling_class, records[:missing], free)
        missing -= sum(share.pods for share in found)
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


def _shares(
    state: ClusterState, scheduling_class: SchedulingClass, records: Sequence[PodRecord], free: IntArray
) -> list[ReservedShare]:
    """Take capacity for as many of the records as fit out of `free`, which is changed."""
    pod_class = scheduling_class.pod_class
    open_rows = state.capacity(scheduling_class).open_when_empty()
    room = np.where(open_rows, len(records), 0)
    for index, wanted in pod_class.limited:
        np.minimum(room, free[index] // wanted, out=room)
    nodes = state.nodes
    used = (nodes.requested / np.maximum(nodes.allocatable, 1))[[index for index, _ in pod_class.limited]]
    rows = np.argsort(used.max(axis=0), kind="stable")
    rows = rows[room[rows] > 0]
    before = np.cumsum(room[rows]) - room[rows]
    pods = np.minimum(room[rows], len(records) - before)
    rows, pods = rows[pods > 0], pods[pods > 0]
    for index, wanted in pod_class.requests:
        free[index, rows] -= pods * wanted
    taken = zip(rows.tolist(), pods.tolist(), strict=True)
    return [ReservedShare(row, pod_class.load, number) for row, number in taken]
