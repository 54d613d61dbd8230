"""One attempt to place a group, or a run of equal pods, in one draft. Pure search: reports and queues are not its business.

A group is tried as a whole: members class by class, oldest class first, and if fewer than the minimum find a place the
draft is rolled back, so that a gang holds nothing while it waits. What the refusal says comes from that first pass; before
it is given, other orders are tried.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from posse.engine.cluster_state import ClusterState, PodRecord
from posse.engine.contract import GroupPlacement
from posse.engine.draft import Draft
from posse.engine.feasibility import Feasibility, Standing
from posse.engine.groups import GroupRecord
from posse.engine.invariants import no_gang_below_minimum
from posse.engine.minimum_resources import missing_resources
from posse.engine.proving import proof_of
from posse.engine.scene import Subject
from posse.engine.search.fill import fill
from posse.engine.search.orders import Fill, MemberClass, classes_of, other_ways
from posse.engine.shortfall import Shortfall, shortfall, told
from posse.engine.verdict import SUCCESS, Code, Proof, Verdict
from posse.engine.view import REFUSED

_NO_PLAN: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Attempt:
    verdict: Verdict
    placed: tuple[PodRecord, ...] = ()
    """Attached to their nodes; empty unless the verdict is success."""
    refused: tuple[tuple[PodRecord, Verdict], ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """What an attempt would give if it were made now."""

    verdict: Verdict
    placements: tuple[tuple[PodRecord, str], ...]
    """Where pods would go; empty unless the verdict is success."""
    refused: tuple[tuple[PodRecord, Verdict], ...]


def try_pods(state: ClusterState, subject: Subject, records: Sequence[PodRecord]) -> Attempt:
    """Place pods that are alike, each on its own account; those that find no node are refused."""
    draft = Draft(state)
    placed = fill(state, draft, subject, records)
    if placed == len(records):
        return Attempt(SUCCESS, draft.commit())
    verdict = state.view(subject).refuse()
    return Attempt(SUCCESS, draft.commit(), tuple((record, verdict) for record in records[placed:]))


def try_group(state: ClusterState, group: GroupRecord, plan: Mapping[str, str] = _NO_PLAN) -> Attempt:
    """With a plan, of a node for each of the members by uid, that is tried first."""
    attempt, draft = _attempt(state, group, plan)
    if draft is not None:
        draft.commit()
    return attempt


def probe_group(state: ClusterState, group: GroupRecord) -> Probe:
    """Try the group and take everything back: the state is as it was, to the last bit."""
    attempt, draft = _attempt(state, group, _NO_PLAN)
    placements = tuple((record, record.node) for record in attempt.placed)
    if draft is not None:
        draft.roll_back()
    return Probe(attempt.verdict, placements, attempt.refused)


def _attempt(
    state: ClusterState, group: GroupRecord, plan: Mapping[str, str]
) -> tuple[Attempt, Draft | None]:
    """Where the group fits, its pods are in the draft, which is still open."""
    members = group.unattached()
    missing = missing_resources(state, group)
    if missing is not None:
        return _refused_together(members, missing), None
    given = _in_given_places(state, group, members, plan or _nominated(members))
    if given is not None:
        return _accepted(state, group, given)
    classes = classes_of(state, members)
    first = _run(state, group, classes, fill)
    if first.succeeded:
        return _accepted(state, group, first)
    first.draft.roll_back()
    proof = proof_of(state, group, classes)
    for ordered, way in other_ways(state, classes) if proof.doubts else ():
        other = _run(state, group, ordered, way, stops_early=True)
        if other.succeeded:
            return _accepted(state, group, other)
        other.draft.roll_back()
    return _refused(group, members, first, proof), None


@dataclass(slots=True)
class _Pass:
    """One way through the classes of a group, its placements still in the draft."""

    draft: Draft
    group: GroupRecord
    untried: int
    attached: int
    placed: int = 0
    short: list[Shortfall] = field(default_factory=list)

    @property
    def standing(self) -> Standing:
        resolvable = sum(len(one.records) for one in self.short if one.verdict.code is Code.UNSCHEDULABLE)
        # A group that has its minimum running is tried for the sake of somebody new.
        minimum = max(self.group.minimum, self.attached + 1)
        return Standing(minimum, self.attached + self.placed, self.untried, resolvable)

    @property
    def succeeded(self) -> bool:
        return self.standing.feasibility is Feasibility.SUCCESS


def _nominated(members: Sequence[PodRecord]) -> dict[str, str]:
    return {record.ref.uid: record.nominated for record in members if record.nominated}


def _in_given_places(
    state: ClusterState, group: GroupRecord, members: Sequence[PodRecord], nodes: Mapping[str, str]
) -> _Pass | None:
    """Members for which a place is given take it, all of them, and the others what is left."""
    given = [record for record in members if record.ref.uid in nodes]
    if not given:
        return None
    made = _Pass(Draft(state), group, untried=0, attached=group.attached_count, placed=len(given))
    if all(_takes(state, made.draft, record, nodes[record.ref.uid]) for record in given):
        others = [record for record in members if record.ref.uid not in nodes]
        _fill_classes(state, made, classes_of(state, others), fill)
        if made.succeeded:
            return made
    made.draft.roll_back()
    return None


def _takes(state: ClusterState, draft: Draft, record: PodRecord, node: str) -> bool:
    row = state.nodes.row_of.get(node)
    if row is None or state.view(state.subject(record)).totals()[row] == REFUSED:
        return False
    draft.place([record], np.array([row]))
    return True


def _run(
    state: ClusterState,
    group: GroupRecord,
    classes: Sequence[MemberClass],
    way: Fill,
    *,
    stops_early: bool = False,
) -> _Pass:
    count = sum(len(records) for _, records in classes)
    made = _Pass(Draft(state), group, untried=count, attached=group.attached_count)
    _fill_classes(state, made, classes, way, stops_early=stops_early)
    return made


def _fill_classes(
    state: ClusterState,
    made: _Pass,
    classes: Sequence[MemberClass],
    way: Fill,
    *,
    stops_early: bool = False,
) -> None:
    for subject, records in classes:
        placed = way(state, made.draft, subject, records)
        made.untried -= len(records)
        made.placed += placed
        if placed < len(records):
            made.short.append(shortfall(state, subject, records[placed:]))
        if stops_early and made.standing.feasibility not in {Feasibility.SUCCESS, Feasibility.WAIT}:
            break


def _accepted(state: ClusterState, group: GroupRecord, made: _Pass) -> tuple[Attempt, Draft | None]:
    if objection := _objection(state, group):
        made.draft.roll_back()
        proof = Proof((objection.partition(":")[0],))
        verdict = Verdict(Code.UNSCHEDULABLE, objection, proof=proof)
        return _refused_together(group.unattached(), verdict), None
    no_gang_below_minimum(group.key, made.attached + made.placed, group.minimum)
    return Attempt(SUCCESS, made.draft.placed(), _own_verdicts(made.short)), made.draft


def _own_verdicts(short: Sequence[Shortfall]) -> tuple[tuple[PodRecord, Verdict], ...]:
    return tuple((record, one.verdict) for one in short for record in one.records)


def _objection(state: ClusterState, group: GroupRecord) -> str:
    """What a rule of the group's profile has against where its members are now; empty if nothing."""
    rules = state.profile(next(iter(group.members.values())).pod_class).group_rules
    placed = [r for r in group.members.values() if r.node in state.nodes.row_of] if rules else []
    if not placed:
        return ""
    rows = np.array([state.nodes.row_of[record.node] for record in placed])
    placement = GroupPlacement(group.key.namespace, group.key.name, rows)
    objections = ((rule.name, rule.objection(placement, state.scene)) for rule in rules)
    return next((f"{name}: {objection}" for name, objection in objections if objection), "")


