"""Decisions for groups and trees: bindings, evictions, and reports on parts that start or fall short.

Functions called `mark_...` change what is remembered as reported, and return the decisions. The same report
is made once.
"""

from collections.abc import Collection, Iterable, Mapping

from msgspec import structs

from posse.engine.decisions import (
    Bind,
    Decision,
    Evict,
    Finding,
    MarkDisrupted,
    NotePriorities,
    ReportGroup,
    WarnGroup,
)
from posse.engine.groups.admission import NotReady
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Part, Root
from posse.engine.keys import GroupKey, GroupRef
from posse.engine.placement.gang.attempt import Attempt, PartRefusal, Probe
from posse.engine.placement_problem import Advice, Unadvised
from posse.engine.preemption.marks import mark_for
from posse.engine.preemption.units import evicted_with
from posse.engine.proof import Outcome
from posse.engine.reporting.annotation_messages import annotations_text
from posse.engine.reporting.hold_messages import hold_text
from posse.engine.reporting.invalid_messages import priority_error_text
from posse.engine.reporting.messages import below_minimum_text, other_priorities_text
from posse.engine.reporting.pods import mark_nomination_lost, mark_pods_refused, placement
from posse.engine.reporting.waiting_parts import BELOW_MINIMUM, mark_refused
from posse.engine.state.pod_record import PodRecord
from posse.engine.statement import NEVER_REPORTED, AdvicePending, Reservation, Statement
from posse.engine.trials.group_trial import GroupTrial

SCHEDULED = "Scheduled"
INVALID_PRIORITY = "InvalidPriority"
INVALID_ANNOTATION = "InvalidAnnotation"


def mark_tried(
    root: Root,
    trial: GroupTrial,
    reservation: Reservation | None = None,
    advice: Advice | Unadvised | AdvicePending | None = None,
) -> list[Decision]:
    """Report an attempt. Every refused part gets the reservation, and only the root gets advice."""
    attempt = trial.attempt
    decisions: list[Decision] = []
    if attempt.placed:
        decisions.append(Bind(tuple(map(placement, attempt.placed)), root.key))
    if attempt.verdict.succeeded:
        decisions += mark_progress(root, _being_bound(root, attempt))
    if refused := refused_parts(root, attempt):
        records = {record.key: record for record in root.records}
        for key, verdict, _ in refused:
            statement = Statement(verdict, reservation, advice if key == root.key else None)
            decisions += mark_refused(root, records[key], statement)
    if trial.victims:
        decisions += _mark_evicted(root, trial.victims)
    if attempt.refused:
        decisions += mark_pods_refused(attempt.refused)
    return decisions


def _being_bound(root: Root, attempt: Attempt) -> Collection[GroupKey]:
    """The groups of the pods that were placed."""
    if attempt.placed and not root.key.is_composite:
        return (root.key,)
    return dict.fromkeys([record.group for record in attempt.placed if record.group is not None])


def refused_parts(root: Root, attempt: Attempt | Probe) -> Collection[PartRefusal]:
    """The parts that an attempt refuses, each with its verdict."""
    if root.key.is_composite or attempt.verdict.succeeded:
        return attempt.parts
    return (PartRefusal(root.key, attempt.verdict),)


def _mark_evicted(root: Root, victims: Collection[PodRecord]) -> list[Decision]:
    """A terminating pod stays the victim of its first preemptor; others wait for it without an eviction."""
    if not root.uid:
        return []
    preemptor, evictions = GroupRef(root.key, root.uid, root.scheduler_name), list[Decision]()
    for victim in victims:
        if not victim.is_ending:
            evictions.append(Evict(victim.ref, preemptor, victim.node))
        victim.evicted_for = victim.evicted_for or root.key
    return evictions


