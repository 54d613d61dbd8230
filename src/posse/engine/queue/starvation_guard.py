"""Capacity reserved for refused entries of the queue, so that smaller work cannot starve them.

A refused group blocks no others, but the capacity that they leave free would never add up to a large gang.
Reserved capacity counts as taken for pods of equal or lower priority. Where run times are known and the
policy of the queue looks ahead, a reservation is dated: it says when the entry is expected to start, what is
expected to end before may pass, and it is planned again whenever the cluster changes.

Otherwise it is unknown when the capacity will be free. Then it is reserved once a group has been refused for
a minute, and overtaken, and for five minutes at most, followed by a rest of equal length: pods that never
finish delay others for a while, not for ever. One group at a time, the first in the queue.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np

from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.part import Root
from posse.engine.groups.tree import root_of
from posse.engine.keys import GroupKey
from posse.engine.nodes.arrays import IntArray
from posse.engine.queue.backlog import Backlog, Key, Waiting
from posse.engine.queue.capacity_reservation import CapacityReservation, held_by, usage_of
from posse.engine.queue.lookahead import Lookahead
from posse.engine.queue.reservation_plan import plan_beside_higher, preempts
from posse.engine.queue.run_times import RunTimes
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord
from posse.engine.statement import Reservation

PATIENCE_SECONDS = 60.0
RESERVATION_SECONDS = 300.0
REST_SECONDS = 300.0
_OVERDUE_SECONDS = 300.0
"""Pause between two plans for an entry that does not start though its time has come, or that may get more."""
_LOOK_SECONDS = 1.0
"""Pause between two searches for a group to reserve capacity for."""
_UNCHANGED = nullcontext()
"""Nothing is reserved, so nothing is lifted."""


class StarvationGuard:
    def __init__(
        self,
        state: ClusterState,
        groups: GroupBook,
        backlog: Backlog,
        lookahead: Lookahead | None = None,
        *,
        reserves: bool = True,
    ) -> None:
        self._state = state
        self._groups = groups
        self._backlog = backlog
        self._lookahead = lookahead if reserves else None
        self.reservations: list[CapacityReservation] = []
        self._look_at = 0.0 if reserves else math.inf
        self._ended: dict[Key, float] = {}
        """When a group's reservation ended, or proved useless; then it rests."""
        self._unfinished: dict[Key, float] = {}
        """End times of reservations that had to be released early."""
        self._overtaken_at = -math.inf
        """When any pod was last placed."""
        self._planned_for: tuple[int, ...] = ()
        """State of the cluster for which dated reservations were planned."""
        self._plan_at = -math.inf
        """When they are planned again though nothing has changed."""
        self._more_at = math.inf
        """When more may be reserved, if anything is decided then: entries get more the longer they wait."""
        self.changes = 0
        """Grows when capacity is reserved or released."""

    @property
    def looks_ahead(self) -> bool:
        return self._lookahead is not None

    @property
    def reservation(self) -> CapacityReservation | None:
        """The first one."""
        return self.reservations[0] if self.reservations else None

    @property
    def undated(self) -> CapacityReservation | None:
        if not self.reservations:
            return None
        return next((one for one in self.reservations if not one.is_dated), None)

    def settle(self, now: float) -> None:
        """End a reservation that is over, wake its group when it is ready, and reserve for the next group."""
        undated = self.undated
        if undated is not None:
            self._review(undated, now)
        if self._lookahead is not None:
            self._plan_again(self._lookahead, now)
        elif self.reservations:
            self._release_dated()
        if self.undated is None and now >= self._look_at:
            self._look_at = now + _LOOK_SECONDS
            self._ended = {key: ended for key, ended in self._ended.items() if key in self._backlog}
            self._unfinished = {key: end for key, end in self._unfinished.items() if key in self._backlog}
            self._reserve_for_next(now)

    def refused(self, entry: Waiting, now: float) -> None:
        """Reserve for an entry that has just been refused, before others pass it."""
        if self._lookahead is not None and all(one.key != entry.key for one in self.reservations):
            found = self._lookahead.reservation_for(entry, self.reservations, now)
            if found is not None:
                self._put(found)
                self._plan_at = min(self._plan_at, max(found.begins, now + _OVERDUE_SECONDS))

    def take_over(self, reservation: CapacityReservation) -> None:
        """Go on with the reservation of an earlier scheduler; a dated one is planned again first."""
        if reservation.is_dated or self.undated is None:
            self._put(reservation)

    def note_placed(self, now: float) -> None:
        """A pod was placed, so groups that have waited longer were overtaken."""
        self._overtaken_at = now

    def next_wakeup(self) -> float | None:
        undated = self.undated
        times = [self._plan_at] if any(one.is_dated for one in self.reservations) else []
        if undated is not None:
            times.append(undated.until)
        elif self._look_at < math.inf:
            turns = [self._due(entry) for entry in self._backlog.refused_groups() if self._is_owed(entry)]
            times += [max(min(turns), self._look_at)] if turns else []
        return min(times, default=None)

    def lifted_for(
        self, priority: int, key: Key | None = None, ends_by: float = math.inf
    ) -> AbstractContextManager[None]:
        """Let an entry use what is reserved for it, for lower priorities, or for a time when it has ended."""
        if not self.reservations:
            return _UNCHANGED
        return self._lifted([one for one in self.reservations if _yields(one, priority, key, ends_by)])

    def lifted_for_short(self) -> AbstractContextManager[None]:
        """Show the capacity that dated reservations hold as free: some entry may end before."""
        if not self.reservations:
            return _UNCHANGED
        return self._lifted([one for one in self.reservations if one.is_dated])

    @contextmanager
    def _lifted(self, lifted: Sequence[CapacityReservation]) -> Iterator[None]:
        for one in lifted:
            self._count(one, -1)
        try:
            yield
        finally:
            for one in lifted:
                self._count(one, 1)

    def met_by(self, priority: int, key: Key | None, ends_by: float) -> list[CapacityReservation]:
        """The reservations that count for an entry."""
        return [one for one in self.reservations if not _yields(one, priority, key, ends_by)]

    def tried(self, group: Root, now: float, *, started: bool) -> None:
        """End the reservation of a group that has started, or cannot use it although it is ready."""
        if not self.reservations:
            return
        reservation = next((one for one in self.reservations if one.key == group.key), None)
        if reservation is None:
            return
        if reservation.is_dated:
            if started:
                self.release(reservation)
        elif started or self._is_ready(reservation):
            self._ended[group.key] = now
            self.release(reservation)
        elif preempts(group):
            self._unfinished[group.key] = reservation.until
            self.release(reservation)

    def reservation_against(self, priority: int, key: Key | None, ends_by: float) -> Reservation | None:
        """The first reservation for a group that an entry meets; or its own, if it is a group and has one."""
        for one in self.reservations:
            if not isinstance(one.key, GroupKey):
                continue
            if one.key == key:
                return Reservation(one.rows.size, None)
            if not _yields(one, priority, key, ends_by):
                return Reservation(one.rows.size, one.key, one.is_dated)
        return None

    def release_on(self, node: str) -> None:
        """The node is about to go; its group may get another reservation for the remaining time."""
        row = self._state.nodes.row_of.get(node)
        for one in [one for one in self.reservations if row in one.rows.tolist()]:
            if not one.is_dated:
                self._unfinished[one.key] = one.until
            self.release(one)

    def release(self, reservation: CapacityReservation) -> None:
        """Release the capacity, and retry entries that could use it."""
        self._drop(reservation)
        for row in reservation.rows.tolist():
            self._state.note_improved(self._state.nodes.names[row], reservation.priority)

    def _release_dated(self) -> None:
        """An earlier scheduler looked ahead, and this one does not."""
        for one in [one for one in self.reservations if one.is_dated]:
            self.release(one)

    def _plan_again(self, lookahead: Lookahead, now: float) -> None:
        """Plan dated reservations for the cluster as it is; retry entries where less is held than before."""
        before = [one for one in self.reservations if one.is_dated]
        stamp = (self._state.changes, self._backlog.refusals, len(self._backlog.refused()))
        if stamp == self._planned_for and now < min(self._plan_at, self._more_at):
            return
        self._planned_for = stamp
        # Lines of resources may go with the last reservation that names them.
        shape = self._state.nodes.requested.shape
        held_before = [(one, one.usage(shape)) for one in before]
        for one in before:
            self._drop(one)
        lookahead.outdate()
        is_complete = True
        for entry in lookahead.eligible():
            if all(one.key != entry.key for one in self.reservations):
                found = lookahead.reservation_for(entry, self.reservations, now)
                is_complete = is_complete and found is not None
                if found is not None:
                    self._put(found)
        self._plan_at = self._next_plan(now)
        self._more_at = math.inf if is_complete else now + _OVERDUE_SECONDS
        held_now = held_by(self.reservations, shape)
        begins = {one.key: one.begins for one in self.reservations}
        for one, held in held_before:
            is_later = begins.get(one.key, math.inf) > one.begins
            less = np.flatnonzero(np.any(held > held_now, axis=0)).tolist()
            for row in one.rows.tolist():
                if is_later or row in less:
                    self._state.note_improved(self._state.nodes.names[row], one.priority)

    def _next_plan(self, now: float) -> float:
        """The first time that comes. An entry whose time has come is tried now, whatever it waits for."""
        dated = [one for one in self.reservations if one.is_dated]
        for one in dated:
            if one.begins <= now:
                self._backlog.resume(one.key, now)
        return max(min((one.begins for one in dated), default=math.inf), now + _OVERDUE_SECONDS)

    def _review(self, reservation: CapacityReservation, now: float) -> None:
        if self._backlog.get(reservation.key) is None:
            self.release(reservation)
        elif now >= reservation.until:
            self.release(reservation)
            self._ended[reservation.key] = now
        elif self._is_ready(reservation):
            self._backlog.wake(reservation.key)

    def _is_ready(self, reservation: CapacityReservation) -> bool:
        nodes = self._state.nodes
        return bool(np.all(nodes.requested[:, reservation.rows] <= nodes.allocatable[:, reservation.rows]))

    def _due(self, entry: Waiting) -> float:
        rested = self._ended[entry.key] + REST_SECONDS if entry.key in self._ended else -math.inf
        return max(entry.refused_since + PATIENCE_SECONDS, rested)

    def _is_owed(self, entry: Waiting) -> bool:
        """Whether any pod was placed since the group was refused, or since its last reservation.

        A group that is expected to start at some time is owed nothing: its policy says when capacity is held.
        """
        if self._lookahead is not None and not self._lookahead.is_undated(entry):
            return False
        has_one = any(one.key == entry.key for one in self.reservations)
        since = max(entry.refused_since, self._ended.get(entry.key, -math.inf))
        return self._overtaken_at >= since and not has_one

    def _reserve_for_next(self, now: float) -> None:
        refused = self._backlog.refused_groups()
        due = [entry for entry in refused if self._is_owed(entry) and self._due(entry) <= now]
        for entry in sorted(due, key=Waiting.order):
            group = root_of(self._groups, entry.key) if isinstance(entry.key, GroupKey) else None
            is_possible = group is not None and not preempts(group)
            taken = self._planned_before(entry)
            shares = (
                plan_beside_higher(self._state, group, taken) if group is not None and is_possible else ()
            )
            if group is not None and shares:
                until = self._unfinished.pop(group.key, now + RESERVATION_SECONDS)
                self._put(CapacityReservation(group.key, entry.priority, until, shares))
                return
            self._ended[entry.key] = now

    def _planned_before(self, entry: Waiting) -> IntArray:
        """What dated reservations of entries that come before this one hold, or are planned to use."""
        planned = np.zeros(self._state.nodes.requested.shape, dtype=np.int64)
        for one in self.reservations:
            holder = self._backlog.get(one.key)
            if one.is_dated and holder is not None and holder.order() < entry.order():
                planned += np.maximum(usage_of(one.planned, planned.shape), one.usage(planned.shape))
        return planned

    def _put(self, reservation: CapacityReservation) -> None:
        self.reservations.append(reservation)
        self.changes += 1
        self._state.nodes.resources.hold(reservation.resources)
        self._count(reservation, 1)

    def _drop(self, reservation: CapacityReservation) -> None:
        self.reservations.remove(reservation)
        self.changes += 1
        self._count(reservation, -1)
        self._state.nodes.release_resources(reservation.resources)

    def _count(self, reservation: CapacityReservation, sign: int) -> None:
        for share in reservation.shares:
            self._state.nodes.change_usage(share.rows, share.load, sign * share.pods)
        self._state.nodes.touch_all(reservation.rows.tolist())


def ends_by(guard: StarvationGuard, run_times: RunTimes, who: Root | PodRecord) -> float:
    """By when an entry would end if it started now. Infinite where that is unknown, or where nothing asks.

    Attempts, conditions, renewal and explanations all ask here, so they speak of the same reservations.
    """
    if not any(one.is_dated for one in guard.reservations):
        return math.inf
    run_time = run_times.of_pod(who) if isinstance(who, PodRecord) else run_times.of_root(who)
    return run_times.now + run_time.safe


def _yields(reservation: CapacityReservation, priority: int, key: Key | None, ends_by: float) -> bool:
    if reservation.key == key or priority > reservation.priority:
        return True
    return reservation.is_dated and ends_by <= reservation.begins
