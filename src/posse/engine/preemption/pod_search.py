"""Preemption by a single pod: examine the candidate nodes and choose the one with the least cost.

One pass over the columns rules out nodes where evicting all pods of lower priority frees too little. Of the
rest, nodes where victims of the lowest priority suffice are examined first, and only a share of them.
"""

from dataclasses import dataclass

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.preemption.candidates import Candidate, Search, least_lost
from posse.engine.preemption.cost import Choice
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.verdict import NoCandidateNode, NodeChosen, PodPreemption

LEAST_CANDIDATES = 100
CANDIDATE_SHARE = 10
"""At least this many nodes are examined, and at least one in ten."""

_IMPOSSIBLE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class PodSearchResult:
    progress: PodPreemption
    chosen: Candidate | None = None
    others: tuple[Choice, ...] = ()
    """The next best choices."""


def preempt(search: Search) -> PodSearchResult:
    candidates: list[Candidate] = []
    most = max(LEAST_CANDIDATES, len(search.state.nodes) // CANDIDATE_SHARE)
    rows = _promising_rows(search)
    for candidate in search.examine(rows.tolist()):
        candidates.append(candidate)
        if len(candidates) >= most and any(not found.violations for found in candidates):
            break
    if not candidates:
        return PodSearchResult(_fruitless(search))
    chosen, others = least_lost(candidates)
    count = sum(len(unit.records) for unit in chosen.victims if not unit.is_ending)
    return PodSearchResult(NodeChosen(chosen.node, count), chosen, others)


def could_preempt(
    state: ClusterState, scheduling_class: SchedulingClass, priority: int, rows: IntArray
) -> bool:
    """Whether one of the rows could hold the pod if all pods of lower priority were gone."""
    nodes, lower = state.nodes, [one for one in state.usage.priorities() if one < priority]
    if not lower or not state.profile(scheduling_class.pod_class).preempts:
        return False
    room = state.capacity(scheduling_class).resolvable()[rows]
    for index, wanted in scheduling_class.pod_class.limited:
        free = nodes.allocatable[index, rows] - nodes.requested[index, rows]
        room &= free + sum(state.usage.requested(one)[index, rows] for one in lower) >= wanted
    return bool(room.any())


def _promising_rows(search: Search) -> IntArray:
    """Rows where eviction may help, those first where evicting the lowest priorities is enough."""
    state = search.state
    level = np.full(state.nodes.alive.size, _IMPOSSIBLE, dtype=np.int64)
    freed = np.zeros_like(state.nodes.requested)
    for number, priority in enumerate(_lower_priorities(search)):
        freed += state.usage.requested(priority)
        level[_has_room(search, freed) & (level == _IMPOSSIBLE)] = number
    resolvable = state.capacity(search.preemptor.scheduling_class).resolvable()
    rows = np.flatnonzero(resolvable & (level != _IMPOSSIBLE) & _has_victims(search))
    ordered: IntArray = rows[np.lexsort(((rows - state.turn) % level.size, level[rows]))]
    return ordered


def _lower_priorities(search: Search) -> list[int]:
    return [priority for priority in search.state.usage.priorities() if priority < search.preemptor.priority]


def _has_room(search: Search, freed: IntArray) -> BoolArray:
    nodes = search.state.nodes
    room = nodes.alive.copy()
    for index, wanted in search.preemptor.scheduling_class.pod_class.limited:
        room &= nodes.allocatable[index] - nodes.requested[index] + freed[index] >= wanted
    return room


def _has_victims(search: Search) -> BoolArray:
    needs = search.preemptor.scheduling_class.pod_class.devices
    if needs is not None and needs.spans_nodes and _lower_priorities(search):
        # Pods anywhere may hold its devices.
        return search.state.nodes.alive.copy()
    pods = search.state.nodes.resource_index["pods"]
    lower = [search.state.usage.requested(priority)[pods] for priority in _lower_priorities(search)]
    return np.any(np.array(lower) > 0, axis=0) if lower else np.zeros_like(search.state.nodes.alive)


def _fruitless(search: Search) -> NoCandidateNode:
    nodes = search.state.nodes
    resolvable = search.state.capacity(search.preemptor.scheduling_class).resolvable()
    without = int(np.count_nonzero(nodes.alive & resolvable & ~_has_victims(search)))
    return NoCandidateNode(len(nodes), without)
