"""minResources: a group is not tried while the cluster has less free capacity than its minResources."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from posse.engine.causes import MissingResources, UnreadableResources
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Part
from posse.engine.nodes.arrays import BoolArray
from posse.engine.nodes.node_selectors import CORDON, repels
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.resources import Amounts, amounts
from posse.engine.proof import Proof
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.minimum_reservations import Share
from posse.engine.verdict import Code, Verdict
from posse.model.quantity import QuantityError

_OWN_DOMAIN = "node.kubernetes.io/"
"""Prefix of the taints that state a node's condition, not its purpose."""


def missing_resources(state: ClusterState, group: Part) -> Verdict | None:
    """The first resource with too little free capacity in the cluster; None if there is enough."""
    if not group.minimum_resources:
        return None
    nodes = state.nodes
    try:
        minimum = amounts(group.minimum_resources)
    except QuantityError as error:
        return Verdict(Code.UNRESOLVABLE, UnreadableResources(str(error)), Proof())
    own, kept, rows = _requested_by_members(group), _set_aside(state, group), _working(nodes, group)
    for name, wanted in minimum.items():
        index = nodes.resource_index.get(name)
        free = 0
        if index is not None:
            # Requests of members on nodes are part of the minimum.
            free = _free(nodes, index, rows) + own.get(index, 0)
        if free - kept.get(name, 0) < wanted:
            missing = MissingResources(name, wanted, free, min(free, kept.get(name, 0)))
            return Verdict(Code.UNSCHEDULABLE, missing, Proof())
    return None


def minimum_demand(state: ClusterState, group: Part) -> tuple[tuple[int, int], ...] | None:
    """Index of each resource and how much must still be free of it; None if no amount would be enough."""
    try:
        minimum = amounts(group.minimum_resources)
    except QuantityError:
        return None
    indexes, own = state.nodes.resource_index, _requested_by_members(group)
    if any(name not in indexes for name in minimum):
        return None
    return tuple((indexes[name], wanted - own.get(indexes[name], 0)) for name, wanted in minimum.items())


def free_in_cluster(state: ClusterState, group: Part, resources: Sequence[int]) -> list[int]:
    """By resource: free capacity that the group could count on, less what is reserved for others."""
    rows, kept = _working(state.nodes, group), _set_aside(state, group)
    reserved = {state.nodes.resource_index.get(name): amount for name, amount in kept.items()}
    return [_free(state.nodes, index, rows) - reserved.get(index, 0) for index in resources]


def _free(nodes: NodeTable, index: int, rows: BoolArray) -> int:
    return int(np.maximum(nodes.allocatable[index] - nodes.requested[index], 0)[rows].sum())


def reserve_minimum(state: ClusterState, group: GroupRecord) -> None:
    """Reserve what the group lacks of its minimum, from its start on."""
    state.minimum_reservations.put(group.key, partial(share_of, state.nodes, group))


def share_of(nodes: NodeTable, group: GroupRecord) -> Share:
    """What is reserved for a group: what it lacks while it runs and is not about to finish."""
    on_nodes = [record for record in group.members.values() if record.node]
    is_deleted = group.obj is None or bool(group.obj.metadata.deletion_timestamp)
    is_ending = all(record.pod.metadata.deletion_timestamp for record in on_nodes)
    if is_ending or is_deleted or group.has_completed_members or group.is_set_aside_over:
        return Share()
    started = group.started_resources
    try:
        minimum = amounts(group.minimum_resources)
        # What was raised since has never been free for it, so it is not set aside for it either.
        most = minimum if started is None else amounts(started)
    except QuantityError:
        return Share()
    own = _requested_by_members(group)
    lacking = {
        name: min(wanted, most.get(name, 0)) - own.get(nodes.resource_index.get(name, -1), 0)
        for name, wanted in minimum.items()
    }
    return Share(on_nodes[0].effective_priority, {name: lack for name, lack in lacking.items() if lack > 0})


def _set_aside(state: ClusterState, group: Part) -> Amounts:
    """Capacity reserved for other groups. Started groups ignore it, or they could wait for each other."""
    if group.started_count:
        return {}
    effective_priority = next(
        (record.effective_priority for record in group.members.values()), group.priority
    )
    return state.minimum_reservations.against(effective_priority)


def _requested_by_members(group: Part) -> dict[int, int]:
    """Requests of members on nodes, by index of the resource."""
    requested: dict[int, int] = {}
    for record in group.members.values():
        for index, amount in record.pod_class.requests if record.node else ():
            requested[index] = requested.get(index, 0) + amount
    return requested


def _working(nodes: NodeTable, group: Part) -> BoolArray:
    """Nodes that are neither cordoned nor broken.

    Selectors are ignored: some of the pods may not exist yet.
    """
    classes = dict.fromkeys(record.pod_class for record in group.members.values())
    tolerations = [one for pod_class in classes for one in pod_class.spec.tolerations]
    refused = [
        any(taint.key.startswith(_OWN_DOMAIN) and repels(taint, tolerations) for taint in taints)
        for taints in nodes.taint_sets
    ]
    rows = nodes.alive & ~np.array(refused, dtype=np.bool_)[nodes.taint_set]
    return rows & ~nodes.unschedulable if repels(CORDON, tolerations) else rows
