"""One attempt to place a group or a tree, in one draft: committed or rolled back.

In a tree, the minimum of every required part is placed first, then what else fits. Nothing is placed unless
the root starts; parts that fail below a started group wait for the next attempt. So the additional pods of an
early group cannot take the capacity that a later group needs to start.
"""

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from posse.engine.causes import RuleObjection
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Part, Root
from posse.engine.placement.gang.attempt import Attempt, PartRefusal, Probe, attempt_in, drawn_along
from posse.engine.placement.gang.domain_pin import domains_of_members, pin_of
from posse.engine.placement.gang.exhaustive import Steps
from posse.engine.placement.gang.member_pass import nominated_places, objection, takes
from posse.engine.placement.tree.refusal import leave_over, refuse
from posse.engine.placement.tree.search import TreeSearch
from posse.engine.proof import Proof
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.invariants import no_gang_across_domains, no_gang_below_minimum
from posse.engine.verdict import SUCCESS, Code, Verdict

_MAX_STEPS = 1_000
_MAX_ROWS = 250_000
"""Rows read by all steps of an exhaustive search together: in a large cluster each step takes longer."""
NO_PLAN: Mapping[str, str] = MappingProxyType({})
_STEPS_PER_LEAF = 4
_FURTHER_STEPS = 400
_FEW_STEPS = 40
"""Pod groups tried before a tree is refused; some more are added for every group in it."""
_MAX_BEYOND_LEAVES = 2_000
"""Of these, as many at most beside one for each group."""


def steps_allowed(state: ClusterState) -> int:
    """The step limit of one exhaustive search."""
    return min(_MAX_STEPS, _MAX_ROWS // state.nodes.alive.size)


def try_placement(
    state: ClusterState, root: Root, plan: Mapping[str, str] = NO_PLAN, *, is_thorough: bool = True
) -> Attempt:
    """Place a group or a tree if it fits. A plan, a node for each member by uid, is tried first.

    A thorough attempt enumerates placements before it gives up, within the step limit.
    """
    draft = Draft(state)
    attempt = _attempt(state, draft, root, plan, None if is_thorough else Steps(0))
    draft.commit()
    return attempt


def probe_placement(
    state: ClusterState,
    root: Root,
    steps: Steps | None = None,
    plan: Mapping[str, str] = NO_PLAN,
    *,
    is_described: bool = True,
) -> Probe:
    """Try a group or a tree and roll everything back: the state is unchanged, to the last bit.

    Frequent callers give the steps for enumerating placements of a group; a tree is then searched briefly.
    Those who ask only for placements need no refusal that is `described`.
    """
    draft = Draft(state)
    attempt = _attempt(state, draft, root, plan, steps, is_described=is_described)
    placements = tuple((record, record.node) for record in attempt.placed)
    draft.roll_back()
    return Probe(attempt.verdict, placements, attempt.refused, attempt.parts)


def _attempt(
    state: ClusterState,
    draft: Draft,
    root: Root,
    plan: Mapping[str, str],
    steps: Steps | None,
    *,
    is_described: bool = True,
) -> Attempt:
    """If the root fits, its placements are in the draft; otherwise the draft is unchanged."""
    if isinstance(root, GroupRecord):
        allowed = steps or Steps(steps_allowed(state))
        return attempt_in(state, draft, root, plan, allowed, is_described=is_described)
    top = root.top
    if top is None:
        return Attempt(Verdict(Code.UNRESOLVABLE))
    for search in _searches(state, draft, root, top, plan, is_thorough=steps is None):
        # Given places may belong to a group that has lost members since, and cannot start now.
        if _starts(search, top) and root.is_whole(_uids(draft)):
            return _accepted(state, draft, root, top)
        draft.roll_back()
    if not is_described:
        return Attempt(Verdict(Code.UNSCHEDULABLE))
    refusals = refuse(state, top)
    return Attempt(refusals.verdict, refused=refusals.members, parts=refusals.parts)


def _searches(
    state: ClusterState, draft: Draft, root: Root, top: Part, plan: Mapping[str, str], *, is_thorough: bool
) -> Iterator[TreeSearch]:
    """First as planned or nominated; then anywhere, and last in another order."""
    leaves = len(root.leaves)
    steps = _STEPS_PER_LEAF * leaves + (_FURTHER_STEPS if is_thorough else _FEW_STEPS)
    steps = min(steps, leaves + _MAX_BEYOND_LEAVES)
    members = root.unattached()
    given = plan or nominated_places(members)
    if given:
        placed = [record for record in members if record.ref.uid in given]
        fits = all(takes(state, draft, record, given[record.ref.uid]) for record in placed)
        if fits and _stays_inside(state, top, given):
            yield TreeSearch(state, draft, steps, steps)
        draft.roll_back()
    yield TreeSearch(state, draft, steps, steps)
    yield TreeSearch(state, draft, steps, steps, largest_first=True)


def _stays_inside(state: ClusterState, part: Part, placed: Collection[str]) -> bool:
    """Whether every part with a topology key and one of these pods is in one domain of that key."""
    if not any(uid in placed for uid in part.members):
        return True
    if part.topology_key and pin_of(state, part).error:
        return False
    return all(_stays_inside(state, child, placed) for child in part.children)


def _starts(search: TreeSearch, top: Part) -> bool:
    """Whether the tree starts. A tree that has started is tried for additional pods."""
    if next(search.ways(top, None), _NOT) is _NOT:
        return False
    search.start_further(top, None)
    search.fill_up(top, None)
    return bool(search.draft.placed())


_NOT = object()


def _accepted(state: ClusterState, draft: Draft, root: Root, top: Part) -> Attempt:
    objections = (objection(state, leaf) for leaf in root.leaves if leaf.members)
    against = next((one for one in objections if one), None)
    if against is not None:
        draft.roll_back()
        return _objected(root, top, against)
    _check(state, top, _uids(draft))
    if not root.unattached():
        return Attempt(SUCCESS, draft.placed())
    left = leave_over(state, top)
    return Attempt(SUCCESS, draft.placed(), left.members, left.parts)


def _uids(draft: Draft) -> dict[str, None]:
    return dict.fromkeys(record.ref.uid for record in draft.placed())


def _objected(root: Root, top: Part, against: RuleObjection) -> Attempt:
    verdict = Verdict(Code.UNSCHEDULABLE, against, Proof((against.rule,)))
    others = drawn_along(verdict)
    keys = [part.key for part in (*top.branches, *root.leaves)]
    parts = tuple(PartRefusal(key, verdict if key == top.key else others) for key in keys)
    return Attempt(verdict, refused=tuple((record, others) for record in root.unattached()), parts=parts)


def _check(state: ClusterState, part: Part, placed: Collection[str]) -> None:
    """Check that every part with a placed pod has its minimum and is in one domain of its key."""
    if not any(uid in placed for uid in part.members):
        return
    if part.topology_key:
        no_gang_across_domains(part.key, domains_of_members(state, part))
    no_gang_below_minimum(part.key, part.started_count, part.minimum)
    for child in part.children:
        _check(state, child, placed)
