"""Groups may say what they need in all (minResources): as long as the cluster has less free, trying them is in vain."""

import numpy as np

from posse.engine.cluster_state import ClusterState
from posse.engine.groups import GroupRecord
from posse.engine.resources import amounts
from posse.engine.shortfall import amount_text
from posse.engine.verdict import Code, Proof, Verdict
from posse.model.quantity import QuantityError


def missing_resources(state: ClusterState, group: GroupRecord) -> Verdict | None:
    """What the cluster has too little of; None if there is enough."""
    nodes = state.nodes
    try:
        minimum = amounts(group.minimum_resources)
    except QuantityError as error:
        return Verdict(Code.UNRESOLVABLE, f"its minResources cannot be read: {error}.", proof=Proof())
    for name, wanted in minimum.items():
        index = nodes.resource_index.get(name)
        free = 0
        if index is not None:
            free = int(np.maximum(nodes.allocatable[index] - nodes.requested[index], 0)[nodes.alive].sum())
            free += _taken_by_members(group, index)
        if free < wanted:
            asked, left = amount_text(name, wanted), amount_text(name, free)
            text = f"its minResources ask for {asked} of {name}, and the cluster has {left} free for it."
            return Verdict(Code.UNSCHEDULABLE, text, proof=Proof())
    return None


def _taken_by_members(group: GroupRecord, index: int) -> int:
    """What members on nodes use is part of the minimum."""
    attached = (record for record in group.members.values() if record.node)
    return sum(dict(record.pod_class.requests).get(index, 0) for record in attached)