def _refused_together(members: Sequence[PodRecord], verdict: Verdict) -> Attempt:
    return Attempt(verdict, refused=tuple((record, _drawn_along(verdict)) for record in members))


def _drawn_along(verdict: Verdict) -> Verdict:
    """Told to a member that would fit by itself."""
    return Verdict(verdict.code, f"pod group is unschedulable, {verdict.message}")


def _refused(group: GroupRecord, members: Sequence[PodRecord], made: _Pass, proof: Proof) -> Attempt:
    resolvable = made.standing.feasibility is not Feasibility.UNRESOLVABLE
    code = Code.UNSCHEDULABLE if resolvable else Code.UNRESOLVABLE
    verdict = Verdict(code, f"{_head(group, made)} {told(made.short)} {proof.sentence}", proof=proof)
    drawn_along = _drawn_along(verdict)
    own = {record: _with_doubts(one_verdict, proof) for record, one_verdict in _own_verdicts(made.short)}
    return Attempt(verdict, refused=tuple((record, own.get(record, drawn_along)) for record in members))


def _with_doubts(verdict: Verdict, proof: Proof) -> Verdict:
    """A pod that may have been refused for want of a better search is told so."""
    if not proof.doubts:
        return verdict
    return Verdict(verdict.code, f"{verdict.message} {proof.sentence}", verdict.refusals)


def _head(group: GroupRecord, made: _Pass) -> str:
    fit = made.attached + made.placed
    if group.minimum == 1 or fit >= group.minimum:
        return "none of its waiting pods fits:"
    # What the others lack is counted with these on their nodes, so that must be said.
    beside = "; beside them" if made.placed else ";"
    share = f"only {fit}" if fit else "none"
    return f"{share} of the {group.minimum} pods that must start together fit{beside}"
