"""One attempt to place a tree, in one draft: first the minimum of everything that must start, then what else fits.

Nothing of the tree is placed unless its root starts; what fails below a group that starts all the same waits for the next
attempt. So an early group cannot take with its further pods what a later one needs to start.
"""

from collections.abc import Collection, Iterator, Mapping

from posse.engine.groups.tree import Branch, Part, Tree, is_whole, started_children
from posse.engine.placement.gang.attempt import Attempt, PartRefusal, Probe, drawn_along
from posse.engine.placement.gang.domain_pin import domains_of_members, pin_of
from posse.engine.placement.gang.member_pass import objection, takes
from posse.engine.placement.tree.refusal import leave_over, refuse
from posse.engine.placement.tree.search import TreeSearch
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.invariants import no_gang_across_domains, no_gang_below_minimum, no_tree_below_minimum
from posse.engine.verdict import SUCCESS, Code, Proof, Verdict

_STEPS_PER_LEAF = 4
_FURTHER_STEPS = 400
_FEW_STEPS = 40
"""Groups of pods that are tried before a tree is refused: so many, and some more for every group that it has."""


def try_tree(state: ClusterState, tree: Tree, plan: Mapping[str, str], *, is_thorough: bool) -> Attempt:
    """With a plan, of a node for each of the members by uid, that is tried first."""
    attempt, draft = _attempt(state, tree, plan, is_thorough=is_thorough)
    if draft is not None:
        draft.commit()
    return attempt


def probe_tree(state: ClusterState, tree: Tree, *, is_thorough: bool = True) -> Probe:
    """Try the tree and take everything back: the state is as it was, to the last bit."""
    attempt, draft = _attempt(state, tree, {}, is_thorough=is_thorough)
    placements = tuple((record, record.node) for record in attempt.placed)
    if draft is not None:
        draft.roll_back()
    return Probe(attempt.verdict, placements, attempt.refused, attempt.parts)


def _attempt(
    state: ClusterState, tree: Tree, plan: Mapping[str, str], *, is_thorough: bool
) -> tuple[Attempt, Draft | None]:
    """Where the tree fits, its pods are in the draft, which is still open."""
    top = tree.top
    if top is None:
        return Attempt(Verdict(Code.UNRESOLVABLE)), None
    for search in _searches(state, tree, plan, is_thorough=is_thorough):
        # Given places may be those of a group that has lost members since, and cannot start any more.
        if _starts(search, top) and is_whole(tree, _uids(search.draft)):
            return _accepted(state, tree, top, search.draft)
        search.draft.roll_back()
    refusals = refuse(state, top)
    return Attempt(refusals.verdict, refused=refusals.members, parts=refusals.parts), None


def _searches(
    state: ClusterState, tree: Tree, plan: Mapping[str, str], *, is_thorough: bool
) -> Iterator[TreeSearch]:
    """First as planned, or where room was made for it; then anywhere, and at last in another order."""
    steps = _STEPS_PER_LEAF * len(tree.leaves) + (_FURTHER_STEPS if is_thorough else _FEW_STEPS)
    members = tree.unattached()
    given = plan or {record.ref.uid: record.nominated for record in members if record.nominated}
    if given:
        draft = Draft(state)
        placed = [record for record in members if record.ref.uid in given]
        fits = all(takes(state, draft, record, given[record.ref.uid]) for record in placed)
        if fits and tree.top is not None and _stays_inside(state, tree.top, given):
            yield TreeSearch(state, draft, steps, steps)
        draft.roll_back()
    yield TreeSearch(state, Draft(state), steps, steps)
    yield TreeSearch(state, Draft(state), steps, steps, largest_first=True)


def _stays_inside(state: ClusterState, part: Part, placed: Collection[str]) -> bool:
    """Whether all with a topology key, in which one of these pods is, are in one domain of it."""
    if not any(uid in placed for uid in part.members):
        return True
    if part.topology_key and pin_of(state, part).error:
        return False
    children = part.children if isinstance(part, Branch) else ()
    return all(_stays_inside(state, child, placed) for child in children)


def _starts(search: TreeSearch, top: Branch) -> bool:
    """A tree that runs is tried for the sake of somebody new."""
    if next(search.ways(top, None), _NOT) is _NOT:
        return False
    search.start_further(top, None)
    search.fill_up(top, None)
    return bool(search.draft.placed())


_NOT = object()


def _accepted(state: ClusterState, tree: Tree, top: Branch, draft: Draft) -> tuple[Attempt, Draft | None]:
    objections = (objection(state, leaf) for leaf in tree.leaves if leaf.members)
    against = next((one for one in objections if one), "")
    if against:
        draft.roll_back()
        return _objected(tree, top, against), None
    _check(state, top, _uids(draft))
    left = leave_over(state, top) if any(leaf.unattached() for leaf in tree.leaves) else None
    if left is None:
        return Attempt(SUCCESS, draft.placed()), draft
    return Attempt(SUCCESS, draft.placed(), left.members, left.parts), draft


def _uids(draft: Draft) -> dict[str, None]:
    return dict.fromkeys(record.ref.uid for record in draft.placed())


def _objected(tree: Tree, top: Branch, against: str) -> Attempt:
    verdict = Verdict(Code.UNSCHEDULABLE, against, proof=Proof((against.partition(":")[0],)))
    others = drawn_along(verdict)
    keys = [*(branch.key for branch in top.branches()), *(leaf.key for leaf in tree.leaves)]
    parts = tuple(PartRefusal(key, verdict if key == top.key else others) for key in keys)
    return Attempt(verdict, refused=tuple((record, others) for record in tree.unattached()), parts=parts)


def _check(state: ClusterState, part: Part, placed: Collection[str]) -> None:
    """Whatever has a pod placed in it has its minimum, and is in one domain of its key."""
    if not any(uid in placed for uid in part.members):
        return
    if part.topology_key:
        no_gang_across_domains(part.key, domains_of_members(state, part))
    if isinstance(part, Branch):
        no_tree_below_minimum(part.key, started_children(part), part.minimum)
        for child in part.children:
            _check(state, child, placed)
    else:
        no_gang_below_minimum(part.key, part.attached_count, part.minimum)
