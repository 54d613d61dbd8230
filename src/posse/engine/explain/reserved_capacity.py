"""Capacity that is reserved for a group because it has waited long, by node."""

from dataclasses import dataclass, field

import numpy as np

from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.nodes.resources import Amounts


@dataclass(frozen=True, slots=True)
class GuardedCapacity:
    """Pods that run there may still use some of it."""

    group: GroupKey
    by_node: dict[str, Amounts] = field(default_factory=dict)


def guarded_capacity(knowledge: Knowledge) -> GuardedCapacity | None:
    reservation = knowledge.starvation_guard.undated
    if reservation is None or not isinstance(reservation.key, GroupKey):
        return None
    nodes = knowledge.state.nodes
    usage = reservation.usage(nodes.requested.shape)
    names = nodes.resource_names
    by_node: dict[str, Amounts] = {}
    for resource, row in np.argwhere(usage > 0).tolist():
        by_node.setdefault(nodes.names[row], {})[names[resource]] = int(usage[resource, row])
    return GuardedCapacity(reservation.key, by_node)
