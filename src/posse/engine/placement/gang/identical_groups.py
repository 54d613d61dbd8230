"""Identical groups: once one of them has started, the next ones in the queue follow in one step.

The result equals that of trying one after the other: pods are placed one by one in any case, across group
boundaries. The best domain for the first group only gets fuller for the next, which makes it no worse while
it has capacity for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from posse.engine.groups.part import Root
from posse.engine.nodes.arrays import IntArray
from posse.engine.placement.search.fill import fill
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.invariants import ensure, no_gang_across_domains
from posse.engine.state.pod_record import PodRecord


class GroupShape(msgspec.Struct, frozen=True, gc=False):
    """Groups that share it have equal needs in every respect that decides their placement."""

    scheduling_class: SchedulingClass
    size: int
    topology_key: str


def shape_of(state: ClusterState, root: Root) -> GroupShape | None:
    """The shape of a group; None if it has to be tried by itself.

    That holds for trees, for groups with different pods or with pods on nodes or nominated, where rules other
    than resources decide, and where groups are packed or prefer a topology.
    """
    top = root.top
    if top is None or top.children or top.minimum_resources:
        return None
    members = list(top.members.values())
    scheduling_class = _common_class(state, members)
    if scheduling_class is None:
        return None
    profile = state.profile(scheduling_class.pod_class)
    if profile.group_rules or profile.packing or top.leaves[0].preferred_topology:
        return None
    if not state.rules(scheduling_class).counts_by_node:
        return None
    return GroupShape(scheduling_class, len(members), top.topology_key)


def has_shape(state: ClusterState, root: Root, shape: GroupShape) -> bool:
    """Whether the shape of the group is this one; what the class decides is known of the shape already."""
    top = root.top
    if top is None or top.children or top.minimum_resources or len(top.members) != shape.size:
        return False
    if top.topology_key != shape.topology_key or top.leaves[0].preferred_topology:
        return False
    members = list(top.members.values())
    if members[0].pod_class is not shape.scheduling_class.pod_class:
        return False
    return _common_class(state, members) == shape.scheduling_class


def _common_class(state: ClusterState, members: Sequence[PodRecord]) -> SchedulingClass | None:
    """The class of all members, if all wait for any node; otherwise None."""
    first = members[0]
    scheduling_class = state.scheduling_class(first)
    for record in members:
        if record.node or record.nominated or record.pod.metadata.deletion_timestamp:
            return None
        if record.pod_class is not first.pod_class:
            return None
        if record.labels is not first.labels and state.scheduling_class(record) != scheduling_class:
            return None
    return scheduling_class


@dataclass(frozen=True, slots=True)
class Remaining:
    """Capacity left for identical groups after one has started."""

    pattern: GroupShape
    groups: int
    """How many more identical groups fit."""
    rows: IntArray | None
    """The rows with that capacity; None for the whole cluster."""


def remaining_of(state: ClusterState, pattern: GroupShape, node: str) -> Remaining:
    """Capacity left after a group that has a member on this node."""
    capacity = state.capacity(pattern.scheduling_class)
    if not pattern.topology_key:
        groups = int(capacity.per_node().sum()) // pattern.size
        return Remaining(pattern, groups if _is_exact(state, pattern) else 0, None)
    domains = state.domains(pattern.topology_key)
    row = np.array([state.nodes.row_of[node]])
    number = int(domains.numbers_at(domains.places_of(row, state.nodes.alive.size))[0])
    groups = int(capacity.upper_bound_in(domains)[number]) // pattern.size
    return Remaining(pattern, groups if _is_exact(state, pattern) else 0, domains.rows(number))


def _is_exact(state: ClusterState, pattern: GroupShape) -> bool:
    """Whether the capacity just counted is more than a bound."""
    return state.rules(pattern.scheduling_class).counts_by_node


def place_identical(
    state: ClusterState, wake: Remaining, groups: Sequence[Root]
) -> list[tuple[PodRecord, ...]]:
    """Place as many groups as fit; returns the members of each."""
    members = [tuple(group.unattached()) for group in groups]
    if not members:
        return []
    records = [record for together in members for record in together]
    draft = Draft(state)
    if wake.rows is None:
        placed = fill(state, draft, wake.pattern.scheduling_class, records)
    else:
        with state.confined(wake.rows):
            placed = fill(state, draft, wake.pattern.scheduling_class, records)
        values = _domains_of(state, wake.pattern.topology_key, records)
        no_gang_across_domains([group.key for group in groups], values)
    ensure(placed == len(records), "room that was counted is there", placed=placed, counted=len(records))
    draft.commit()
    return members


def _domains_of(state: ClusterState, key: str, records: Sequence[PodRecord]) -> list[str]:
    column = state.nodes.labels.column(key)
    rows = [state.nodes.row_of[record.node] for record in records]
    return [str(column.values[one]) for one in np.unique(column.ids[rows]).tolist()]
