"""What a tree is told as a whole and group by group, and what is ordered for it. The same thing is said once."""

from collections.abc import Iterable, Iterator

from posse.engine.admissibility import INVALID, Held
from posse.engine.decisions import Bind, Decision, Evict, GroupRef, MarkDisrupted, ReportGroup
from posse.engine.group_trial import GroupTrial
from posse.engine.groups import GroupRecord
from posse.engine.reports import (
    SCHEDULED,
    advised,
    evict,
    placed,
    placement,
    reason_of,
    remarked,
    tell_fallen_short,
    tell_group_waits,
    tell_pod,
    tell_recovered,
    tell_started,
)
from posse.engine.trees.composites import CompositeRecord
from posse.engine.trees.tree import Branch, Tree, is_seen_started, is_started


def tell_tree(tree: Tree, trial: GroupTrial, remark: str = "", advice: str = "") -> Iterator[Decision]:
    """What would let the tree start is told to its root."""
    attempt = trial.attempt
    if attempt.placed:
        yield Bind(tuple(placement(record) for record in attempt.placed), tree.key)
    if attempt.verdict.succeeded:
        yield from tell_tree_progress(tree, is_being_bound=True)
    records = _records(tree)
    for key, verdict, _ in attempt.parts:
        message = advised(remarked(verdict, remark), advice if key == tree.key else "")
        yield from tell_group_waits(records[key], reason_of(verdict), message, tree, verdict.proof)
    if trial.victims:
        preemptor = GroupRef(tree.key, tree.uid, tree.scheduler_name)
        for victim in trial.victims:
            yield from evict(victim, Evict(victim.ref, preemptor, victim.node), tree.key)
    for record, verdict in attempt.refused:
        yield from tell_pod(record, reason_of(verdict), verdict.message)


def tell_tree_progress(tree: Tree, *, is_being_bound: bool = False) -> Iterator[Decision]:
    """What is started, has lost members or runs again, whoever brought that about."""
    for leaf in tree.leaves:
        yield from tell_started(leaf, tree.key, is_being_bound=is_being_bound)
        yield from tell_fallen_short(leaf)
        yield from tell_recovered(leaf)
    for branch in tree.top.branches() if tree.top is not None else ():
        yield from _tell_branch_started(tree, branch, is_being_bound=is_being_bound)
        yield from _tell_branch_recovered(branch)


def tell_tree_started(tree: Tree) -> Iterator[Decision]:
    for leaf in tree.leaves:
        yield from tell_started(leaf, tree.key)
    for branch in tree.top.branches() if tree.top is not None else ():
        yield from _tell_branch_started(tree, branch, is_being_bound=False)


def tell_tree_held(tree: Tree, hold: Held) -> Iterator[Decision]:
    """Who merely waits for members is told nothing; what is wrong is told to every group of the tree, and to the pods."""
    if not hold.is_error:
        yield from _tell_mended(tree, hold)
        return
    for record in _records(tree).values():
        yield from tell_group_waits(record, hold.reason, hold.message, tree)
    for pod in tree.unattached():
        yield from tell_pod(pod, hold.told_to_pods, hold.message)


def _tell_mended(tree: Tree, hold: Held) -> Iterator[Decision]:
    """To those who were told that something is wrong, which is so no more."""
    for record in _records(tree).values():
        if record.reported[0] == INVALID:
            yield from tell_group_waits(record, hold.reason, _MENDED, tree)


_MENDED = "what was wrong with its tree has been mended; it waits for groups or pods that are still to come"


def _records(tree: Tree) -> dict[object, CompositeRecord | GroupRecord]:
    records: Iterable[CompositeRecord | GroupRecord] = (*tree.composites, *tree.leaves)
    return {record.key: record for record in records}


def _tell_branch_started(tree: Tree, branch: Branch, *, is_being_bound: bool) -> Iterator[Decision]:
    record = branch.record
    waits = any(leaf.awaits_volumes for leaf in branch.leaves())
    has_started = is_started(branch) if is_being_bound else is_seen_started(branch)
    if record.is_untold or (not record.scheduled and not waits and has_started):
        was_scheduled, record.scheduled, record.is_untold = record.scheduled, True, False
        yield ReportGroup(
            record.key,
            record.uid,
            scheduled=True,
            reason=SCHEDULED,
            message="",
            scheduler_name=tree.scheduler_name,
            tree=tree.key,
            finding=placed(record),
            is_repeated=was_scheduled,
        )


def _tell_branch_recovered(branch: Branch) -> Iterator[Decision]:
    record = branch.record
    if not record.is_disrupted or not is_started(branch):
        return
    if not any(member.is_ending for leaf in branch.leaves() for member in leaf.members.values()):
        record.is_disrupted = False
        yield MarkDisrupted(record.key, record.uid)
