"""A refused group with possible changes: additional nodes like existing ones, and evictable units.

An exact search elsewhere determines which of these would let it start; nothing is tried here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from posse.engine.exact.problem_builder import (
    DeviceLimits,
    ProblemBuilder,
    about,
    about_part,
    device_limits,
    is_small,
    lines,
)
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.part import Part, Root
from posse.engine.keys import GroupKey, PodRef
from posse.engine.nodes.arrays import IntArray
from posse.engine.placement.gang.minimum_resources import free_in_cluster
from posse.engine.placement.gang.shortfall import too_large
from posse.engine.placement.tree.domains import Rows, all_places, inside
from posse.engine.placement_problem import (
    NEW_DOMAIN,
    DemandName,
    EvictableUnit,
    NodeShape,
    NoNodeOpen,
    PlacementProblem,
    PodSet,
    RemedyProblem,
    TooManyShapes,
    Unadvised,
    UnmodelledRules,
)
from posse.engine.pods.domain_counts import HOSTNAME
from posse.engine.preemption.units import Unit, evicted_with, units_below
from posse.engine.rules.context import SchedulingClass
from posse.engine.rules.devices import DynamicResources
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord

_MANY = 2**31
"""More pods than any cluster has."""
_SYSTEM_PRIORITY = 2_000_000_000
"""Pods from this priority on keep the cluster running; no remedy evicts them."""
_BOUND_TO_NODES = frozenset({"DaemonSet", "Node"})
"""Owners with a pod on each node, or on this one: an evicted pod would be recreated there at once."""
_MAX_OCCUPANTS = 16
_MAX_SHAPES = 64


@dataclass(frozen=True, slots=True)
class _Ground:
    """The nodes that the group may use, including full ones."""

    asking: ProblemBuilder
    rows: IntArray
    room: IntArray
    """By class, by row: how many pods would fit on an empty node."""
    domains: IntArray
    """By key, by row."""
    numbers: dict[str, int]
    """Node number in the problem, by name."""

    @property
    def state(self) -> ClusterState:
        return self.asking.state

    def closeness(self) -> IntArray:
        """By row: how many pods its domain could take now."""
        state, rows = self.state, self.rows
        fitting = np.sum(
            [state.capacity(one).per_node()[rows] for one in self.asking.scheduling_classes], axis=0
        )
        everywhere = np.zeros((1, rows.size), dtype=np.int64)
        _, domain_of = np.unique(np.vstack((self.domains, everywhere)), axis=1, return_inverse=True)
        totals = np.bincount(domain_of.ravel(), weights=fitting).astype(np.int64)
        by_row: IntArray = totals[domain_of.ravel()]
        return by_row


def remedy_problem_of(
    state: ClusterState, groups: GroupBook, root: Root, key: GroupKey, *, preempts: bool
) -> RemedyProblem | Unadvised | None:
    """The remedy problem; None where there is nothing to ask.

    In a started tree, it is about the group with the key.

    `preempts` says whether pods of lower priority are evicted for the group.
    """
    top = root.top
    if top is None or not (top.children and top.is_started):
        return _remedy_problem(about(state, root), groups, root, preempts=preempts)
    above, newcomer = _newcomer(top, key)
    if newcomer is None:
        return None
    rows: Rows = None
    for branch in above:
        found = all_places(state, branch, rows)
        rows = found[0].rows if len(found) == 1 else rows
    with inside(state, rows):
        return _remedy_problem(about_part(state, newcomer, above), groups, root, preempts=preempts)


def room_problem_of(state: ClusterState, groups: GroupBook, root: Root) -> RemedyProblem | Unadvised | None:
    """The problem of stopping gangs, each as a whole and whatever its priority, so that the group fits."""
    asking = about(state, root)
    if asking is not None and any(one.pod_class.devices is not None for one in asking.scheduling_classes):
        # Devices that are free once a gang has stopped are not counted.
        return UnmodelledRules((DynamicResources.name,))
    found = _remedy_problem(asking, groups, root, preempts=False)
    if asking is None or not isinstance(found, RemedyProblem):
        return found
    ground = _ground(replace(asking, may_grow=True))
    return replace(found, evictable_units=tuple(_gangs(ground, groups, root)))


def _gangs(ground: _Ground, groups: GroupBook, root: Root) -> Iterator[EvictableUnit]:
    """Everything that runs on these nodes: trees and groups as a whole, and pods without a group."""
    units: dict[GroupKey | PodRef, list[Unit]] = {}
    for unit in _units(ground, groups, root):
        first = unit.records[0]
        who = groups.links.root_key(first.group) if first.group is not None else first.ref
        units.setdefault(who, []).append(unit)
    for who, parts in units.items():
        if not any(_comes_back(record) for part in parts for record in part.records):
            uids = tuple(record.ref.uid for part in parts for record in part.records)
            yield EvictableUnit(_target(who), _freed(ground, parts), uids)


def _target(who: GroupKey | PodRef) -> str:
    kind = "pod" if isinstance(who, PodRef) else "compositepodgroup" if who.is_composite else "podgroup"
    return f"{kind} {who.namespace}/{who.name}"


def _newcomer(part: Part, key: GroupKey) -> tuple[list[Part], Part | None]:
    """The first part above a group that has not started, and the parts above that; None if all have."""
    below = (one for one in part.children if key in _keys(one))
    child = next(below, None)
    if child is None or not child.is_started:
        return [part], child
    above, newcomer = _newcomer(child, key)
    return [part, *above], newcomer


def _keys(part: Part) -> list[GroupKey]:
    return [part.key, *(key for child in part.children for key in _keys(child))]


def _remedy_problem(
    asking: ProblemBuilder | None, groups: GroupBook, root: Root, *, preempts: bool
) -> RemedyProblem | Unadvised | None:
    if asking is None:
        return None
    asking = replace(asking, may_grow=True)
    if not asking.is_modelled_when_empty:
        return UnmodelledRules(tuple(asking.unmodelled))
    ground = _ground(asking)
    nodes, wanted, rows = ground.state.nodes, asking.resources, ground.rows
    free = nodes.allocatable[wanted][:, rows] - nodes.requested[wanted][:, rows]
    if not rows.size:
        reasons = (too_large(asking.state, one) for one in asking.scheduling_classes)
        return NoNodeOpen(next(filter(None, reasons), None))
    limits = device_limits(asking, rows)
    if limits is None or not is_small(
        asking, np.vstack((free, ground.room, ground.domains, *limits.features))
    ):
        return TooManyShapes()
    pod_sets = [
        PodSet(asking.wanted(one), tuple(line.tolist()))
        for one, line in zip(asking.scheduling_classes, ground.room, strict=True)
    ]
    # Which devices an eviction frees is not modelled, so that none is advised, nor taken for granted.
    units = _units(ground, groups, root) if not limits.mix_of else []
    lowest = root.waiting_priorities[-1]
    lesser = [unit for unit in units if preempts and unit.priority < lowest]
    others = [unit for unit in units if not preempts or unit.priority >= lowest]
    others = [unit for unit in others if not any(map(_comes_back, unit.records))]
    demand = asking.demand(asking.top)
    elsewhere = _elsewhere(asking, free) if asking.states_minimum_resources else ()
    return RemedyProblem(
        PlacementProblem(
            lines(free),
            tuple(pod_sets),
            demand,
            lines(ground.domains),
            limits.mixes,
            limits.mix_of,
            elsewhere,
        ),
        tuple(_names(asking)),
        _shapes(ground, limits),
        lines(_taken(ground, lesser)) if lesser else (),
        tuple(_occupants(ground, groups, others)),
    )


def _elsewhere(asking: ProblemBuilder, free: IntArray) -> tuple[int, ...]:
    everywhere = free_in_cluster(asking.state, asking.top, asking.resources)
    here = np.maximum(free, 0).sum(axis=1).tolist()
    return tuple(whole - part for whole, part in zip(everywhere, here, strict=True))


def _ground(asking: ProblemBuilder) -> _Ground:
    room = np.array(
        [_room_when_empty(asking.state, scheduling_class) for scheduling_class in asking.scheduling_classes]
    )
    rows = np.flatnonzero(room.any(axis=0))
    names = asking.state.nodes.names
    numbers = {names[row]: number for number, row in enumerate(rows.tolist())}
    return _Ground(asking, rows, room[:, rows], asking.domains(rows), numbers)


def _room_when_empty(state: ClusterState, scheduling_class: SchedulingClass) -> IntArray:
    room = np.where(state.capacity(scheduling_class).open_when_empty(), _MANY, 0)
    for index, wanted in scheduling_class.pod_class.limited:
        np.minimum(room, state.nodes.allocatable[index] // wanted, out=room)
    return room


def _names(asking: ProblemBuilder) -> Iterator[DemandName]:
    for part in asking.parts():
        yield DemandName(part.key.name, part.key.is_composite, part.minimum, part.started_count)


def _shapes(ground: _Ground, limits: DeviceLimits) -> tuple[NodeShape, ...]:
    """Node shapes, those of the domains with most capacity first, then the most frequent."""
    state, asking = ground.state, ground.asking
    offered = state.nodes.allocatable[asking.resources][:, ground.rows]
    domains = _open_domains(ground)
    features = np.vstack((offered, ground.room, domains, *limits.features))
    _, first, counts = np.unique(features, axis=1, return_index=True, return_counts=True)
    closeness = ground.closeness()
    order = sorted(
        (-int(closeness[column]), -count, column)
        for column, count in zip(first.tolist(), counts.tolist(), strict=True)
    )
    return tuple(
        NodeShape(
            state.nodes.names[ground.rows[column]],
            tuple(offered[:, column].tolist()),
            tuple(ground.room[:, column].tolist()),
            tuple(domains[:, column].tolist()),
            _where(asking, domains[:, column]),
            limits.mix_of[column] if limits.mix_of else 0,
        )
        for _, _, column in order[:_MAX_SHAPES]
    )


def _open_domains(ground: _Ground) -> IntArray:
    """By key, by row: the domain of an additional node like this one."""
    domains = ground.domains.copy()
    for line, key in zip(domains, ground.asking.keys, strict=True):
        if _tells_nodes_apart(ground, key):
            line[line >= 0] = NEW_DOMAIN
    return domains


def _tells_nodes_apart(ground: _Ground, key: str) -> bool:
    """Whether the key identifies a node, as host names do. A rack of one node may get another node."""
    nodes = ground.state.nodes
    column = nodes.labels.column(key)
    named = ((nodes.names[row], int(column.ids[row])) for row in ground.rows.tolist())
    return column.is_one_to_one and (
        key == HOSTNAME or all(column.values[value] == name for name, value in named if value >= 0)
    )


def _where(asking: ProblemBuilder, domains: IntArray) -> str:
    """Such as "rack r1"; with several keys, the first that the tree names."""
    labels = asking.state.nodes.labels
    named = [
        f"{key.rpartition('/')[2]} {labels.column(key).values[domain]}"
        for key, domain in zip(asking.keys, domains.tolist(), strict=True)
        if domain >= 0
    ]
    return " and ".join(named)


def _units(ground: _Ground, groups: GroupBook, root: Root) -> list[Unit]:
    """Evictable units on these nodes, highest priority first."""
    state = ground.state
    there = (record for row in ground.rows.tolist() for record in state.pods_on(state.nodes.names[row]))
    others = [one for one in there if not one.is_ending and one.ref.uid not in root.members]
    return units_below(others, _SYSTEM_PRIORITY, groups)


def _taken(ground: _Ground, units: Sequence[Unit]) -> IntArray:
    """By resource, by node of the problem."""
    resources = ground.asking.resources
    taken = np.zeros((len(resources), ground.rows.size), dtype=np.int64)
    for record in (record for unit in units for record in unit.records):
        node = ground.numbers.get(record.node)
        if node is not None:
            amounts = dict(record.pod_class.requests)
            taken[:, node] += [amounts.get(resource, 0) for resource in resources]
    return taken


def _occupants(ground: _Ground, groups: GroupBook, units: Sequence[Unit]) -> Iterator[EvictableUnit]:
    """Evictable units; among equal priorities, first in the domain with most capacity, then the smallest."""
    closeness, numbers = ground.closeness(), ground.numbers

    def order(unit: Unit) -> tuple[int, int, int]:
        here = max(int(closeness[numbers[r.node]]) for r in unit.records if r.node in numbers)
        return unit.priority, -here, len(unit.records)

    for unit in sorted(units, key=order)[:_MAX_OCCUPANTS]:
        yield EvictableUnit(_name(unit, groups), _freed(ground, [unit]))


def _freed(ground: _Ground, units: Sequence[Unit]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """By node of the problem: the requests of their pods there."""
    taken = _taken(ground, units)
    return tuple(
        (node, tuple(taken[:, node].tolist())) for node in np.flatnonzero(taken.any(axis=0)).tolist()
    )


def _comes_back(record: PodRecord) -> bool:
    owners = record.pod.metadata.owner_references
    return any(owner.controller and owner.kind in _BOUND_TO_NODES for owner in owners)


def _name(unit: Unit, groups: GroupBook) -> str:
    first = unit.records[0]
    whole = evicted_with(first.group, groups) if first.group is not None else []
    return _target(whole[0] if whole else first.ref)
