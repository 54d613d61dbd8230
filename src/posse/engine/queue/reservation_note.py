"""The reserved capacity of a group as text: an annotation on its object, for other processes to read."""

import math

import msgspec
import numpy as np
from msgspec.structs import replace

from posse.engine.groups.forms import WORKLOAD_REF
from posse.engine.keys import GroupKey
from posse.engine.nodes.node_table import load_of
from posse.engine.nodes.resources import CPU, MEMORY, amounts
from posse.engine.queue.capacity_reservation import CapacityReservation, ReservedShare
from posse.engine.state.cluster_state import ClusterState
from posse.model.quantity import QuantityError, canonical
from posse.model.timestamps import format_timestamp, parse_timestamp

RESERVED_CAPACITY = "scheduling.posse.dev/reserved-capacity"
"""On a group: the capacity that is reserved for it, as JSON."""
DATED_SECONDS = 300.0
"""How long a dated note counts beyond the time at which the group should start; it is renewed before."""
MAX_CHARACTERS = 256 * 1024
"""No object may have longer annotations."""


class NodeShares(msgspec.Struct, frozen=True):
    """Nodes on each of which the same is reserved."""

    nodes: tuple[str, ...]
    requests: dict[str, str]


class ReservationNote(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    until: str
    reserved: tuple[NodeShares, ...]
    pod_group: str = ""
    """The group within a Workload that describes several."""
    replica_key: str = ""
    begins: str = ""
    """When the group is expected to start, and what ends before may pass; empty where that is unknown."""


def note_of(state: ClusterState, reservation: CapacityReservation) -> str:
    names, resources = state.nodes.names, state.nodes.resource_names
    held: dict[int, dict[str, int]] = {}
    for share in reservation.shares:
        for row in share.rows.tolist():
            there = held.setdefault(row, {})
            for index, amount in share.load.requests:
                there[resources[index]] = there.get(resources[index], 0) + amount * share.pods
    alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for row, there in held.items():
        alike.setdefault(tuple(sorted(there.items())), []).append(names[row])
    reserved = tuple(
        NodeShares(tuple(sorted(nodes)), {name: _quantity(name, amount) for name, amount in requests})
        for requests, nodes in alike.items()
    )
    key = reservation.key
    within = (key.pod_group, key.replica_key) if isinstance(key, GroupKey) else ("", "")
    until = reservation.begins + DATED_SECONDS if reservation.is_dated else reservation.until
    begins = format_timestamp(reservation.begins) if reservation.is_dated else ""
    note = ReservationNote(format_timestamp(until), reserved, *within, begins)
    return msgspec.json.encode(note).decode()


def read_note(text: str) -> ReservationNote | None:
    """The note; None if the text is not one, as users may write annotations."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        return msgspec.json.decode(text, type=ReservationNote)
    except msgspec.DecodeError:
        return None


def holder_named(note: ReservationNote, described: GroupKey) -> GroupKey:
    """The group that the note is about, on the object of this key."""
    if described.form != WORKLOAD_REF.name:
        return described
    return replace(described, pod_group=note.pod_group, replica_key=note.replica_key)


def reservation_of(
    state: ClusterState, note: ReservationNote, key: GroupKey, priority: int
) -> CapacityReservation | None:
    """The reservation that the note describes; None if a node or a resource is gone, or it cannot be read."""
    named = [node for one in note.reserved for node in one.nodes]
    shares = [share for one in note.reserved if (share := _share_of(state, one)) is not None]
    if not shares or len(shares) < len(note.reserved) or len(dict.fromkeys(named)) < len(named):
        return None
    try:
        until = parse_timestamp(note.until)
        begins = parse_timestamp(note.begins) if note.begins else math.inf
    except ValueError:
        return None
    return CapacityReservation(key, priority, min(until, begins + DATED_SECONDS), tuple(shares), begins)


def _share_of(state: ClusterState, stated: NodeShares) -> ReservedShare | None:
    try:
        requests = amounts(stated.requests)
    except QuantityError:
        return None
    indexes = {name: state.nodes.resource_index.get(name) for name in requests}
    indexed = sorted((index, requests[name]) for name, index in indexes.items() if index is not None)
    rows = [row for node in stated.nodes if (row := state.nodes.row_of.get(node)) is not None]
    is_known = len(indexed) == len(requests) and len(rows) == len(stated.nodes)
    if not is_known or not rows or not indexed or min(requests.values()) < 1:
        return None
    load = load_of(indexed, (requests.get(CPU, 0), requests.get(MEMORY, 0)))
    return ReservedShare(np.array(rows, dtype=np.int64), load, 1)


def _quantity(resource: str, amount: int) -> str:
    return canonical(f"{amount}m") if resource == CPU else str(amount)
