"""Which written reservations are believed: the owner of a group can write its annotations.

A note counts at most as long as a reservation lasts, and only if it names at most what the members request.
A dated note of a very large group may name more. It counts up to what its nodes have.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from posse.engine.groups.annotations import MAX_STATED_SECONDS
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.part import Root
from posse.engine.groups.tree import root_of
from posse.engine.keys import GroupKey
from posse.engine.queue.capacity_reservation import CapacityReservation, shares_of_amounts
from posse.engine.queue.entry_size import EntrySizes
from posse.engine.queue.policies import WIDE_SHARE
from posse.engine.queue.reservation_note import holder_named, read_note, reservation_of
from posse.engine.queue.starvation_guard import RESERVATION_SECONDS
from posse.engine.state.cluster_state import ClusterState


def believed(
    state: ClusterState, groups: GroupBook, key: GroupKey, text: str, now: float
) -> CapacityReservation | None:
    """The reservation in a note on the object of this key, as far as it counts; None if it does not."""
    note = read_note(text)
    root = root_of(groups, holder_named(note, key)) if note is not None else None
    if note is None or root is None or not root.unattached():
        return None
    found = reservation_of(state, note, root.key, root.priority)
    if found is None or found.until <= now:
        return None
    if not found.is_dated:
        if not _is_requested(root, found):
            return None
        found = replace(found, until=min(found.until, now + RESERVATION_SECONDS))
    elif found.begins > now + MAX_STATED_SECONDS or not (_is_requested(root, found) or _is_wide(state, root)):
        # No run is expected to take longer, so no start is expected later.
        return None
    return _within_nodes(state, found)


def _is_wide(state: ClusterState, root: Root) -> bool:
    """Whether a policy may hold more for the group than it requests."""
    return EntrySizes(state).of(root.unattached()).share > WIDE_SHARE


def _is_requested(root: Root, reservation: CapacityReservation) -> bool:
    """Whether the group's members request all that is reserved, all nodes together."""
    left: Counter[int] = Counter()
    for record in root.members.values():
        left.update(dict(record.pod_class.requests))
    for share in reservation.shares:
        pods = share.pods * share.rows.size
        left.subtract({index: amount * pods for index, amount in share.load.requests})
    return all(amount >= 0 for amount in left.values())


def _within_nodes(state: ClusterState, reservation: CapacityReservation) -> CapacityReservation:
    allocatable = state.nodes.allocatable
    held = reservation.usage(allocatable.shape)
    if np.all(held <= allocatable):
        return reservation
    return replace(reservation, shares=shares_of_amounts(np.minimum(held, allocatable)))
