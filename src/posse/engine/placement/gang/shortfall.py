"""What pods of a group lack that find no node.

It is counted while the pods that fit are placed, because the others met that remaining capacity.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.causes import ClassShortfall, NoNodeFits, ResourceLack, TooManySteps
from posse.engine.devices.needs import claim_names
from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.placement_problem import PodTooLarge
from posse.engine.rules.context import SchedulingClass
from posse.engine.rules.resources import ResourcesFit
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import Code, Verdict


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Pods of one class that found no node."""

    scheduling_class: SchedulingClass
    records: tuple[PodRecord, ...]
    verdict: Verdict
    summary: ClassShortfall


@dataclass(frozen=True, slots=True, eq=False)
class Lack:
    """The resource that excludes most of the nodes that no other rule refuses."""

    resource: str
    index: int
    wanted: int
    """Request of one pod."""
    open_rows: BoolArray
    """Nodes that refuse the pods only for lack of resources."""
    short: BoolArray
    """Those with too little of this resource."""


def unfinished(scheduling_class: SchedulingClass, records: Sequence[PodRecord]) -> Shortfall:
    """Pods that were not tried, because the attempt takes too many steps."""
    verdict, summary = (
        Verdict(Code.UNRESOLVABLE, TooManySteps()),
        ClassShortfall(len(records), TooManySteps()),
    )
    return Shortfall(scheduling_class, tuple(records), verdict, summary)


def shortfall(
    state: ClusterState, scheduling_class: SchedulingClass, records: Sequence[PodRecord]
) -> Shortfall:
    verdict = state.scores(scheduling_class).refuse()
    lack = lack_of(state, scheduling_class)
    cause = verdict.cause
    if len(records) == 1 and isinstance(cause, NoNodeFits) and cause.names_own_claims:
        cause = cause.with_names(claim_names(records[0].pod))
    summary = ClassShortfall(len(records), cause, _counted(state, lack) if lack is not None else None)
    return Shortfall(scheduling_class, tuple(records), verdict, summary)


def summaries(shortfalls: Sequence[Shortfall]) -> tuple[ClassShortfall, ...]:
    return tuple(one.summary for one in shortfalls)


def lack_of(state: ClusterState, scheduling_class: SchedulingClass) -> Lack | None:
    """The resource the pods lack; None if they lack no resource."""
    nodes = state.nodes
    open_rows = state.capacity(scheduling_class).objecting_only(ResourcesFit.name)
    free = nodes.allocatable - nodes.requested
    short = {
        index: open_rows & (free[index] < wanted) for index, wanted in scheduling_class.pod_class.limited
    }
    index = max(short, key=lambda one: int(np.count_nonzero(short[one])), default=-1)
    if index < 0 or not short[index].any():
        return None
    name, wanted = nodes.resource_names[index], dict(scheduling_class.pod_class.limited)[index]
    return Lack(name, index, wanted, open_rows, short[index])


def too_large(state: ClusterState, scheduling_class: SchedulingClass) -> PodTooLarge | None:
    """The resource of which no node has enough for one of the pods, even if empty and open to them."""
    nodes, rows = state.nodes, state.usable()
    for index, wanted in scheduling_class.pod_class.limited if rows.any() else ():
        largest = int(nodes.allocatable[index][rows].max())
        if largest < wanted:
            return PodTooLarge(nodes.resource_names[index], wanted, largest)
    return None


def _counted(state: ClusterState, lack: Lack) -> ResourceLack:
    capacity = state.nodes.allocatable[lack.index]
    free = capacity - state.nodes.requested[lack.index]
    some = lack.short & (free > 0)
    rows = some if some.any() else lack.short
    return ResourceLack(
        lack.resource,
        lack.wanted,
        int(np.count_nonzero(rows)),
        _span(np.maximum(free[rows], 0)),
        _span(capacity[rows]),
    )


def _span(amounts: IntArray) -> tuple[int, int]:
    return int(amounts.min()), int(amounts.max())