def mark_progress(root: Root, being_bound: Collection[GroupKey] = ()) -> list[Decision]:
    """Report parts that have started, have lost members or run again, whatever caused it.

    Bindings in flight count only for the groups `being_bound` in this round. A report beside its bindings is
    withheld if one is refused; a later report has to wait until they are seen.
    """
    decisions: list[Decision] = []
    for part in root.reported_parts:
        record = part.record
        # A part that starts now has its minimum, and one that never did has lost nothing.
        if record.scheduled:
            decisions += _mark_started(root, part, being_bound) if record.report_may_be_lost else []
            decisions += _mark_running_again(root, part)
            decisions += _mark_short(part) if isinstance(part, GroupRecord) else []
        else:
            record.forget_losses()
            decisions += _mark_started(root, part, being_bound)
        decisions += _mark_recovered(part) if record.is_disrupted else []
    return decisions


def mark_started_again(root: Root) -> list[Decision]:
    """Report started parts again where the first report may be lost."""
    untold = [part for part in root.reported_parts if part.record.report_may_be_lost]
    return [report for part in untold for report in _mark_started(root, part, ())]


def mark_nominations_lost(root: Root, hold: NotReady) -> list[Decision]:
    """Clear nominatedNodeName of pods that lost their nomination, and what was said of a preemption."""
    lost = (pod for pod in root.unattached() if pod.reported.nominated_node and not pod.nominated)
    text = "" if hold.is_error else hold_text(hold)
    return [report for pod in lost for report in mark_nomination_lost(pod, text)]


def mark_invalid_priorities(root: Root) -> list[Decision]:
    """Groups that run are not refused for a wrong priority, which does not count either; that is an event."""
    warnings: list[Decision] = []
    for record in root.records:
        was_told, record.told_priority_error = record.told_priority_error, record.priority_error
        error = record.priority_error
        if error is not None and error != was_told and record.scheduled and record.uid:
            text, name = priority_error_text(error), root.scheduler_name
            warnings.append(WarnGroup(record.key, record.uid, INVALID_PRIORITY, text, name))
    return warnings


def mark_invalid_annotations(root: Root) -> list[Decision]:
    """What makes no sense is not used, which is an event: it is no reason to wait."""
    warnings: list[Decision] = []
    for record in root.records:
        faults = record.annotation_faults
        if faults != record.told_annotation_faults and record.uid:
            record.told_annotation_faults = faults
            text, name = annotations_text(faults), root.scheduler_name
            warnings += [WarnGroup(record.key, record.uid, INVALID_ANNOTATION, text, name)] if faults else []
    return warnings


def mark_other_priorities(root: Root) -> list[Decision]:
    """Report the members whose own priority is ignored, or that there are none any more."""
    notes: list[Decision] = []
    for leaf in root.leaves:
        text = _other_priorities(leaf, root.priority) if leaf.states_priority else ""
        if leaf.uid and text != leaf.priority_note:
            leaf.priority_note = text
            notes.append(NotePriorities(leaf.key, leaf.uid, text, root.scheduler_name))
    return notes


def _other_priorities(group: GroupRecord, own: int) -> str:
    others = (record for record in group.members.values() if record.priority != own)
    examples: dict[int, str] = {}
    for record in others:
        examples.setdefault(record.priority, record.ref.name)
    return other_priorities_text(examples, own) if examples else ""


def mark_disrupted(
    pods: Mapping[str, PodRecord], groups: GroupBook, evictions: Iterable[Evict]
) -> list[Decision]:
    """Mark groups that are evicted as a whole once, however many of their pods are named."""
    marks = list[Decision]()
    for eviction in evictions:
        key = pods[eviction.pod.uid].group
        for one in evicted_with(key, groups) if key is not None else ():
            group = groups.reported(one)
            if group is not None and group.uid and not group.is_disrupted:
                group.is_disrupted = True
                marks.append(MarkDisrupted(one, group.uid, mark_for(eviction.preemptor), eviction.preemptor))
    return marks


