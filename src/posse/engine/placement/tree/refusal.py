"""Why a tree, or the rest of it, does not start: a verdict for each of its groups and waiting pods.

It goes through the tree once, like the first pass of an attempt. Each group that fits keeps its nodes while
the next is tried. Groups that lack members are not tried.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from posse.engine.causes import (
    ConfinedTo,
    GroupRefused,
    InBestDomain,
    NoDomainForTree,
    NoneWaitingFits,
    TooFewGroups,
)
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Part
from posse.engine.placement.gang.attempt import PartRefusal, attempt_in, drawn_along
from posse.engine.placement.gang.domain_pin import pin_of
from posse.engine.placement.gang.member_pass import Feasibility, PassProgress
from posse.engine.placement.tree.bounds import tree_proof
from posse.engine.placement.tree.domains import Place, Rows, all_places, inside
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.pod_record import PodRecord
from posse.engine.verdict import SUCCESS, Code, Verdict

_CODES = {
    Feasibility.SUCCESS: Code.SUCCESS,
    Feasibility.WAIT: Code.UNSCHEDULABLE,
    Feasibility.UNSCHEDULABLE: Code.UNSCHEDULABLE,
    Feasibility.UNRESOLVABLE: Code.UNRESOLVABLE,
}
_MAX_PLACES = 8
"""Domains that are tried to find the one that comes closest."""


@dataclass(frozen=True, slots=True)
class PartResult:
    """The result of trying one part of a tree. The part may fit and still not start because of others."""

    part: Part
    fits: int
    """Pods of a leaf, or children of a branch, that are on nodes or would be."""
    verdict: Verdict
    refused: tuple[tuple[PodRecord, Verdict], ...] = ()
    """For a leaf: pods that find no node, though the others may start without them."""
    children: "tuple[PartResult, ...]" = ()
    by_itself: Verdict | None = None
    """Verdict and proof for a leaf that was refused before any other part of the tree was placed."""

    @property
    def could_be_helped(self) -> bool:
        """Whether evicting others could let one of its pods start."""
        if not self.verdict.succeeded:
            return self.verdict.code is Code.UNSCHEDULABLE
        return any(verdict.code is Code.UNSCHEDULABLE for _, verdict in self.refused) or any(
            child.could_be_helped for child in self.children
        )


@dataclass(frozen=True, slots=True)
class Refusals:
    """Verdicts on all parts and pods of a tree that do not start."""

    verdict: Verdict
    parts: tuple[PartRefusal, ...]
    members: tuple[tuple[PodRecord, Verdict], ...]


def refuse(state: ClusterState, top: Part) -> Refusals:
    """Verdicts on a tree without any placement. The state is as it was when the tree was tried."""
    fared = fare(state, top)
    if fared.verdict.code is Code.ERROR:
        return Refusals(fared.verdict, *_verdicts(fared))
    proof = tree_proof(state, top)
    verdict = replace(fared.verdict, proof=proof)
    if fared.verdict.succeeded:
        code = Code.UNSCHEDULABLE if fared.could_be_helped else Code.UNRESOLVABLE
        verdict = Verdict(code, _first_refused(fared), proof)
        return Refusals(verdict, *_verdicts(_with_proofs(state, fared, _Confinement(None))))
    return Refusals(verdict, *_verdicts(replace(fared, verdict=verdict)))


def leave_over(state: ClusterState, top: Part) -> Refusals:
    """Verdicts on the parts of a starting tree that stay behind."""
    return Refusals(SUCCESS, *_verdicts(_with_proofs(state, fare(state, top), _Confinement(None))))


@dataclass(frozen=True, slots=True)
class _Confinement:
    """Where new members of a started group must go."""

    rows: Rows
    branch: Part | None = None
    """The group that confines them; None if they may go anywhere."""
    domain: str = ""


def _with_proofs(state: ClusterState, fared: PartResult, held: _Confinement) -> PartResult:
    """Parts that do not start below a group that has started are judged by themselves: the others stay."""
    branch = fared.part
    if not branch.children or not branch.is_started:
        return fared
    found = all_places(state, branch, held.rows)
    if len(found) != 1:
        return fared
    here = replace(held, rows=found[0].rows)
    if found[0].name:
        here = _Confinement(found[0].rows, branch, found[0].name)
    children = (
        _with_proofs(state, child, here) if child.verdict.succeeded else _with_proof(state, child, here)
        for child in fared.children
    )
    return replace(fared, children=tuple(children))


def _with_proof(state: ClusterState, fared: PartResult, held: _Confinement) -> PartResult:
    part, verdict = fared.part, fared.verdict
    if verdict.code is Code.ERROR or not part.is_admissible:
        return fared
    if part.children:
        verdict = replace(verdict, proof=tree_proof(state, part, held.rows))
    elif fared.by_itself is not None:
        verdict = fared.by_itself
    if held.branch is not None:
        cause = ConfinedTo(verdict.cause, held.branch.topology_key, held.domain, held.branch.key)
        verdict = replace(verdict, cause=cause)
    return replace(fared, verdict=verdict)


def fare(state: ClusterState, top: Part) -> PartResult:
    """The result with nodes of equal rank by name, so that equal clusters give equal refusals."""
    with state.in_name_order():
        fared = _fare_and_undo(state, top)
    # If everything fits in this order, though not in those that were tried, another pass describes those.
    return fared if _first_refused(fared) is not None else _fare_and_undo(state, top)


def _fare_and_undo(state: ClusterState, top: Part) -> PartResult:
    draft = Draft(state)
    fared = _fare(state, draft, top, None)
    draft.roll_back()
    return fared


def _fare(state: ClusterState, draft: Draft, part: Part, rows: Rows) -> PartResult:
    if not part.is_admissible:
        return PartResult(part, 0, Verdict(Code.UNRESOLVABLE, part.lack))
    if not isinstance(part, GroupRecord):
        return _fare_of_branch(state, draft, part, rows)
    with inside(state, rows):
        return _fare_of_leaf(state, draft, part)


def _fare_of_leaf(state: ClusterState, draft: Draft, leaf: GroupRecord) -> PartResult:
    was_started, waiting = leaf.is_started, leaf.unattached()
    if not waiting:
        return PartResult(leaf, leaf.attached_count, SUCCESS)
    if leaf.is_over:
        lack = leaf.lack
        why = Verdict(Code.UNRESOLVABLE, lack and replace(lack, has_finished_members=True))
        return PartResult(leaf, leaf.attached_count, SUCCESS, tuple((record, why) for record in waiting))
    is_beside_others = bool(draft.placed())
    attempt = attempt_in(state, draft, leaf)
    fits = leaf.attached_count
    if was_started or attempt.verdict.succeeded:
        return PartResult(leaf, fits, SUCCESS, attempt.refused)
    by_itself = None if is_beside_others else attempt.verdict
    # A refusal that is certain beside other parts of the tree may not be certain without them.
    unproven = replace(attempt.verdict, proof=None)
    return PartResult(leaf, fits, unproven, attempt.refused, by_itself=by_itself)


def _fare_of_branch(state: ClusterState, draft: Draft, branch: Part, rows: Rows) -> PartResult:
    """The result in the best of its domains; if it fits in none, in the one that comes closest."""
    found = all_places(state, branch, rows)
    if not found:
        return PartResult(branch, 0, _nowhere(state, branch))
    closest: tuple[PartResult, Place] | None = None
    codes: list[Code] = []
    for place in found[:_MAX_PLACES]:
        before = draft.checkpoint()
        fared = _fare_in(state, draft, branch, place.rows)
        if fared.verdict.succeeded:
            return fared
        draft.roll_back(before)
        codes.append(fared.verdict.code)
        if closest is None or fared.fits > closest[0].fits:
            closest = fared, place
    fared, place = (
        closest if closest is not None else (PartResult(branch, 0, _nowhere(state, branch)), found[0])
    )
    if not place.name:
        return fared
    code = _of_all_places(fared.verdict.code, codes, len(found))
    cause = InBestDomain(branch.topology_key, place.name, place.of, fared.verdict.cause)
    return replace(fared, verdict=replace(fared.verdict, code=code, cause=cause))


def _of_all_places(closest: Code, looked_at: Sequence[Code], count: int) -> Code:
    """Eviction helps if it does in any of the domains, some of which may not have been tried."""
    may_help = Code.UNSCHEDULABLE in looked_at or len(looked_at) < count
    return Code.UNSCHEDULABLE if closest is Code.UNRESOLVABLE and may_help else closest


def _nowhere(state: ClusterState, branch: Part) -> Verdict:
    error = pin_of(state, branch).error if branch.topology_key else None
    if error is not None:
        return Verdict(Code.ERROR, error)
    return Verdict(Code.UNRESOLVABLE, NoDomainForTree(branch.topology_key))


def _fare_in(state: ClusterState, draft: Draft, branch: Part, rows: Rows) -> PartResult:
    children = tuple(_fare(state, draft, child, rows) for child in branch.children)
    fits = sum(1 for child in children if child.verdict.succeeded)
    code = _code(branch.minimum, fits, [child.verdict.code for child in children])
    verdict = SUCCESS if code is Code.SUCCESS else Verdict(code, _too_few(branch, fits, children))
    return PartResult(branch, fits, verdict, (), children)


def _code(minimum: int, fits: int, codes: Sequence[Code]) -> Code:
    """A group that cannot start without a contradictory child is contradictory too."""
    resolvable = codes.count(Code.UNSCHEDULABLE)
    feasibility = PassProgress(minimum, fits, 0, resolvable).feasibility
    mistaken = codes.count(Code.ERROR)
    if feasibility is Feasibility.UNRESOLVABLE and fits + resolvable + mistaken >= minimum:
        return Code.ERROR
    return _CODES[feasibility]


def _too_few(branch: Part, fits: int, children: tuple[PartResult, ...]) -> TooFewGroups:
    refused = [child for child in children if not child.verdict.succeeded]
    refused.sort(key=lambda child: child.verdict.code is not Code.ERROR)
    first = refused[0]
    return TooFewGroups(branch.minimum, fits, first.part.key, first.verdict.cause, others=len(refused) - 1)


def _first_refused(fared: PartResult) -> NoneWaitingFits | None:
    """The first refused child that could have been placed."""
    if not fared.verdict.succeeded:
        return NoneWaitingFits(fared.part.key, fared.verdict.cause)
    if fared.refused:
        return NoneWaitingFits(fared.part.key, fared.refused[0][1].cause)
    return next((found for child in fared.children if (found := _first_refused(child))), None)


def _verdicts(fared: PartResult) -> tuple[tuple[PartRefusal, ...], tuple[tuple[PodRecord, Verdict], ...]]:
    return tuple(_parts(fared, None)), tuple(_members(fared, None))


def _parts(fared: PartResult, above: Verdict | None) -> Iterator[PartRefusal]:
    own = _own(fared, above)
    if not own.succeeded:
        yield PartRefusal(fared.part.key, own, fared.fits)
    if not fared.children:
        # The part was not tried, so nothing below it was tried either.
        yield from (PartRefusal(part.key, _untried(part, own)) for part in _below(fared.part))
    for child in fared.children:
        yield from _parts(child, None if own.succeeded else _for_those_below(fared.part, own))


def _below(part: Part) -> Iterator[Part]:
    for child in part.children:
        yield child
        yield from _below(child)


def _untried(part: Part, above: Verdict) -> Verdict:
    """A part that lacks pods says so, whatever is above it."""
    return above if part.is_admissible else Verdict(Code.UNRESOLVABLE, part.lack)


def _members(fared: PartResult, above: Verdict | None) -> Iterator[tuple[PodRecord, Verdict]]:
    own = _own(fared, above)
    if not fared.children:
        # A composite group without results was not tried, nor were the parts below it.
        lacking = dict(fared.refused)
        for record in fared.part.unattached():
            yield record, lacking.get(record, own)
    for child in fared.children:
        yield from _members(child, None if own.succeeded else _for_those_below(fared.part, own))


def _for_those_below(part: Part, verdict: Verdict) -> Verdict:
    """The verdict names the highest group that was refused by its own verdict."""
    return verdict if isinstance(verdict.cause, GroupRefused) else drawn_along(verdict, part.key)


def _own(fared: PartResult, above: Verdict | None) -> Verdict:
    """A part that fits by itself is refused with the group above it."""
    return fared.verdict if above is None or not fared.verdict.succeeded else above
