"""Capacity that is reserved for groups because they wait, by node."""

from dataclasses import dataclass, field

import numpy as np

from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.nodes.resources import Amounts
from posse.engine.queue.capacity_reservation import CapacityReservation


@dataclass(frozen=True, slots=True)
class GuardedCapacity:
    """Pods that run there may still use some of it."""

    group: GroupKey
    by_node: dict[str, Amounts] = field(default_factory=dict)


def guarded_capacity(knowledge: Knowledge) -> list[GuardedCapacity]:
    reservations = knowledge.starvation_guard.reservations
    return [
        GuardedCapacity(one.key, _by_node(knowledge, one))
        for one in reservations
        if isinstance(one.key, GroupKey)
    ]


def _by_node(knowledge: Knowledge, reservation: CapacityReservation) -> dict[str, Amounts]:
    nodes = knowledge.state.nodes
    usage = reservation.usage(nodes.requested.shape)
    names = nodes.resource_names
    by_node: dict[str, Amounts] = {}
    for resource, row in np.argwhere(usage > 0).tolist():
        by_node.setdefault(nodes.names[row], {})[names[resource]] = int(usage[resource, row])
    return by_node
