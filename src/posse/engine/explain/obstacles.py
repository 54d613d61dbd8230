"""Obstacles of pods that find no node, in more detail than in a message.

They are counted while fitting members of the same group are placed, because the others met that remaining
capacity.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.causes import ClassShortfall, Refusal
from posse.engine.explain.device_lacks import DeviceLack, device_lacks
from posse.engine.groups.group_book import GroupBook
from posse.engine.keys import GroupKey, PodRef
from posse.engine.placement.gang.shortfall import Lack, lack_of, shortfall
from posse.engine.reporting.cause_messages import amount_text
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord

_MAX_NODES = 3
_MAX_HOLDERS = 5


@dataclass(frozen=True, slots=True)
class FreeCapacity:
    """Free and total capacity of a node in the lacking resource."""

    node: str
    free: str
    capacity: str


@dataclass(frozen=True, slots=True)
class Holder:
    """A pod or group that uses the lacking resource on nodes with too little of it left."""

    who: GroupKey | PodRef
    priority: int
    amount: str
    pods: int


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why pods of one class find no node."""

    example: PodRef
    number: int
    fit: int
    """The pods among them that would find a node."""
    requests: tuple[tuple[str, str], ...]
    """Requests of one pod."""
    shortfall: ClassShortfall
    """The shortfall of those that do not fit."""
    refusals: tuple[Refusal, ...]
    resource: str = ""
    """The lacking resource; empty if the cause is no resource."""
    closest: tuple[FreeCapacity, ...] = ()
    holders: tuple[Holder, ...] = ()
    devices: tuple[DeviceLack, ...] = ()
    """Requests for devices that find too few."""


def obstacle(
    state: ClusterState,
    groups: GroupBook,
    scheduling_class: SchedulingClass,
    records: Sequence[PodRecord],
    fit: int,
) -> Obstacle:
    """The obstacle of one class: the first `fit` pods have found a node, the others have not."""
    short, lack = shortfall(state, scheduling_class, records[fit:]), lack_of(state, scheduling_class)
    return Obstacle(
        example=records[fit].ref,
        number=len(records),
        fit=fit,
        requests=_requests(state, scheduling_class),
        shortfall=short.summary,
        refusals=tuple(sorted(short.verdict.refusals, key=lambda one: (-one.nodes, one.rule, one.reason))),
        resource=lack.resource if lack is not None else "",
        closest=_closest(state, lack) if lack is not None else (),
        holders=_holders(state, groups, lack, records[fit]) if lack is not None else (),
        devices=device_lacks(state, records[fit]),
    )


def _requests(state: ClusterState, scheduling_class: SchedulingClass) -> tuple[tuple[str, str], ...]:
    names = state.nodes.resource_names
    asked = [(names[index], wanted) for index, wanted in scheduling_class.pod_class.requests]
    return tuple((name, amount_text(name, wanted)) for name, wanted in asked if name != "pods")


def _closest(state: ClusterState, lack: Lack) -> tuple[FreeCapacity, ...]:
    """Nodes with most of the resource left, though too little; empty where none is left."""
    nodes, name = state.nodes, lack.resource
    capacity = nodes.allocatable[lack.index]
    free = capacity - nodes.requested[lack.index]
    rows = np.flatnonzero(lack.short & (free > 0)).tolist()
    nearest = sorted(rows, key=lambda row: (-int(free[row]), nodes.names[row]))[:_MAX_NODES]
    return tuple(
        FreeCapacity(
            nodes.names[row], amount_text(name, int(free[row])), amount_text(name, int(capacity[row]))
        )
        for row in nearest
    )


def _holders(state: ClusterState, groups: GroupBook, lack: Lack, wanting: PodRecord) -> tuple[Holder, ...]:
    """Holders, largest first, without the group of the pod that lacks the resource.

    On nodes that are too small even if empty, nothing is in its way.
    """
    found: dict[GroupKey | PodRef, tuple[int, int, int]] = {}
    for row in np.flatnonzero(lack.short & (state.nodes.allocatable[lack.index] >= lack.wanted)).tolist():
        for record in state.pods_on(state.nodes.names[row]):
            amount = dict(record.pod_class.requests).get(lack.index, 0)
            if amount and (record.group is None or not _are_one(groups, record.group, wanting.group)):
                who = record.group or record.ref
                _, held, pods = found.get(who, (0, 0, 0))
                found[who] = record.own_rank, held + amount, pods + 1
    largest = sorted(found.items(), key=lambda item: (-item[1][1], _name(item[0])))[:_MAX_HOLDERS]
    return tuple(
        Holder(who, priority, amount_text(lack.resource, held), pods)
        for who, (priority, held, pods) in largest
    )


def _are_one(groups: GroupBook, key: GroupKey, wanting: GroupKey | None) -> bool:
    """Whether both are one group, or parts of one tree."""
    return wanting is not None and groups.links.root_key(key) == groups.links.root_key(wanting)


def _name(who: GroupKey | PodRef) -> str:
    return str(who) if isinstance(who, GroupKey) else f"{who.namespace}/{who.name}"
