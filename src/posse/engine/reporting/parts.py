"""Decisions for groups and trees: reports on each part, bindings and evictions.

Functions called `mark_...` change what is remembered as reported, and return the decisions. The same report
is made once.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from posse.engine.causes import LacksMembers
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
from posse.engine.groups.admission import WAITING_FOR_PODS, NotReady
from posse.engine.groups.group_book import GroupBook
from posse.engine.groups.group_record import GroupRecord
from posse.engine.groups.part import Part, Root
from posse.engine.groups.reported_object import POSSIBLY_LOST, ReportedObject
from posse.engine.keys import GroupKey, GroupRef
from posse.engine.placement.gang.attempt import Attempt, PartRefusal, Probe
from posse.engine.placement_problem import Advice, Unadvised
from posse.engine.preemption.ledger import Preemption
from posse.engine.preemption.marks import mark_for
from posse.engine.preemption.units import evicted_with
from posse.engine.proof import Outcome
from posse.engine.reporting.cause_messages import cause_text, proof_text
from posse.engine.reporting.hold_messages import hold_of_part, hold_text
from posse.engine.reporting.invalid_messages import priority_error_text
from posse.engine.reporting.messages import (
    below_minimum_text,
    is_written,
    other_priorities_text,
    statement_text,
)
from posse.engine.reporting.pods import (
    mark_nomination_lost,
    mark_pod_error,
    mark_pods_refused,
    placement,
    reason_of,
)
from posse.engine.state.pod_record import PodRecord
from posse.engine.statement import NEVER_REPORTED, AdvicePending, Reported, Reservation, Statement
from posse.engine.trials.group_trial import GroupTrial
from posse.engine.verdict import Code, Verdict

SCHEDULED = "Scheduled"
BELOW_MINIMUM = "BelowMinimum"
INVALID_PRIORITY = "InvalidPriority"


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
            decisions += _mark_refused(root, records[key], statement)
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
    for part in _parts(root):
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
    untold = [part for part in _parts(root) if part.record.report_may_be_lost]
    return [report for part in untold for report in _mark_started(root, part, ())]


def is_told_to_wait(root: Root) -> bool:
    """Whether a condition says why some part has not started, or should say why it waits again."""
    return any(record.left is not None or record.reported.reason for record in root.records)


def held_parts(root: Root, hold: NotReady | None) -> list[tuple[ReportedObject, Reported]]:
    """Parts whose condition has to say what they wait for, as they are not tried; without a hold, not yet.

    As in Kubernetes, waiting for members is not reported by itself, or each arrival would be a write. It is
    where the condition says something else.
    """
    if hold is not None and (hold.is_error or hold.is_transient):
        return []
    told = list[tuple[ReportedObject, Reported]]()
    for part in _parts(root):
        record, before = part.record, part.record.reported
        text, reason = cause_text(part.lack), WAITING_FOR_PODS
        if hold is not None:
            text, reason = hold_of_part(root, part, hold), hold.reason
        if record.left:
            reason = BELOW_MINIMUM
        waits = record.left is not None or (before.reason and not record.scheduled and not part.is_started)
        if waits and text and (before.reason, before.message) != (reason, text):
            told.append((record, Reported(reason, text)))
    return told


def mark_held(root: Root, told: Iterable[tuple[ReportedObject, Reported]]) -> list[Decision]:
    decisions = list[Decision]()
    for record, reported in told:
        reports = _mark_waiting(root, record, reported)
        decisions += [structs.replace(report, is_news=False) for report in reports]
    return decisions


def mark_not_ready(root: Root, hold: NotReady) -> list[Decision]:
    """Report errors."""
    text = hold_text(hold)
    error = Reported(hold.reason, text)
    reports = [report for record in root.records for report in _mark_waiting(root, record, error)]
    reason = hold.pod_reason
    pods = [report for pod in root.unattached() for report in mark_pod_error(pod, reason, text)]
    return [*reports, *pods]


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


def mark_countdown(root: Root, preemption: Preemption) -> list[Decision]:
    """Report the number of victims left. It is written to the groups only: their pods are many."""
    reports = list[Decision]()
    for record in root.records:
        statement = record.reported.statement
        if statement is not None and statement.verdict.preemption is not None:
            verdict = replace(statement.verdict, preemption=preemption.progress)
            told = replace(statement, verdict=verdict)
            found = _mark_refused(root, record, told, reason=record.reported.reason)
            reports += [structs.replace(report, is_news=False, finding=None) for report in found]
    return reports


def mark_advised(root: Root, refusal: Statement, advice: Advice | Unadvised | None) -> list[Decision]:
    """Add advice to a refusal that was reported before, unless the root was refused otherwise meanwhile."""
    record = record_of(root)
    statement = record.reported.statement if record is not None else None
    if record is None or statement is None or statement.refusal != refusal:
        return []
    told = replace(refusal, advice=advice)
    reports = _mark_refused(root, record, told, reason=record.reported.reason)
    return [structs.replace(report, is_news=False, finding=None) for report in reports]


def record_of(root: Root) -> ReportedObject | None:
    """The record of the object at the top; None if there is none."""
    return root.top.record if root.top is not None else None


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


def _parts(root: Root) -> Sequence[Part]:
    """All parts, also where there is no top."""
    if not root.key.is_composite:
        return root.leaves
    return [*root.leaves, *(branch for top in root.tops for branch in top.branches)]


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
        finding=None if record.reported.reason else _mark_found(record, Outcome.PLACED),
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


def _mark_refused(
    root: Root, record: ReportedObject, statement: Statement, reason: str = ""
) -> list[ReportGroup]:
    reason = reason or _reason_of(statement.verdict, left=record.left)
    known = record.reported
    has_started = record.scheduled and record.left is None
    if not record.uid or has_started or known.says(reason, statement):
        return []
    text = statement_text(statement)
    if known.reason == reason and is_written(statement, text, known.message):
        record.reported = replace(known, statement=statement, written=known.message)
        return []
    told = Reported(reason, text, statement=statement, written=text)
    proof = statement.verdict.proof
    finding = Finding(proof.outcome, proof_text(proof)) if proof is not None else None
    return _mark_waiting(root, record, told, finding)


def _reason_of(verdict: Verdict, left: int | None) -> str:
    """A part that lacks pods has the reason of a group that lacks pods; an error is called an error."""
    if left and verdict.code is not Code.ERROR:
        return BELOW_MINIMUM
    return WAITING_FOR_PODS if isinstance(verdict.cause, LacksMembers) else reason_of(verdict)


def _mark_waiting(
    root: Root, record: ReportedObject, reported: Reported, finding: Finding | None = None
) -> list[ReportGroup]:
    """Without a finding of its own, an earlier search says nothing about the part as it is now."""
    before = record.reported
    if (
        not record.uid
        or (record.scheduled and record.left is None)
        or (before.reason, before.message) == (reported.reason, reported.message)
    ):
        return []
    if finding is None and record.outcome:
        finding = Finding(Outcome.UNDECIDED, reported.message)
    record.reported = reported
    return [
        ReportGroup(
            record.key,
            record.uid,
            scheduled=record.scheduled,
            reason=reported.reason,
            message=reported.message,
            is_first=before.reason in {"", POSSIBLY_LOST},
            scheduler_name=root.scheduler_name,
            tree=root.key if root.key.is_composite else None,
            finding=_mark_found(record, finding.outcome, finding.text) if finding is not None else None,
            minimum_running=False if record.scheduled else None,
        )
    ]


def _mark_found(record: ReportedObject, outcome: Outcome, text: str = "") -> Finding:
    was, record.outcome = record.outcome, outcome
    return Finding(outcome, text, is_new=was != outcome)
