"""What a group lacks, in a sentence: how many of its pods fit, what the others miss, and what there is of it.

Told while the pods that do fit are still on their nodes, so that the numbers are those the others met.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.nodes.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from posse.engine.rules.context import SchedulingClass
from posse.engine.rules.resources_fit import ResourcesFit
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import Verdict
from posse.model.quantity import canonical

_MOST_TOLD = 3
"""Classes of pods that a message describes one by one."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Pods of one class that found no node."""

    scheduling_class: SchedulingClass
    records: tuple[PodRecord, ...]
    verdict: Verdict
    lack: str
    """What they miss, in words; empty where it is not a resource."""

    @property
    def sentence(self) -> str:
        number = len(self.records)
        return (
            f"{number} {self.lack}" if self.lack else f"{number} {'find' if number > 1 else 'finds'} no node"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Lack:
    """The resource that keeps pods off most of the nodes that have no other objection to them."""

    resource: str
    index: int
    wanted: int
    """By one pod."""
    open_rows: BoolArray
    """Nodes where nothing but lack of resources is in the way."""
    short: BoolArray
    """Those of them that have too little of this one."""


def shortfall(
    state: ClusterState, scheduling_class: SchedulingClass, records: Sequence[PodRecord]
) -> Shortfall:
    verdict = state.scores(scheduling_class).refuse()
    return Shortfall(
        scheduling_class, tuple(records), verdict, _lack_in_words(state, scheduling_class, len(records))
    )


def told(shortfalls: Sequence[Shortfall]) -> str:
    """All of them in one line, then what every node says."""
    parts = [one.sentence for one in shortfalls[:_MOST_TOLD]]
    rest = sum(len(one.records) for one in shortfalls[_MOST_TOLD:])
    if rest:
        parts.append(f"{rest} others lack something too")
    reasons = dict.fromkeys(f"{one.verdict.message.rstrip('.')}." for one in shortfalls[:_MOST_TOLD])
    ending = "." if any(one.lack for one in shortfalls) else ":"
    return f"{', '.join(parts)}{ending} {' '.join(reasons)}"


def lack_of(state: ClusterState, scheduling_class: SchedulingClass) -> Lack | None:
    """None where it is not a resource that the pods miss."""
    nodes = state.nodes
    open_rows = state.capacity(scheduling_class).objecting_only(ResourcesFit.name)
    free = nodes.allocatable - nodes.requested
    short = {
        index: open_rows & (free[index] < wanted) for index, wanted in scheduling_class.pod_class.limited
    }
    index = max(short, key=lambda one: int(np.count_nonzero(short[one])), default=-1)
    if index < 0 or not short[index].any():
        return None
    name, wanted = list(nodes.resource_index)[index], dict(scheduling_class.pod_class.limited)[index]
    return Lack(name, index, wanted, open_rows, short[index])


def _lack_in_words(state: ClusterState, scheduling_class: SchedulingClass, number: int) -> str:
    lack = lack_of(state, scheduling_class)
    if lack is None:
        return ""
    name, capacity = lack.resource, state.nodes.allocatable[lack.index]
    free = capacity - state.nodes.requested[lack.index]
    verb = "lack" if number > 1 else "lacks"
    each = " each" if number > 1 else ""
    asked = f"{name} ({amount_text(name, lack.wanted)}{each})" if name != PODS else "a free pod slot"
    return f"{verb} {asked}: {_offer(name, free, capacity, lack.short)}"


def _offer(name: str, free: IntArray, capacity: IntArray, short: BoolArray) -> str:
    """Nodes with some of it left, though too little; where none has any, that."""
    some = short & (free > 0)
    rows = some if some.any() else short
    number = int(np.count_nonzero(rows))
    verb = "nodes have" if number > 1 else "node has"
    left, whole = np.maximum(free[rows], 0), capacity[rows]
    return f"{number} {verb} {_span(name, left)} free of {_span(name, whole)}"


def _span(name: str, amounts: IntArray) -> str:
    least, most = (amount_text(name, int(end)) for end in (amounts.min(), amounts.max()))
    return least if least == most else f"{least}-{most}"


def amount_text(name: str, amount: int) -> str:
    """As people write it: CPU in cores, memory in the largest unit that leaves a whole number of it."""
    if name == CPU:
        return canonical(f"{amount}m")
    if name in {MEMORY, EPHEMERAL_STORAGE} and amount:
        return _binary(amount)
    return str(amount)


def _binary(amount: int) -> str:
    for unit, size in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if amount >= size:
            shown = f"{amount / size:.1f}"
            return f"{shown.removesuffix('.0')}{unit}"
    return str(amount)
