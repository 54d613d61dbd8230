"""How a tree and each of its groups stand at this moment, from one attempt that is taken back."""

from collections.abc import Iterator
from dataclasses import replace

from posse.engine.explain.group_status import (
    Counts,
    GroupCounts,
    GroupStatus,
    State,
    as_if_its_turn,
    counts_of,
    lasting_hold,
    left_to,
    situation_in,
    state_of,
    tried,
)
from posse.engine.groups.admission import WAITING_FOR_PODS, NotReady, incomplete
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.tree import (
    MOST_LEVELS,
    Branch,
    Part,
    Tree,
    is_admissible,
    is_started,
    started_children,
    tops,
)
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.attempt import Probe
from posse.engine.placement.root import probe_root
from posse.engine.verdict import SUCCESS


def tree_situations(knowledge: Knowledge, tree: Tree) -> Iterator[GroupStatus]:
    """Of the root first, then of what is below it, each with its own before the next."""
    parts = list(_shown(knowledge, tree))
    hold = lasting_hold(knowledge, tree)
    if tree.members and not knowledge.is_ours(tree):
        for part, depth in parts:
            yield _situation(part, depth, State.FOREIGN, left_to(tree.scheduler_name))
    elif hold is not None:
        for part, depth in parts:
            rests = _rests(part)
            state, message = (State.SCHEDULED, "") if rests else (state_of(hold), _held(tree, part, hold))
            yield _situation(part, depth, state, message)
    else:
        with as_if_its_turn(knowledge, tree):
            probe = probe_root(knowledge.state, tree)
        fits = {refusal.key: refusal.fits for refusal in probe.parts}
        for part, depth in parts:
            if _rests(part):
                yield _situation(part, depth, State.SCHEDULED, "")
                continue
            now = tried(_situation(part, depth, State.FITS, ""), _share(part, probe))
            yield replace(now, fits=fits.get(part.key, 0))


def _held(tree: Tree, part: Part, hold: NotReady) -> str:
    """What the tree lacks need not be lacking in this part of it."""
    if hold.reason != WAITING_FOR_PODS or part.key == tree.key:
        return hold.message
    if not is_admissible(part):
        return incomplete(part)
    return f"its own are all there, but of composite pod group {tree.key.name} {hold.message}"


def _shown(knowledge: Knowledge, tree: Tree) -> Iterator[tuple[Part, int]]:
    """All parts with their depth; last what is below more groups than a tree may have."""
    shown: dict[GroupKey, None] = {}
    for top in tops(knowledge.groups, tree):
        for part, depth in _below(top, 0):
            shown[part.key] = None
            yield part, depth
    deeper: list[Part] = [Branch(record, ()) for record in tree.composites]
    yield from ((part, MOST_LEVELS + 1) for part in (*deeper, *tree.leaves) if part.key not in shown)


def _below(part: Part, depth: int) -> Iterator[tuple[Part, int]]:
    yield part, depth
    for child in part.children if isinstance(part, Branch) else ():
        yield from _below(child, depth + 1)


def _rests(part: Part) -> bool:
    """Whether it has started, and nobody of it waits."""
    return is_started(part) and not any(leaf.unattached() for leaf in _leaves(part))


def _leaves(part: Part) -> Iterator[GroupRecord]:
    return part.leaves() if isinstance(part, Branch) else iter((part,))


def _share(part: Part, probe: Probe) -> Probe:
    """What an attempt for the tree comes to for this part of it."""
    members = dict.fromkeys(uid for leaf in _leaves(part) for uid in leaf.members)
    own = {refusal.key: refusal.verdict for refusal in probe.parts}
    verdict = own.get(part.key, SUCCESS if probe.verdict.succeeded else probe.verdict)
    return Probe(
        verdict,
        tuple((record, node) for record, node in probe.placements if record.ref.uid in members),
        tuple((record, why) for record, why in probe.refused if record.ref.uid in members),
    )


def _situation(part: Part, depth: int, state: State, message: str) -> GroupStatus:
    if not isinstance(part, Branch):
        return replace(situation_in(part, state, message), depth=depth)
    composite = part.record.composite
    is_ending = bool(composite.metadata.deletion_timestamp)
    return GroupStatus(
        key=part.key,
        exists=True,
        policy="Gang" if composite.spec.scheduling_policy.gang is not None else "Basic",
        minimum=part.minimum,
        expected=0,
        topology_key=part.topology_key,
        priority=part.record.priority,
        counts=_total(part),
        has_started=part.record.scheduled,
        has_fallen_short=part.record.scheduled and not is_started(part) and not is_ending,
        is_being_deleted=is_ending,
        state=state,
        message=message,
        depth=depth,
        groups=GroupCounts(len(part.children), started_children(part)),
    )


def _total(branch: Branch) -> Counts:
    counts = [counts_of(leaf) for leaf in branch.leaves()]
    return Counts(
        members=sum(one.members for one in counts),
        on_nodes=sum(one.on_nodes for one in counts),
        waiting=sum(one.waiting for one in counts),
        gated=sum(one.gated for one in counts),
        missing=sum(one.missing for one in counts),
        terminating=sum(one.terminating for one in counts),
    )