def still_valid(groups: GroupBook, lost: Iterable[MarkDisrupted]) -> list[Decision]:
    """Of marks that may be lost, those that still hold."""
    found = [(mark, groups.reported(mark.group)) for mark in lost]
    return [
        mark
        for mark, group in found
        if group is not None and group.uid == mark.uid and group.is_disrupted == bool(mark.message)
    ]


def _mark_started(root: Root, part: Part, being_bound: Collection[GroupKey]) -> list[Decision]:
    record = part.record
    if not record.uid or not (record.report_may_be_lost or _has_started(part, being_bound)):
        return []
    was_scheduled, record.scheduled, record.report_may_be_lost = record.scheduled, True, False
    if not was_scheduled:
        record.reported = NEVER_REPORTED
    holds_anyway = was_scheduled or part.is_seen_started()
    record.is_start_uncertain = record.is_start_uncertain or not holds_anyway
    return [_started_report(root, part, holds_anyway=holds_anyway)]


def _has_started(part: Part, being_bound: Collection[GroupKey]) -> bool:
    return part.is_seen_started(being_bound) and not any(leaf.awaits_volumes for leaf in part.leaves)


def _started_report(
    root: Root, part: Part, *, holds_anyway: bool = False, minimum_running: bool | None = None
) -> ReportGroup:
    record = part.record
    return ReportGroup(
        record.key,
        record.uid,
        scheduled=True,
        reason=SCHEDULED,
        message="",
        scheduler_name=root.scheduler_name,
        tree=root.key if root.key.is_composite else None,
        # A start that is reported again says nothing about a group that waits again since.
        finding=None
        if record.reported.reason
        else Finding(Outcome.PLACED, is_new=record.note_outcome(Outcome.PLACED)),
        holds_anyway=holds_anyway,
        minimum_running=minimum_running,
    )


def _mark_running_again(root: Root, part: Part) -> list[Decision]:
    """Note how many are left of a group that waits again; report when its minimum is on nodes again.

    What finishes, is being deleted or has no pods does not wait any more either, which is no news.
    """
    record = part.record
    record.is_start_uncertain = record.is_start_uncertain and not part.is_seen_started()
    record.left = part.started_count if _waits_again(root, part) else None
    is_told = record.scheduled and record.left is None and bool(record.reported.reason)
    is_awaited = (part.is_started or record.is_start_uncertain) and not part.is_seen_started()
    if not is_told or not record.uid or is_awaited:
        return []
    record.reported = NEVER_REPORTED
    runs_again = part.started_count >= part.minimum
    return [structs.replace(_started_report(root, part, minimum_running=True), is_news=runs_again)]


def _waits_again(root: Root, part: Part) -> bool:
    """Whether it has started, and has lost its minimum by no end of its own, or pods came after its end."""
    record = part.record
    has_started = record.scheduled and not record.is_start_uncertain
    is_short = not part.is_started or (part.is_over and part is root.top)
    if not has_started or not is_short or record.is_being_deleted:
        return False
    if any(leaf.has_completed_members for leaf in part.leaves):
        return bool(part.unattached())
    return bool(part.members) or record.is_disrupted


def _mark_short(group: GroupRecord) -> list[Decision]:
    """PodGroupInitiallyScheduled stays True: lost members are an event, once until the group recovers."""
    is_short = group.has_fallen_short
    was_known, group.is_known_to_be_short = group.is_known_to_be_short, is_short
    if not is_short:
        group.lost.clear()
    if not is_short or was_known or not group.uid:
        return []
    text = below_minimum_text(group.attached_count, group.minimum, group.lost)
    return [WarnGroup(group.key, group.uid, BELOW_MINIMUM, text, group.scheduler_name)]


def _mark_recovered(part: Part) -> list[Decision]:
    """A group that runs again is no longer a victim."""
    record = part.record
    if not record.uid or part.is_over or not part.is_seen_started():
        return []
    if any(member.is_ending for leaf in part.leaves for member in leaf.members.values()):
        return []
    record.is_disrupted = False
    return [MarkDisrupted(record.key, record.uid)]
