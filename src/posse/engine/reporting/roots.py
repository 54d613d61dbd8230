"""What is told about whatever the queue holds: a group by itself, or a tree and all of its groups."""

from collections.abc import Iterator
from dataclasses import replace

from posse.engine.decisions import Decision
from posse.engine.groups.admission import NotReady
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Root
from posse.engine.preemption.ledger import Preemption
from posse.engine.preemption.messages import renewed
from posse.engine.reporting.groups import (
    Reported,
    advised,
    tell_group,
    tell_group_waits,
    tell_held,
    tell_pod,
)
from posse.engine.reporting.trees import tell_tree, tell_tree_held
from posse.engine.trials.group_trial import GroupTrial


def tell_held_root(root: Root, hold: NotReady) -> Iterator[Decision]:
    return tell_held(root, hold) if isinstance(root, GroupRecord) else tell_tree_held(root, hold)


def tell_given_back(root: Root) -> Iterator[Decision]:
    """Who waits on, and was told that room is made for it, is told where that is so no more."""
    for record in root.unattached():
        if record.reported[2] and not record.nominated:
            yield from tell_pod(record, *record.reported[:2])


def tell_countdown(root: Root, preemption: Preemption) -> Iterator[Decision]:
    """How many of its victims are left. Its pods are not told: they are many, and it is said of all of them at once."""
    for one in root.records:
        reason, message = one.reported
        for report in tell_group_waits(one, reason, renewed(message, preemption), root):
            yield replace(report, is_news=False)


def tell_tried(root: Root, trial: GroupTrial, remark: str, advice: str) -> Iterator[Decision]:
    """A remark is for everybody who was refused, advice only for the root."""
    if isinstance(root, GroupRecord):
        return tell_group(root, trial, remark, advice)
    return tell_tree(root, trial, remark, advice)


def last_told(root: Root) -> Reported | None:
    """What was last reported on the group itself, or on the root of the tree."""
    return root.top.record if root.top is not None else None


def tell_advice(root: Root, refusal: str, advice: str) -> Iterator[Decision]:
    """Add advice to a refusal that was told before; nothing is said if it was refused in other words meanwhile."""
    record = last_told(root)
    if record is not None and record.reported[1].startswith(refusal):
        for told in tell_group_waits(record, record.reported[0], advised(refusal, advice), root):
            yield replace(told, is_news=False)
