"""What a tree is told as a whole and group by group, and what is ordered for it. The same thing is said once."""

from collections.abc import Collection, Iterator

from posse.engine.decisions import Bind, Decision, Evict, MarkDisrupted, ReportGroup
from posse.engine.groups.admission import INVALID, NotReady
from posse.engine.groups.part import Part, Root
from posse.engine.groups.reported_object import ReportedObject
from posse.engine.keys import GroupKey, GroupRef
from posse.engine.reporting.groups import (
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
from posse.engine.trials.group_trial import GroupTrial


def tell_tree(tree: Root, trial: GroupTrial, remark: str = "", advice: str = "") -> Iterator[Decision]:
    """What would let the tree start is told to its root."""
    attempt = trial.attempt
    if attempt.placed:
        yield Bind(tuple(placement(record) for record in attempt.placed), tree.key)
    if attempt.verdict.succeeded:
        being_bound = dict.fromkeys(record.group for record in attempt.placed if record.group is not None)
        yield from tell_progress(tree, being_bound)
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


def tell_progress(tree: Root, being_bound: Collection[GroupKey] = ()) -> Iterator[Decision]:
    """What is started, has lost members or runs again, whoever brought that about."""
    for leaf in tree.leaves:
        yield from tell_started(leaf, _tree_key(tree), is_being_bound=leaf.key in being_bound)
        yield from tell_fallen_short(leaf)
        yield from tell_recovered(leaf)
    for branch in tree.top.branches if tree.top is not None else ():
        yield from _tell_branch_started(tree, branch, being_bound)
        yield from _tell_branch_recovered(branch)


def tell_untold(tree: Root) -> Iterator[Decision]:
    """What has started, as far as the report of it may be lost."""
    for leaf in tree.leaves:
        yield from tell_started(leaf, _tree_key(tree)) if leaf.is_untold else ()
    for branch in tree.top.branches if tree.top is not None else ():
        yield from _tell_branch_started(tree, branch, ()) if branch.record.is_untold else ()


def tell_tree_held(tree: Root, hold: NotReady) -> Iterator[Decision]:
    """Who merely waits for members is told nothing; what is wrong is told to every group of the tree, and to the pods."""
    if not hold.is_error:
        yield from _tell_mended(tree, hold)
        return
    for record in _records(tree).values():
        yield from tell_group_waits(record, hold.reason, hold.message, tree)
    for pod in tree.unattached():
        yield from tell_pod(pod, hold.told_to_pods, hold.message)


def _tell_mended(tree: Root, hold: NotReady) -> Iterator[Decision]:
    """To those who were told that something is wrong, which is so no more."""
    for record in _records(tree).values():
        if record.reported[0] == INVALID:
            yield from tell_group_waits(record, hold.reason, _MENDED, tree)


_MENDED = "what was wrong with its tree has been mended; it waits for groups or pods that are still to come"


def _tree_key(root: Root) -> GroupKey | None:
    return root.key if root.key.is_composite else None


def _records(tree: Root) -> dict[GroupKey, ReportedObject]:
    return {record.key: record for record in tree.records}


def _tell_branch_started(tree: Root, branch: Part, being_bound: Collection[GroupKey]) -> Iterator[Decision]:
    record = branch.record
    waits = any(leaf.awaits_volumes for leaf in branch.leaves)
    has_started = not waits and branch.is_seen_started(being_bound)
    if record.is_untold or (not record.scheduled and has_started):
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
            holds_anyway=was_scheduled or branch.is_seen_started(),
        )


def _tell_branch_recovered(branch: Part) -> Iterator[Decision]:
    record = branch.record
    if not record.is_disrupted or not branch.is_seen_started():
        return
    if not any(member.is_ending for leaf in branch.leaves for member in leaf.members.values()):
        record.is_disrupted = False
        yield MarkDisrupted(record.key, record.uid)
