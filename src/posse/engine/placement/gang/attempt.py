"""One attempt to place a group, or a run of equal pods, in one draft.

A pure search: it reports and queues nothing.

The members are placed class by class, oldest class first. If fewer than the minimum find a node, the draft is
rolled back, so a waiting gang holds no capacity, and other orders are tried. The refusal describes a pass in
the first order, with nodes of equal rank by name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from posse.engine.causes import GroupRefused, NoNodeFits, TooFewFit, TooManySteps
from posse.engine.groups.group_record import GroupRecord
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.domain_attempt import NoDomain, place_in_domain
from posse.engine.placement.gang.exhaustive import Steps, ThoroughSearch
from posse.engine.placement.gang.member_pass import (
    Feasibility,
    Pass,
    describing_pass,
    nominated_places,
    objection,
    packs,
    pass_as_given,
    pass_if_possible,
    pass_through,
)
from posse.engine.placement.gang.minimum_resources import missing_resources
from posse.engine.placement.gang.packing import pack_singly, packed_pass
from posse.engine.placement.gang.proof import proof_of
from posse.engine.placement.gang.shortfall import Shortfall, summaries
from posse.engine.placement.search.fill import MemberClass, classes_of, fill, other_ways
from posse.engine.proof import Proof
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.invariants import no_gang_below_minimum
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import SUCCESS, Code, Verdict

_NO_PLAN: Mapping[str, str] = MappingProxyType({})


class PartRefusal(NamedTuple):
    """Verdict on a group of a tree that does not start."""

    key: GroupKey
    verdict: Verdict
    fits: int = 0
    """Pods, or child groups, that are on nodes or would fit if the rest of the tree were ignored."""


class Attempt(msgspec.Struct, frozen=True, gc=False):
    verdict: Verdict
    placed: tuple[PodRecord, ...] = ()
    """Records attached to their nodes; empty unless the verdict is success."""
    refused: tuple[tuple[PodRecord, Verdict], ...] = ()
    parts: tuple[PartRefusal, ...] = ()
    """For a tree: the groups that do not start, each with its verdict."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of an attempt if it were made now."""

    verdict: Verdict
    placements: tuple[tuple[PodRecord, str], ...]
    """Target nodes of pods; empty unless the verdict is success."""
    refused: tuple[tuple[PodRecord, Verdict], ...]
    parts: tuple[PartRefusal, ...] = ()


def try_pods(state: ClusterState, scheduling_class: SchedulingClass, records: Sequence[PodRecord]) -> Attempt:
    """Place identical pods independently of each other; refuse those that find no node."""
    draft = Draft(state)
    packing = state.profile(scheduling_class.pod_class).packing
    way = pack_singly if packing is not None and packing.single_pods else fill
    placed = way(state, draft, scheduling_class, records)
    if placed == len(records):
        return Attempt(SUCCESS, draft.commit())
    return refused_pods(state, scheduling_class, records[placed:], draft.commit())


def refused_pods(
    state: ClusterState,
    scheduling_class: SchedulingClass,
    records: Sequence[PodRecord],
    placed: tuple[PodRecord, ...] = (),
) -> Attempt:
    """Refuse identical pods that have found no node, beside others that were placed."""
    verdict = state.scores(scheduling_class).refuse()
    return Attempt(SUCCESS, placed, tuple((record, verdict) for record in records))


def attempt_in(
    state: ClusterState,
    draft: Draft,
    group: GroupRecord,
    plan: Mapping[str, str] = _NO_PLAN,
    steps: Steps | None = None,
    *,
    is_described: bool = True,
) -> Attempt:
    """Try the group in an open draft, on the rows that the state is confined to.

    If the group fits, its pods are appended to the draft; otherwise the draft is unchanged. A refusal that
    is not read need not be `described` by names.
    """
    members = group.unattached()
    missing = missing_resources(state, group) if group.minimum_resources else None
    if missing is not None:
        return _refused_together(members, missing)
    given, thorough = plan or nominated_places(members), None
    if steps is not None and steps.left:
        thorough = ThoroughSearch(state, draft, group, steps)
    if group.topology_key:
        found = place_in_domain(state, draft, group, given, thorough)
        return _started(group, found) if isinstance(found, Pass) else _without_domain(members, found)
    return _attempt_anywhere(state, draft, group, given, thorough, is_described=is_described)


