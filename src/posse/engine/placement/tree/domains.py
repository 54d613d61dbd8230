"""Where a part of a tree may go: the domains of its own key, inside those of the groups above it, best first.

A domain is left out if its bounds exclude the required parts. Every group is counted as if alone, and the
smallest total requests are compared with the free capacity.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np

from posse.engine.groups.part import Part
from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.nodes.topology_domains import Domains
from posse.engine.placement.gang.domain_bounds import bounds, to_come
from posse.engine.placement.gang.domain_pin import pin_of
from posse.engine.placement.search.fill import classes_of
from posse.engine.state.cluster_state import ClusterState

Rows = IntArray | None
"""Allowed rows; None for all."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    rows: Rows
    name: str = ""
    """The domain; empty for a part that has no key."""
    of: int = 1
    """How many domains there are."""
    is_hopeful: bool = True
    """Whether the required parts may fit in it."""


def inside(state: ClusterState, rows: Rows) -> AbstractContextManager[None]:
    return nullcontext() if rows is None else state.confined(rows)


def places(state: ClusterState, part: Part, rows: Rows) -> Iterator[Rows]:
    """The feasible places, best first."""
    return (place.rows for place in all_places(state, part, rows) if place.is_hopeful)


def all_places(state: ClusterState, part: Part, rows: Rows) -> list[Place]:
    """All places, best first; pods on nodes already pin the place. Empty if those are in several domains."""
    if not part.topology_key:
        return [Place(rows)]
    pin = pin_of(state, part)
    if pin.error:
        return []
    with inside(state, rows):
        classes = classes_of(state, part.unattached())
        if pin.value is not None or not classes:
            return _pinned(state.domains(part.topology_key), pin.value)
        seen = bounds(state, part.topology_key, classes)
        hopeful = _may_start(state, part, seen.domains)
        if part.children:
            hopeful &= _has_enough(state, part, seen.domains)
        further = to_come(part)
        sized = bounds(state, part.topology_key, classes, further) if further else seen
        ordered = sized.best_first(0)
    return [
        Place(seen.domains.rows(one), seen.domains.values[one], len(ordered), bool(hopeful[one]))
        for one in ordered
    ]


def _pinned(domains: Domains, value: str | None) -> list[Place]:
    if value not in domains.values:
        return []
    return [Place(domains.rows(domains.values.index(value)), value)]


def _may_start(state: ClusterState, part: Part, domains: Domains) -> BoolArray:
    """By domain: whether enough pods fit, each group and each class of pods by itself."""
    if part.is_started:
        return np.ones(len(domains), dtype=np.bool_)
    able = np.full(len(domains), part.started_count, dtype=np.int64)
    for child in part.children:
        if not child.is_started:
            able += _may_start(state, child, domains)
    for scheduling_class, records in classes_of(state, part.own_unattached()):
        able += np.minimum(state.capacity(scheduling_class).upper_bound_in(domains), len(records))
    return np.greater_equal(able, part.minimum)


def _has_enough(state: ClusterState, part: Part, domains: Domains) -> BoolArray:
    """By domain.

    Whether every resource has at least the smallest total request of the required parts free.
    """
    nodes = state.nodes
    least = _least_taken(part, len(nodes.resource_names))
    wanted = np.flatnonzero(least)
    free = np.maximum(nodes.allocatable[wanted] - nodes.requested[wanted], 0)[:, domains.members]
    enough: BoolArray = np.all(domains.sums(free) >= least[wanted][:, None], axis=0)
    return enough


def _least_taken(part: Part, resources: int) -> IntArray:
    """By resource.

    The smallest total request of the members that must still be placed so that the part starts.
    """
    shares = [_least_taken(child, resources) for child in part.children if not child.is_started]
    shares += [_amounts(record.pod_class.limited, resources) for record in part.own_unattached()]
    needed = part.minimum - part.started_count
    if not shares or needed <= 0:
        return np.zeros(resources, dtype=np.int64)
    smallest: IntArray = np.sort(np.array(shares), axis=0)[:needed].sum(axis=0)
    return smallest


def _amounts(limited: tuple[tuple[int, int], ...], resources: int) -> IntArray:
    amounts = np.zeros(resources, dtype=np.int64)
    for index, wanted in limited:
        amounts[index] = wanted
    return amounts
