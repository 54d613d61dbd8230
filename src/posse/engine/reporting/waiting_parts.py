"""What is said of groups and trees that wait: why parts were refused, or what they wait for.

Functions called `mark_...` change what is remembered as reported, and return the decisions. The same report
is made once.
"""

from collections.abc import Iterable
from dataclasses import replace

from msgspec import structs

from posse.engine.causes import LacksMembers
from posse.engine.decisions import Decision, Finding, ReportGroup
from posse.engine.groups.admission import WAITING_FOR_PODS, NotReady
from posse.engine.groups.part import Root
from posse.engine.groups.reported_object import POSSIBLY_LOST, ReportedObject
from posse.engine.placement_problem import Advice, Unadvised
from posse.engine.preemption.ledger import Preemption
from posse.engine.proof import Outcome
from posse.engine.reporting.cause_messages import cause_text, proof_text
from posse.engine.reporting.hold_messages import hold_of_part, hold_text
from posse.engine.reporting.messages import is_written, statement_text
from posse.engine.reporting.pods import mark_pod_error, reason_of
from posse.engine.statement import Reported, Statement
from posse.engine.verdict import Code, Verdict

BELOW_MINIMUM = "BelowMinimum"


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
    for part in root.reported_parts:
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


def mark_countdown(root: Root, preemption: Preemption) -> list[Decision]:
    """Report the number of victims left. It is written to the groups only: their pods are many."""
    reports = list[Decision]()
    for record in root.records:
        statement = record.reported.statement
        if statement is not None and statement.verdict.preemption is not None:
            verdict = replace(statement.verdict, preemption=preemption.progress)
            told = replace(statement, verdict=verdict)
            found = mark_refused(root, record, told, reason=record.reported.reason)
            reports += [structs.replace(report, is_news=False, finding=None) for report in found]
    return reports


def mark_advised(root: Root, refusal: Statement, advice: Advice | Unadvised | None) -> list[Decision]:
    """Add advice to a refusal that was reported before, unless the root was refused otherwise meanwhile."""
    record = record_of(root)
    statement = record.reported.statement if record is not None else None
    if record is None or statement is None or statement.refusal != refusal:
        return []
    told = replace(refusal, advice=advice)
    reports = mark_refused(root, record, told, reason=record.reported.reason)
    return [structs.replace(report, is_news=False, finding=None) for report in reports]


def record_of(root: Root) -> ReportedObject | None:
    """The record of the object at the top; None if there is none."""
    return root.top.record if root.top is not None else None


def mark_refused(
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
            finding=_noted(record, finding) if finding is not None else None,
            minimum_running=False if record.scheduled else None,
        )
    ]


def _noted(record: ReportedObject, finding: Finding) -> Finding:
    return structs.replace(finding, is_new=record.note_outcome(finding.outcome))
