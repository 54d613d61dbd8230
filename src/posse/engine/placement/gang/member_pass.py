"""One pass through the classes of a group: the order in which members are tried, and where they are placed.

Everything happens in a draft that the caller opened, on the rows of the search scope.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from posse.engine.causes import RuleObjection
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Part
from posse.engine.placement.gang.shortfall import Shortfall, shortfall, unfinished
from posse.engine.placement.search.fill import Fill, MemberClass, classes_of, fill
from posse.engine.rules.contract import GroupPlacement
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.node_scores import REFUSED
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import Code


class Feasibility(Enum):
    SUCCESS = "the minimum is placed"
    WAIT = "the minimum can still be reached with free capacity"
    UNSCHEDULABLE = "the minimum can only be reached by evicting others"
    UNRESOLVABLE = "the minimum cannot be reached, whatever is evicted"


@dataclass(frozen=True, slots=True)
class PassProgress:
    """Progress of a group's members during, or at the end of, an attempt."""

    minimum: int
    placed: int
    """Members on nodes: those that were there before and those placed now."""
    untried: int
    resolvable: int
    """Members that found no node, but would if others were evicted."""

    @property
    def feasibility(self) -> Feasibility:
        if self.placed >= self.minimum:
            return Feasibility.SUCCESS
        if self.placed + self.untried >= self.minimum:
            return Feasibility.WAIT
        if self.placed + self.untried + self.resolvable >= self.minimum:
            return Feasibility.UNSCHEDULABLE
        return Feasibility.UNRESOLVABLE


@dataclass(slots=True)
class Pass:
    """The result of a pass; its placements are still in the draft."""

    draft: Draft
    start: int
    """Checkpoint of the draft before the pass."""
    group: GroupRecord
    untried: int
    attached: int
    placed: int = 0
    short: list[Shortfall] = field(default_factory=list)

    @property
    def progress(self) -> PassProgress:
        resolvable = sum(len(one.records) for one in self.short if one.verdict.code is Code.UNSCHEDULABLE)
        # A group whose minimum is running is tried in order to place at least one new member.
        minimum = max(self.group.minimum, self.attached + 1)
        return PassProgress(minimum, self.attached + self.placed, self.untried, resolvable)

    @property
    def succeeded(self) -> bool:
        return self.progress.feasibility is Feasibility.SUCCESS

    def records(self) -> tuple[PodRecord, ...]:
        """The members that were placed, in order."""
        return self.draft.placed(self.start)

    def undo(self) -> None:
        self.draft.roll_back(self.start)


def pass_through(
    state: ClusterState,
    draft: Draft,
    group: GroupRecord,
    classes: Sequence[MemberClass],
    way: Fill = fill,
) -> Pass:
    """Try all members, class by class."""
    made = _begin(draft, group, classes)
    _fill_classes(state, made, classes, way, stops_early=False)
    return made


def pass_if_possible(
    state: ClusterState,
    draft: Draft,
    group: GroupRecord,
    classes: Sequence[MemberClass],
    way: Fill = fill,
) -> Pass:
    """Try all members, class by class; stop as soon as the minimum is out of reach."""
    made = _begin(draft, group, classes)
    _fill_classes(state, made, classes, way, stops_early=True)
    return made


def describing_pass(
    state: ClusterState, draft: Draft, group: GroupRecord, classes: Sequence[MemberClass]
) -> Pass:
    """The pass that a refusal is described by, undone: nodes of equal rank take turns by name."""
    with state.in_name_order():
        made = pass_through(state, draft, group, classes)
        made.undo()
    if made.succeeded:
        # The members fit in this order, though not in those that were tried.
        made = pass_through(state, draft, group, classes)
        made.undo()
    return made


def packs(state: ClusterState, group: GroupRecord, classes: Sequence[MemberClass]) -> bool:
    """Whether the members should share few domains: by their profile, or as the group prefers it."""
    return state.profile(classes[0][0].pod_class).packing is not None or bool(group.preferred_topology)


def nominated_places(members: Sequence[PodRecord]) -> dict[str, str]:
    """Nominated nodes by uid of the pod."""
    return {record.ref.uid: record.nominated for record in members if record.nominated}


def pass_as_given(
    state: ClusterState, draft: Draft, group: GroupRecord, nodes: Mapping[str, str]
) -> Pass | None:
    """Members with a given place, by uid, must all take it; the other members use the remaining capacity."""
    members = group.unattached()
    given = [record for record in members if record.ref.uid in nodes]
    if not given:
        return None
    made = Pass(draft, draft.checkpoint(), group, untried=0, attached=group.attached_count, placed=len(given))
    if all(takes(state, draft, record, nodes[record.ref.uid]) for record in given):
        others = [record for record in members if record.ref.uid not in nodes]
        _fill_classes(state, made, classes_of(state, others), fill, stops_early=False)
        if made.succeeded:
            return made
    made.undo()
    return None


def pass_beside(state: ClusterState, draft: Draft, group: GroupRecord, start: int) -> Pass:
    """The draft since `start` holds enough to start; the other members use the remaining capacity."""
    placed = len(draft.placed(start))
    made = Pass(draft, start, group, untried=0, attached=group.attached_count - placed, placed=placed)
    _fill_classes(state, made, classes_of(state, group.unattached()), fill, stops_early=False)
    return made


def objection(state: ClusterState, group: Part) -> RuleObjection | None:
    """The first objection of the profile's group rules to where the members are now."""
    rules = state.profile(next(iter(group.members.values())).pod_class).group_rules
    placed = [r for r in group.members.values() if r.node in state.nodes.row_of] if rules else []
    if not placed:
        return None
    rows = np.array([state.nodes.row_of[record.node] for record in placed])
    placement = GroupPlacement(group.key.namespace, group.key.name, rows)
    objections = ((rule.name, rule.objection(placement, state.context)) for rule in rules)
    return next((RuleObjection(name, objection) for name, objection in objections if objection), None)


def _begin(draft: Draft, group: GroupRecord, classes: Sequence[MemberClass]) -> Pass:
    count = sum(len(records) for _, records in classes)
    return Pass(draft, draft.checkpoint(), group, untried=count, attached=group.attached_count)


def takes(state: ClusterState, draft: Draft, record: PodRecord, node: str) -> bool:
    """Place the pod on the node if that is feasible; returns whether it is."""
    row = state.nodes.row_of.get(node)
    if row is None or state.scores(state.scheduling_class(record)).totals()[row] == REFUSED:
        return False
    draft.place([record], np.array([row]))
    return True


def _fill_classes(
    state: ClusterState, made: Pass, classes: Sequence[MemberClass], way: Fill, *, stops_early: bool
) -> None:
    for scheduling_class, records in classes:
        placed = way(state, made.draft, scheduling_class, records)
        made.untried -= len(records)
        made.placed += placed
        if placed < len(records) and state.effort.is_spent:
            made.short.append(unfinished(scheduling_class, records[placed:]))
        elif placed < len(records):
            made.short.append(shortfall(state, scheduling_class, records[placed:]))
        if stops_early and made.progress.feasibility not in {Feasibility.SUCCESS, Feasibility.WAIT}:
            break
