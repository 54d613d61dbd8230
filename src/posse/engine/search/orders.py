"""In which order, and how, the classes of a group are tried: first as pods come, then in ways that save room.

One class is placed exactly by counting. Several classes compete for the same room, and which of them goes first decides
whether the others still fit; so a group that does not fit in one order is tried in others before it is refused.
"""

from collections.abc import Callable, Iterator, Sequence

from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.draft import Draft
from posse.engine.scene import Subject
from posse.engine.search.fill import fill
from posse.engine.search.tight import fill_tightly

Fill = Callable[[ClusterState, Draft, Subject, Sequence[PodRecord]], int]
MemberClass = tuple[Subject, list[PodRecord]]


def classes_of(state: ClusterState, members: Sequence[PodRecord]) -> list[MemberClass]:
    """Members that are alike together, the class of the oldest member first."""
    classes: dict[Subject, list[PodRecord]] = {}
    before: PodRecord | None = None
    alike: list[PodRecord] = []
    for record in members:
        # Mostly the same as for the one before, which is quicker to see than to work out.
        if before is None or record.pod_class is not before.pod_class or record.labels is not before.labels:
            alike = classes.setdefault(state.subject(record), [])
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


def share(state: ClusterState, subject: Subject) -> float:
    """The largest part of a largest node that one pod takes, over all resources."""
    largest = state.nodes.allocatable.max(axis=1)
    return max(wanted / max(int(largest[index]), 1) for index, wanted in subject.pod_class.requests)


def open_nodes(state: ClusterState, subject: Subject) -> int:
    return int((state.view(subject).capacity() > 0).sum())
