"""What is told about whatever the queue holds: a group by itself, or a tree and all of its groups."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from posse.engine.decisions import Decision
from posse.engine.groups.admission import NotReady
from posse.engine.groups.tree import Root, Tree
from posse.engine.preemption.ledger import Preemption
from posse.engine.preemption.messages import renewed
from posse.engine.reporting.groups import (
    Reported,
    advised,
    tell_fallen_short,
    tell_group,
    tell_group_waits,
    tell_held,
    tell_pod,
    tell_recovered,
    tell_started,
)
from posse.engine.reporting.trees import tell_tree, tell_tree_held, tell_tree_progress
from posse.engine.trials.group_trial import GroupTrial


def tell_progress(root: Root) -> Iterator[Decision]:
    """What has started, has lost members or runs again, whoever brought that about."""
    if isinstance(root, Tree):
        yield from tell_tree_progress(root)
    else:
        yield from tell_started(root)
        yield from tell_fallen_short(root)
        yield from tell_recovered(root)


def tell_held_root(root: Root, hold: NotReady) -> Iterator[Decision]:
    return tell_tree_held(root, hold) if isinstance(root, Tree) else tell_held(root, hold)


def tell_given_back(root: Root) -> Iterator[Decision]:
    """Who waits on, and was told that room is made for it, is told where that is so no more."""
    for record in root.unattached():
        if record.reported[2] and not record.nominated:
            yield from tell_pod(record, *record.reported[:2])


def tell_countdown(root: Root, preemption: Preemption) -> Iterator[Decision]:
    """How many of its victims are left. Its pods are not told: they are many, and it is said of all of them at once."""
    told: Sequence[Reported] = (*root.composites, *root.leaves) if isinstance(root, Tree) else (root,)
    for one in told:
        reason, message = one.reported
        for report in tell_group_waits(one, reason, renewed(message, preemption), root):
            yield replace(report, is_news=False)


def tell_tried(root: Root, trial: GroupTrial, remark: str, advice: str) -> Iterator[Decision]:
    """A remark is for everybody who was refused, advice only for the root."""
    if isinstance(root, Tree):
        return tell_tree(root, trial, remark, advice)
    return tell_group(root, trial, remark, advice)


def last_told(root: Root) -> Reported | None:
    """What is remembered of the object at the top; None if there is none."""
    if isinstance(root, Tree):
        return root.top.record if root.top is not None else None
    return root


def tell_advice(root: Root, refusal: str, advice: str) -> Iterator[Decision]:
    """Add advice to a refusal that was told before; nothing is said if it was refused in other words meanwhile."""
    record = last_told(root)
    if record is not None and record.reported[1].startswith(refusal):
        for told in tell_group_waits(record, record.reported[0], advised(refusal, advice), root):
            yield replace(told, is_news=False)
