"""In which order, and how, the classes of a group are tried: first as pods come, then in ways that save room.

One class is placed exactly by counting. Several classes compete for the same room, and which of them goes first decides
whether the others still fit; so a group that does not fit in one order is tried in others before it is refused.
"""

from collections.abc import Callable, Iterator, Sequence

from posse.engine.placement.search.fill import fill
from posse.engine.placement.search.pack import fill_tightly
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.pod_record import PodRecord

Fill = Callable[[ClusterState, Draft, SchedulingClass, Sequence[PodRecord]], int]
MemberClass = tuple[SchedulingClass, list[PodRecord]]


def classes_of(state: ClusterState, members: Sequence[PodRecord]) -> list[MemberClass]:
    """Members that are alike together, the class of the oldest member first."""
    classes: dict[SchedulingClass, list[PodRecord]] = {}
    before: PodRecord | None = None
    alike: list[PodRecord] = []
    for record in members:
        # Mostly the same as for the one before, which is quicker to see than to work out.
        if before is None or record.pod_class is not before.pod_class or record.labels is not before.labels:
            alike = classes.setdefault(state.scheduling_class(record), [])
        alike.append(record)
        before = record
    return list(classes.items())


def other_ways(
    state: ClusterState, classes: Sequence[MemberClass]
) -> Iterator[tuple[list[MemberClass], Fill]]:
    """What is worth trying after the plain order has failed."""
    if len(classes) == 1:
        return
    by_size = sorted(classes, key=lambda one: share(state, one[0]))
    by_choice = sorted(classes, key=lambda one: open_nodes(state, one[0]))
    for ordered in (by_size[::-1], by_choice, by_size):
        for way in (fill_tightly, fill):
            yield ordered, way


def share(state: ClusterState, scheduling_class: SchedulingClass) -> float:
    """The largest part of a largest node that one pod takes, over all resources."""
    largest = state.nodes.allocatable.max(axis=1)
    return max(wanted / max(int(largest[index]), 1) for index, wanted in scheduling_class.pod_class.requests)


def open_nodes(state: ClusterState, scheduling_class: SchedulingClass) -> int:
    return int((state.capacity(scheduling_class).per_node() > 0).sum())
