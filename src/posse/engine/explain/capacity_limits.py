"""Whether pods could ever fit on the nodes they may use, and if not, what excludes the others.

Only resources and properties of nodes count, as if the cluster were empty; rules between pods are ignored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from posse.engine.causes import Refusal
from posse.engine.groups.part import Part
from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.nodes.topology_domains import Domains
from posse.engine.placement.gang.domain_pin import domain_noun, pin_of
from posse.engine.placement.gang.shortfall import too_large
from posse.engine.placement.search.fill import MemberClass, classes_of
from posse.engine.placement_problem import PodTooLarge
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState


@dataclass(frozen=True, slots=True)
class NeverFits:
    """Too few pods fit on the nodes they may use, even if these were empty."""

    closed: tuple[Refusal, ...]
    """Refusals by nodes on which enough pods would fit; empty if the whole cluster is too small."""
    domain: str = ""
    """The domain noun, if the pods must share a domain; then the domains are too small."""
    too_large: PodTooLarge | None = None
    """Why no node takes even one of the pods, if that is the reason."""


def group_out_of_reach(state: ClusterState, group: Part) -> NeverFits | None:
    waiting = group.unattached()
    spare = group.started_count + len(waiting) - group.minimum
    classes = classes_of(state, waiting)
    alone = _too_large(state, classes, spare)
    if alone is not None:
        return NeverFits((), too_large=alone)
    if not group.topology_key:
        return out_of_reach(state, classes, spare)
    # The domain that would suffice, or would if it were allowed, or else the largest, decides for all.
    found: NeverFits | None = None
    for rows in _best_domains(state, group, classes, spare):
        with state.confined(rows):
            found = out_of_reach(state, classes, spare)
    return None if found is None else replace(found, domain=domain_noun(group))


def _best_domains(
    state: ClusterState, group: Part, classes: Sequence[MemberClass], spare: int
) -> list[IntArray]:
    """The rows of one domain, if there are any."""
    domains, pinned = state.domains(group.topology_key), pin_of(state, group).value
    numbers = [number for number, value in enumerate(domains.values) if pinned in {None, value}]
    if not numbers:
        return []
    on_open, on_any = np.zeros((2, len(domains)), dtype=np.int64)
    for scheduling_class, pods in classes:
        open_rows = state.capacity(scheduling_class).open_when_empty()
        on_open += _most_in(state, domains, scheduling_class, open_rows, len(pods))
        on_any += _most_in(state, domains, scheduling_class, state.nodes.alive, len(pods))
    enough = np.greater_equal(on_open, sum(len(pods) for _, pods in classes) - spare)
    best = max(numbers, key=lambda one: (bool(enough[one]), int(on_any[one]), int(on_open[one]), -one))
    return [domains.rows(best)]


def out_of_reach(state: ClusterState, classes: Sequence[MemberClass], spare: int) -> NeverFits | None:
    """The reason if not all of the pods but `spare` may ever fit, else None."""
    alone = _too_large(state, classes, spare)
    if alone is not None:
        return NeverFits((), too_large=alone)
    never_open = sum(len(pods) - _most_on_open_nodes(state, one, len(pods)) for one, pods in classes)
    if never_open <= spare:
        return None
    usable = state.usable()
    never_at_all = sum(len(pods) - _most(state, one, usable, len(pods)) for one, pods in classes)
    return NeverFits(_closed(state, classes) if never_at_all <= spare else ())


def _too_large(state: ClusterState, classes: Sequence[MemberClass], spare: int) -> PodTooLarge | None:
    """The reason of the first class that is too large for every node, if the group needs any of its pods."""
    needed = (one for one, pods in classes if len(pods) > spare)
    return next((found for one in needed if (found := too_large(state, one)) is not None), None)


def _most_on_open_nodes(state: ClusterState, scheduling_class: SchedulingClass, number: int) -> int:
    return _most(state, scheduling_class, state.capacity(scheduling_class).open_when_empty(), number)


def _most(state: ClusterState, scheduling_class: SchedulingClass, rows: BoolArray, number: int) -> int:
    return min(number, int(_room(state, scheduling_class, rows, number).sum()))


def _most_in(
    state: ClusterState, domains: Domains, scheduling_class: SchedulingClass, rows: BoolArray, number: int
) -> IntArray:
    return np.minimum(domains.sums(_room(state, scheduling_class, rows, number)[domains.members]), number)


def _room(state: ClusterState, scheduling_class: SchedulingClass, rows: BoolArray, number: int) -> IntArray:
    room = np.where(rows, number, 0)
    for index, wanted in scheduling_class.pod_class.limited:
        np.minimum(room, state.nodes.allocatable[index] // wanted, out=room)
    return room


def _closed(state: ClusterState, classes: Sequence[MemberClass]) -> tuple[Refusal, ...]:
    """Refusals for the class with most pods left; pods of one group are mostly refused by the same nodes."""
    scheduling_class, _ = max(
        classes, key=lambda one: len(one[1]) - _most_on_open_nodes(state, one[0], len(one[1]))
    )
    return state.scores(scheduling_class).closures()
