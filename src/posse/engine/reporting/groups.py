"""What waiting pods and groups are told, and what is ordered for them. The same thing is said once, not at every attempt."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from posse.engine.decisions import (
    SCHEDULER_ERROR,
    Bind,
    Decision,
    Evict,
    Finding,
    MarkDisrupted,
    Placement,
    ReportGroup,
    ReportPod,
    WarnGroup,
)
from posse.engine.groups.admission import NotReady
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Root
from posse.engine.keys import GroupKey, GroupRef
from posse.engine.preemption.marks import mark_for
from posse.engine.preemption.units import evicted_with
from posse.engine.state.pod_record import PodRecord
from posse.engine.trials.group_trial import GroupTrial
from posse.engine.trials.pod_trial import Trial
from posse.engine.verdict import Code, Outcome, Proof, Verdict

UNSCHEDULABLE = "Unschedulable"
SCHEDULED = "Scheduled"
BELOW_MINIMUM = "BelowMinimum"


def tell_pods(trial: Trial, remark: str = "") -> Iterator[Decision]:
    """The outcome for pods that stand for themselves: each binding is a decision of its own.

    Who is refused is told the remark as well.
    """
    for record in trial.attempt.placed:
        yield Bind((placement(record),))
    evictions: dict[str, list[Evict]] = {}
    for one in trial.evictions:
        if one.is_first:
            preemptor = one.preemptor.ref
            evictions.setdefault(preemptor.uid, []).append(Evict(one.victim.ref, preemptor, one.node))
    for record, verdict in trial.attempt.refused:
        yield from evictions.get(record.ref.uid, ())
        yield from tell_pod(record, UNSCHEDULABLE, remarked(verdict, remark))


def tell_group(
    group: GroupRecord, trial: GroupTrial, remark: str = "", advice: str = ""
) -> Iterator[Decision]:
    attempt = trial.attempt
    if attempt.placed:
        yield Bind(tuple(placement(record) for record in attempt.placed), group.key)
    if attempt.verdict.succeeded:
        yield from tell_started(group, is_being_bound=True)
        yield from tell_fallen_short(group)
        yield from tell_recovered(group)
    else:
        message = advised(remarked(attempt.verdict, remark), advice)
        yield from tell_group_waits(group, reason_of(attempt.verdict), message, group, attempt.verdict.proof)
    if trial.victims and group.podgroup is not None:
        preemptor = GroupRef(group.key, group.podgroup.metadata.uid, group.scheduler_name)
        for victim in trial.victims:
            yield from evict(victim, Evict(victim.ref, preemptor, victim.node), group.key)
    for record, verdict in attempt.refused:
        yield from tell_pod(record, reason_of(verdict), verdict.message)


def reason_of(verdict: Verdict) -> str:
    return SCHEDULER_ERROR if verdict.code is Code.ERROR else UNSCHEDULABLE


def evict(victim: PodRecord, eviction: Evict, for_whom: str | GroupKey) -> Iterator[Decision]:
    """Who is ending is not evicted again. It goes on making room for the first who asked; the others wait for it too."""
    was_ending = victim.is_ending
    victim.evicted_for = victim.evicted_for or for_whom
    if not was_ending:
        yield eviction


def placement(record: PodRecord) -> Placement:
    return Placement(record.ref, record.node, record.attempts, record.queued_at)


def tell_disrupted(
    pods: Mapping[str, PodRecord], groups: GroupBook, evictions: Iterable[Evict]
) -> Iterator[Decision]:
    """Groups that are evicted as a whole are marked once, however many of their pods are named."""
    for eviction in evictions:
        key = pods[eviction.pod.uid].group
        for one in evicted_with(key, groups) if key is not None else ():
            group = groups.reported(one)
            if group is not None and group.uid and not group.is_disrupted:
                group.is_disrupted = True
                yield MarkDisrupted(one, group.uid, mark_for(eviction.preemptor), eviction.preemptor)


def mark_again(groups: GroupBook, lost: Iterable[MarkDisrupted]) -> Iterator[Decision]:
    """What may not have arrived, as far as it still holds."""
    for mark in lost:
        group = groups.reported(mark.group)
        if group is not None and group.uid == mark.uid and group.is_disrupted == bool(mark.message):
            yield mark


def tell_recovered(group: GroupRecord) -> Iterator[Decision]:
    """A group that runs again is no victim any more."""
    runs = group.seen_count >= group.minimum and not any(r.is_ending for r in group.members.values())
    if group.is_disrupted and group.podgroup is not None and runs:
        group.is_disrupted = False
        yield MarkDisrupted(group.key, group.podgroup.metadata.uid)


def tell_started(
    group: GroupRecord, tree: GroupKey | None = None, *, is_being_bound: bool = False
) -> Iterator[Decision]:
    """A group with its minimum on nodes is scheduled, also if we find it so and somebody else placed it.

    What is said beside the bindings it rests on is withheld if one is refused; said later, it has to wait for them.
    """
    there = group.attached_count if is_being_bound else group.seen_count
    has_minimum = there >= group.minimum and not group.awaits_volumes
    if group.podgroup is not None and (group.is_untold or (not group.scheduled and has_minimum)):
        was_scheduled, group.scheduled, group.is_untold = group.scheduled, True, False
        yield ReportGroup(
            group.key,
            group.podgroup.metadata.uid,
            scheduled=True,
            reason=SCHEDULED,
            message="",
            scheduler_name=group.scheduler_name,
            tree=tree,
            finding=placed(group),
            holds_anyway=was_scheduled or group.seen_count >= group.minimum,
        )


def tell_fallen_short(group: GroupRecord) -> Iterator[Decision]:
    """PodGroupInitiallyScheduled stays True for good; that members were lost is told beside it, once until it has recovered."""
    was_known, group.is_known_to_be_short = group.is_known_to_be_short, group.has_fallen_short
    if group.podgroup is None or was_known or not group.has_fallen_short:
        return
    text = (
        f"{group.attached_count} of the {group.minimum} pods that must run together are left; "
        "others start only if the minimum is reached again"
    )
    yield WarnGroup(group.key, group.podgroup.metadata.uid, BELOW_MINIMUM, text, group.scheduler_name)


def tell_held(group: GroupRecord, hold: NotReady) -> Iterator[Decision]:
    """Who merely waits for its members is told nothing, as in Kubernetes: each arrival would be another write."""
    if hold.is_error:
        yield from tell_group_waits(group, hold.reason, hold.message, group)
        for record in group.unattached():
            yield from tell_pod(record, hold.reason, hold.message)


class Reported(Protocol):
    """What is remembered of a group, or of a group of groups, that has an object to be told by."""

    key: GroupKey
    scheduled: bool
    reported: tuple[str, str]
    outcome: str

    @property
    def uid(self) -> str: ...


def placed(group: Reported) -> Finding:
    return _found(group, Finding(Outcome.PLACED))


def _found(group: Reported, finding: Finding) -> Finding:
    was, group.outcome = group.outcome, finding.outcome
    return replace(finding, is_new=was != finding.outcome)


def tell_group_waits(
    group: Reported, reason: str, message: str, root: Root, proof: Proof | None = None
) -> Iterator[ReportGroup]:
    if group.uid and not group.scheduled and group.reported != (reason, message):
        is_first = not group.reported[0]
        group.reported = (reason, message)
        yield ReportGroup(
            group.key,
            group.uid,
            scheduled=False,
            reason=reason,
            message=message,
            is_first=is_first,
            scheduler_name=root.scheduler_name,
            tree=root.key if root.key.is_composite else None,
            finding=_found(group, Finding(proof.outcome, proof.sentence)) if proof is not None else None,
        )


def remarked(verdict: Verdict, remark: str) -> str:
    return f"{verdict.message} {remark}" if remark else verdict.message


def advised(message: str, advice: str) -> str:
    return f"{message} {advice}" if advice else message


def tell_pod(record: PodRecord, reason: str, message: str) -> Iterator[Decision]:
    if record.is_untold or record.reported != (reason, message, record.nominated):
        is_first = record.is_untold or not record.reported[0]
        record.reported, record.is_untold = (reason, message, record.nominated), False
        yield ReportPod(record.ref, reason, message, record.nominated, is_first=is_first)
