"""Why a tree, or what is left of it, does not start: how each of its groups fares, and what its pods are told.

Found by going through the tree once, as an attempt does first, with each group that fits staying on its nodes while the
next is tried. What cannot start for want of members is not tried at all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Part
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.attempt import PartRefusal, attempt_in, drawn_along
from posse.engine.placement.gang.domain_pin import domain_noun, pin_of
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
_MOST_PLACES = 8
"""Domains that are looked at to say which of them comes closest."""


@dataclass(frozen=True, slots=True)
class PartResult:
    """How a part of a tree fares, by itself: it may fit and yet not start because of others."""

    part: Part
    fits: int
    """Pods of a leaf or children of a branch that are on nodes or would be."""
    verdict: Verdict
    refused: tuple[tuple[PodRecord, Verdict], ...] = ()
    """Of a leaf: pods that find no node, though the others may start without them."""
    children: "tuple[PartResult, ...]" = ()
    by_itself: Verdict | None = None
    """On a leaf that was refused while nobody else of the tree was tried beside it; with a proof."""

    @property
    def could_be_helped(self) -> bool:
        """Whether evicting others could bring somebody of it to a node."""
        if not self.verdict.succeeded:
            return self.verdict.code is Code.UNSCHEDULABLE
        return any(verdict.code is Code.UNSCHEDULABLE for _, verdict in self.refused) or any(
            child.could_be_helped for child in self.children
        )


@dataclass(frozen=True, slots=True)
class Refusals:
    """What is told to everybody in a tree who does not start."""

    verdict: Verdict
    parts: tuple[PartRefusal, ...]
    members: tuple[tuple[PodRecord, Verdict], ...]


def refuse(state: ClusterState, top: Part) -> Refusals:
    """Of a tree of which nobody finds a place. The state is as it was when it was tried."""
    fared = fare(state, top)
    if fared.verdict.code is Code.ERROR:
        return Refusals(fared.verdict, *_told(fared))
    proof = tree_proof(state, top)
    code, message = fared.verdict.code, fared.verdict.message
    if fared.verdict.succeeded:
        code = Code.UNSCHEDULABLE if fared.could_be_helped else Code.UNRESOLVABLE
        message = f"none of its waiting pods fits: {_first_message(fared)}"
        fared = _with_proofs(state, fared, _Held(None))
    verdict = Verdict(code, f"{message} {proof.sentence}", proof=proof)
    return Refusals(verdict, *_told(fared if fared.verdict.succeeded else replace(fared, verdict=verdict)))


def leave_over(state: ClusterState, top: Part) -> Refusals:
    """Of a tree that starts, as it is then: who stays behind."""
    return Refusals(SUCCESS, *_told(_with_proofs(state, fare(state, top), _Held(None))))


@dataclass(frozen=True, slots=True)
class _Held:
    """Where those must go that come to a group which has started."""

    rows: Rows
    why: str = ""


def _with_proofs(state: ClusterState, fared: PartResult, held: _Held) -> PartResult:
    """Those that do not start below a group that has are judged by themselves: the others stay where they are."""
    branch = fared.part
    if not branch.children or not branch.is_started:
        return fared
    found = all_places(state, branch, held.rows)
    if len(found) != 1:
        return fared
    here = _Held(found[0].rows, held.why)
    if found[0].name:
        where = f"{domain_noun(branch)} {found[0].name}"
        here = _Held(found[0].rows, f" It must be in {where}, where others of {branch.title} run.")
    children = (
        _with_proofs(state, child, here) if child.verdict.succeeded else _with_proof(state, child, here)
        for child in fared.children
    )
    return replace(fared, children=tuple(children))


def _with_proof(state: ClusterState, fared: PartResult, held: _Held) -> PartResult:
    part, verdict = fared.part, fared.verdict
    if verdict.code is Code.ERROR or not part.is_admissible:
        return fared
    if part.children:
        proof = tree_proof(state, part, held.rows)
        verdict = replace(verdict, message=f"{verdict.message} {proof.sentence}", proof=proof)
    elif fared.by_itself is not None:
        verdict = fared.by_itself
    return replace(fared, verdict=replace(verdict, message=f"{verdict.message}{held.why}"))


def fare(state: ClusterState, top: Part) -> PartResult:
    draft = Draft(state)
    fared = _fare(state, draft, top, None)
    draft.roll_back()
    return fared


def _fare(state: ClusterState, draft: Draft, part: Part, rows: Rows) -> PartResult:
    if not part.is_admissible:
        return PartResult(part, 0, Verdict(Code.UNRESOLVABLE, f"{part.lack}."))
    if not isinstance(part, GroupRecord):
        return _fare_of_branch(state, draft, part, rows)
    with inside(state, rows):
        return _fare_of_leaf(state, draft, part)


def _fare_of_leaf(state: ClusterState, draft: Draft, leaf: GroupRecord) -> PartResult:
    was_started, waiting = leaf.is_started, leaf.unattached()
    if not waiting:
        return PartResult(leaf, leaf.attached_count, SUCCESS)
    if leaf.is_over:
        why = Verdict(Code.UNRESOLVABLE, f"others of its group have finished, and {leaf.lack}.")
        return PartResult(leaf, leaf.attached_count, SUCCESS, tuple((record, why) for record in waiting))
    is_beside_others = bool(draft.placed())
    attempt = attempt_in(state, draft, leaf)
    fits = leaf.attached_count
    if was_started or attempt.verdict.succeeded:
        return PartResult(leaf, fits, SUCCESS, attempt.refused)
    by_itself = None if is_beside_others else attempt.verdict
    return PartResult(leaf, fits, _without_proof(attempt.verdict), attempt.refused, by_itself=by_itself)


def _without_proof(verdict: Verdict) -> Verdict:
    """What is certain beside others of the tree need not be so without them."""
    text = verdict.message.replace(verdict.proof.sentence, "").rstrip() if verdict.proof else verdict.message
    return Verdict(verdict.code, text, verdict.refusals)


def _fare_of_branch(state: ClusterState, draft: Draft, branch: Part, rows: Rows) -> PartResult:
    """In the best of its domains; if it fits in none, in the one that comes closest."""
    found = all_places(state, branch, rows)
    if not found:
        return PartResult(branch, 0, _nowhere(state, branch))
    closest: tuple[PartResult, Place] | None = None
    codes: list[Code] = []
    for place in found[:_MOST_PLACES]:
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
    return replace(fared, verdict=_in_the_best(branch, place, replace(fared.verdict, code=code)))


def _of_all_places(closest: Code, looked_at: Sequence[Code], count: int) -> Code:
    """Evicting others helps if it does in any of its domains, not only in the closest; in some nobody has looked."""
    may_help = Code.UNSCHEDULABLE in looked_at or len(looked_at) < count
    return Code.UNSCHEDULABLE if closest is Code.UNRESOLVABLE and may_help else closest


def _nowhere(state: ClusterState, branch: Part) -> Verdict:
    error = pin_of(state, branch).error if branch.topology_key else ""
    if error:
        return Verdict(Code.ERROR, error)
    where = f"no node it may use has the label {branch.topology_key}, or the value where its pods run"
    return Verdict(Code.UNRESOLVABLE, f"no feasible placements found: {where}.")


def _in_the_best(branch: Part, place: Place, verdict: Verdict) -> Verdict:
    head = f"0/{place.of} placements are available: in the best {domain_noun(branch)}, {place.name},"
    return replace(verdict, message=f"{head} {verdict.message}")


def _fare_in(state: ClusterState, draft: Draft, branch: Part, rows: Rows) -> PartResult:
    children = tuple(_fare(state, draft, child, rows) for child in branch.children)
    fits = sum(1 for child in children if child.verdict.succeeded)
    code = _code(branch.minimum, fits, [child.verdict.code for child in children])
    verdict = SUCCESS if code is Code.SUCCESS else Verdict(code, _too_few(branch, fits, children))
    return PartResult(branch, fits, verdict, (), children)


def _code(minimum: int, fits: int, codes: Sequence[Code]) -> Code:
    """What is asked of a child makes no sense: if the group cannot start without it, that is so of the group as well."""
    resolvable = codes.count(Code.UNSCHEDULABLE)
    feasibility = PassProgress(minimum, fits, 0, resolvable).feasibility
    mistaken = codes.count(Code.ERROR)
    if feasibility is Feasibility.UNRESOLVABLE and fits + resolvable + mistaken >= minimum:
        return Code.ERROR
    return _CODES[feasibility]


def _too_few(branch: Part, fits: int, children: tuple[PartResult, ...]) -> str:
    refused = [child for child in children if not child.verdict.succeeded]
    refused.sort(key=lambda child: child.verdict.code is not Code.ERROR)
    share = (
        f"{f'only {fits}' if fits else 'none'} of the {branch.minimum} groups that must start together fit"
    )
    if branch.minimum == 1:
        share = "none of its groups fits"
    rest = f" {len(refused) - 1} more of its groups do not fit either." if len(refused) > 1 else ""
    first = refused[0]
    return f"{share}; {first.part.title}: {first.verdict.message}{rest}"


def _first_message(fared: PartResult) -> str:
    """Of the first that could have been placed and was not."""
    if not fared.verdict.succeeded:
        return f"{fared.part.title}: {fared.verdict.message}"
    if fared.refused:
        return f"{fared.part.title}: {fared.refused[0][1].message}"
    return next((message for child in fared.children if (message := _first_message(child))), "")


def _told(fared: PartResult) -> tuple[tuple[PartRefusal, ...], tuple[tuple[PodRecord, Verdict], ...]]:
    return tuple(_parts(fared, None)), tuple(_members(fared, None))


def _parts(fared: PartResult, above: Verdict | None) -> Iterator[PartRefusal]:
    own = _own(fared, above)
    if not own.succeeded:
        yield PartRefusal(fared.part.key, own, fared.fits)
    if not fared.children:
        # It was not tried, and so nothing below it was.
        yield from (PartRefusal(key, own) for key in _keys_below(fared.part))
    for child in fared.children:
        yield from _parts(child, None if own.succeeded else _as_cause(fared.part, own))


def _keys_below(part: Part) -> Iterator[GroupKey]:
    for child in part.children:
        yield child.key
        yield from _keys_below(child)


def _members(fared: PartResult, above: Verdict | None) -> Iterator[tuple[PodRecord, Verdict]]:
    own = _own(fared, above)
    if not fared.children:
        # A composite group without results was not tried, nor was anything below it.
        lacking = dict(fared.refused)
        yield from ((record, lacking.get(record, own)) for record in fared.part.unattached())
    for child in fared.children:
        yield from _members(child, None if own.succeeded else _as_cause(fared.part, own))


def _as_cause(part: Part, verdict: Verdict) -> Verdict:
    """Told to those below, who must know of whom it speaks."""
    if verdict.message.startswith(_DRAWN):
        return verdict
    return replace(verdict, message=f"{part.title}: {verdict.message}")


def _own(fared: PartResult, above: Verdict | None) -> Verdict:
    """Who fits by itself is drawn along by what is above it."""
    if above is None or not fared.verdict.succeeded:
        return fared.verdict
    return above if above.message.startswith(_DRAWN) else drawn_along(above)


_DRAWN = drawn_along(SUCCESS).message
