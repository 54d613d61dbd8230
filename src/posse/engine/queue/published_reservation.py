"""Keeps the capacity reserved for a group written on its object, and takes over what was written before.

The running scheduler alone knows which capacity it reserves. `posse explain` and `posse gangs` would call it
free, and the scheduler that takes over would forget it.
"""

from collections.abc import Collection, Iterator

import msgspec
import numpy as np

from posse.engine.decisions import PublishReservation
from posse.engine.groups.forms import form_of
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.tree import root_of
from posse.engine.keys import GroupKey
from posse.engine.queue.capacity_reservation import CapacityReservation
from posse.engine.queue.noted_reservation import believed
from posse.engine.queue.policies import POLICIES
from posse.engine.queue.reservation_note import RESERVED_CAPACITY, note_of
from posse.engine.queue.starvation_guard import StarvationGuard
from posse.engine.state.cluster_state import ClusterState
from posse.model.meta import ObjectMeta

MAX_DATED = max(policy.reservations for policy in POLICIES.values())
"""Dated reservations that are taken over; no policy has more."""
_RENEWED_SECONDS = 10.0
"""A note of a dated reservation is written again after so long at the earliest."""


class PublishedReservation:
    def __init__(
        self,
        state: ClusterState,
        groups: GroupBook,
        guard: StarvationGuard,
        scheduler_names: Collection[str],
    ) -> None:
        self._state = state
        self._groups = groups
        self._guard = guard
        self._scheduler_names = scheduler_names
        self._written: dict[GroupKey, str] = {}
        """Notes on objects, by the key of the object without a group within it."""
        self._own: dict[GroupKey, None] = {}
        """Objects that notes were written on here."""
        self._has_taken_over = False
        self._made: dict[GroupKey, tuple[CapacityReservation, str, float]] = {}
        """Reservations with their notes, and when each was made: making one reads every reserved node."""
        self._renew_at: float | None = None
        """When a note is written again whose reservation has moved since it was made."""

    def seen(self, key: GroupKey, metadata: ObjectMeta) -> None:
        text = metadata.annotations.get(RESERVED_CAPACITY)
        if text is not None:
            self._written[key] = text
        else:
            self._written.pop(key, None)

    def gone(self, key: GroupKey) -> None:
        for known in (self._written, self._own, self._made):
            known.pop(key, None)

    def failed(self, publication: PublishReservation) -> None:
        """The note was not written, or only the response is missing: publish again what holds then."""
        described = _described(publication.group)
        self._written[described], self._own[described] = "unknown", None

    def take_over(self, now: float) -> None:
        """Once: keep the capacity reserved that an earlier scheduler reserved, if its time is not over."""
        if self._has_taken_over:
            return
        self._has_taken_over = True
        read = (believed(self._state, self._groups, key, text, now) for key, text in self._written.items())
        valid = [one for one in read if one is not None]
        undated = [one for one in valid if not one.is_dated]
        if undated:
            self._guard.take_over(max(undated, key=lambda one: (one.priority, one.until)))
        for one in sorted((one for one in valid if one.is_dated), key=_soonest)[:MAX_DATED]:
            self._guard.take_over(one)

    def next_wakeup(self) -> float | None:
        return self._renew_at

    def news(self, now: float) -> Iterator[PublishReservation]:
        """What objects should say, and do not say yet."""
        self._renew_at = None
        if not self._guard.reservations and not self._written:
            return
        held: dict[GroupKey, CapacityReservation] = {}
        for one in self._guard.reservations:
            if isinstance(one.key, GroupKey) and one.shares:
                held.setdefault(_described(one.key), one)
        self._made = {key: made for key, made in self._made.items() if key in held}
        for key in [key for key in self._written if key not in held and self._is_ours(key)]:
            yield from self._publish(key, "")
        for key, reservation in held.items():
            text = self._text(key, reservation, now)
            if self._written.get(key) != text and isinstance(reservation.key, GroupKey):
                yield from self._publish(reservation.key, text)

    def _text(self, key: GroupKey, reservation: CapacityReservation, now: float) -> str:
        """Its note. Dated reservations move with every change of the cluster, so theirs may be older."""
        known = self._made.get(key)
        if known is not None:
            before, text, made_at = known
            due = made_at + _RENEWED_SECONDS
            if before is reservation:
                return text
            if before.is_dated and reservation.is_dated and made_at <= now < due:
                if not _reads_alike(before, reservation):
                    self._renew_at = min(due, self._renew_at or due)
                return text
        text = note_of(self._state, reservation)
        self._made[key] = reservation, text, now
        return text

    def _publish(self, key: GroupKey, text: str) -> Iterator[PublishReservation]:
        described = _described(key)
        if text:
            self._written[described] = text
            self._own[described] = None
        else:
            self._written.pop(described, None)
            self._own.pop(described, None)
        uid = self._uid(key)
        if uid:
            yield PublishReservation(key, uid, text)

    def _is_ours(self, key: GroupKey) -> bool:
        """Another scheduler reserves capacity for its own groups."""
        root = root_of(self._groups, key)
        members = root.members.values() if root is not None else ()
        return key in self._own or any(one.ref.scheduler_name in self._scheduler_names for one in members)

    def _uid(self, key: GroupKey) -> str:
        workload = self._groups.workload(key.namespace, key.name) if form_of(key).is_implied else None
        if workload is not None:
            return workload.metadata.uid
        record = self._groups.reported(key)
        return record.uid if record is not None else ""


def _soonest(reservation: CapacityReservation) -> float:
    return reservation.begins


def _reads_alike(before: CapacityReservation, after: CapacityReservation) -> bool:
    """Whether notes of both say the same. Every plan makes new ones, and most are as before."""
    if int(before.begins) != int(after.begins) or len(before.shares) != len(after.shares):
        return False
    return all(
        one.pods == other.pods
        and one.load.requests == other.load.requests
        and np.array_equal(one.rows, other.rows)
        for one, other in zip(before.shares, after.shares, strict=True)
    )


def _described(key: GroupKey) -> GroupKey:
    """The key of the object that describes the group, where one object describes several."""
    return msgspec.structs.replace(key, pod_group="", replica_key="")
