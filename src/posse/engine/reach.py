"""Whether pods could ever fit on the nodes open to them, and if not, what closes the others.

It is counted by resources and by what nodes say of themselves, as if nothing else ran; what pods are to each other is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posse.engine.arrays import BoolArray
from posse.engine.cluster_state import ClusterState
from posse.engine.groups import GroupRecord
from posse.engine.scene import Subject
from posse.engine.search.orders import MemberClass, classes_of
from posse.engine.verdict import Refusal


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """Too few fit on the nodes that are open to them, even if nothing else were there."""

    closed: tuple[Refusal, ...]
    """What keeps the pods off nodes on which enough of them would fit; empty if the whole cluster is too small."""


def group_out_of_reach(state: ClusterState, group: GroupRecord) -> OutOfReach | None:
    waiting = group.unattached()
    spare = group.attached_count + len(waiting) - group.minimum
    return out_of_reach(state, classes_of(state, waiting), spare)


def out_of_reach(state: ClusterState, classes: Sequence[MemberClass], spare: int) -> OutOfReach | None:
    """None if all of the pods may fit but `spare` of them."""
    never_open = sum(len(pods) - _most_on_open_nodes(state, one, len(pods)) for one, pods in classes)
    if never_open <= spare:
        return None
    alive = state.nodes.alive
    never_at_all = sum(len(pods) - _most(state, one, alive, len(pods)) for one, pods in classes)
    return OutOfReach(_closed(state, classes) if never_at_all <= spare else ())


def _most_on_open_nodes(state: ClusterState, subject: Subject, number: int) -> int:
    return _most(state, subject, state.view(subject).open_when_empty(), number)


def _most(state: ClusterState, subject: Subject, rows: BoolArray, number: int) -> int:
    room = np.where(rows, number, 0)
    for index, wanted in subject.pod_class.limited:
        np.minimum(room, state.nodes.allocatable[index] // wanted, out=room)
    return min(number, int(room.sum()))


def _closed(state: ClusterState, classes: Sequence[MemberClass]) -> tuple[Refusal, ...]:
    """Of those that miss a place most; pods of one group are mostly closed out alike."""
    subject, _ = max(classes, key=lambda one: len(one[1]) - _most_on_open_nodes(state, one[0], len(one[1])))
    return state.view(subject).closures()