def _attempt_anywhere(
    state: ClusterState,
    draft: Draft,
    group: GroupRecord,
    given: Mapping[str, str],
    thorough: ThoroughSearch | None,
    *,
    is_described: bool,
) -> Attempt:
    members = group.unattached()
    classes = classes_of(state, members)
    made = pass_as_given(state, draft, group, given)
    if made is None and packs(state, group, classes):
        made = packed_pass(state, draft, group, classes)
    if made is not None:
        return _accepted(state, group, made)
    first = pass_through(state, draft, group, classes)
    if first.succeeded:
        return _accepted(state, group, first)
    first.undo()
    if state.effort.is_spent:
        return broken_off(members)
    proof = proof_of(state, group, classes)
    for ordered, way in other_ways(state, classes) if proof.doubts else ():
        other = pass_if_possible(state, draft, group, ordered, way)
        if other.succeeded:
            return _accepted(state, group, other)
        other.undo()
    if thorough is not None and proof.doubts:
        found = thorough.run()
        if found is not None:
            return _accepted(state, group, found)
        proof = thorough.proof(proof)
    if is_described and _depends_on_order(state, classes, first):
        first = describing_pass(state, draft, group, classes)
    return _refused(group, members, first, proof)


def _depends_on_order(state: ClusterState, classes: Sequence[MemberClass], made: Pass) -> bool:
    """Whether what is left over depends on which of equal nodes came first.

    Equal pods that do not all fit fill every node, unless rules about other nodes keep them from it.
    """
    fills_all = len(classes) == 1 and state.scores(classes[0][0]).is_row_local
    return made.placed > 0 and not fills_all


def _accepted(state: ClusterState, group: GroupRecord, made: Pass) -> Attempt:
    if against := objection(state, group):
        made.undo()
        verdict = Verdict(Code.UNSCHEDULABLE, against, Proof((against.rule,)))
        return _refused_together(group.unattached(), verdict)
    return _started(group, made)


def _started(group: GroupRecord, made: Pass) -> Attempt:
    no_gang_below_minimum(group.key, made.attached + made.placed, group.minimum)
    return Attempt(SUCCESS, made.records(), _own_verdicts(made.short))


def _without_domain(members: Sequence[PodRecord], found: NoDomain) -> Attempt:
    if found.verdict.code is Code.ERROR:
        return Attempt(found.verdict, refused=tuple((record, found.verdict) for record in members))
    return _refused_with(found.verdict, members, found.short)


def _own_verdicts(short: Sequence[Shortfall]) -> tuple[tuple[PodRecord, Verdict], ...]:
    return tuple((record, one.verdict) for one in short for record in one.records)


def broken_off(members: Sequence[PodRecord]) -> Attempt:
    """The attempt takes too many steps. Whether the group fits is not known."""
    verdict = Verdict(Code.UNRESOLVABLE, TooManySteps())
    return Attempt(verdict, refused=tuple((record, verdict) for record in members))


def _refused_together(members: Sequence[PodRecord], verdict: Verdict) -> Attempt:
    return Attempt(verdict, refused=tuple((record, drawn_along(verdict)) for record in members))


def drawn_along(verdict: Verdict, group: GroupKey | None = None) -> Verdict:
    """Verdict on a member that would fit by itself, from the verdict on its group or on a group above."""
    return Verdict(verdict.code, GroupRefused(verdict.cause, verdict.proof, group))


def _refused(group: GroupRecord, members: Sequence[PodRecord], made: Pass, proof: Proof) -> Attempt:
    resolvable = made.progress.feasibility is not Feasibility.UNRESOLVABLE
    code = Code.UNSCHEDULABLE if resolvable else Code.UNRESOLVABLE
    fit, short = made.attached + made.placed, summaries(made.short)
    verdict = Verdict(code, TooFewFit(group.minimum, fit, made.placed, short), proof)
    return _refused_with(verdict, members, made.short)


def _refused_with(verdict: Verdict, members: Sequence[PodRecord], short: Sequence[Shortfall]) -> Attempt:
    """Pods without a node keep their own verdicts; the other members are refused with their group."""
    with_the_others, proof = drawn_along(verdict), verdict.proof or Proof()
    own = {record: _with_doubts(one_verdict, proof) for record, one_verdict in _own_verdicts(short)}
    return Attempt(verdict, refused=tuple((record, own.get(record, with_the_others)) for record in members))


def _with_doubts(verdict: Verdict, proof: Proof) -> Verdict:
    """Where the group's proof leaves doubts, a better search might have placed the pod."""
    if not proof.doubts or not isinstance(verdict.cause, NoNodeFits):
        return verdict
    return replace(verdict, cause=replace(verdict.cause, doubts=proof))
