"""Decisions for pods: bindings, evictions, and conditions of waiting pods. The same report is made once.

Functions called `mark_...` change what is remembered as reported, and return the reports.
"""

from collections.abc import Iterable
from dataclasses import replace

from posse.engine.causes import NoNodeFits
from posse.engine.decisions import SCHEDULER_ERROR, Bind, Decision, Evict, Placement, ReportPod
from posse.engine.devices.needs import claim_names
from posse.engine.reporting.messages import statement_text
from posse.engine.state.pod_record import PodRecord
from posse.engine.statement import Reported, Reservation, Statement
from posse.engine.trials.pod_trial import Trial
from posse.engine.verdict import Code, Verdict
from posse.model.pod import Pod

UNSCHEDULABLE = "Unschedulable"


def reason_of(verdict: Verdict) -> str:
    return SCHEDULER_ERROR if verdict.code is Code.ERROR else UNSCHEDULABLE


def placement(record: PodRecord) -> Placement:
    return Placement(record.ref, record.node, record.attempts, record.queued_at)


def mark_pods_tried(trial: Trial, reservation: Reservation | None) -> list[Decision]:
    """Report pods without a group: each binding is a decision of its own."""
    decisions: list[Decision] = [Bind((placement(record),)) for record in trial.attempt.placed]
    if not trial.attempt.refused:
        return decisions
    evictions: dict[str, list[Evict]] = {}
    for one in trial.evictions:
        if one.is_first:
            preemptor = one.preemptor.ref
            evictions.setdefault(preemptor.uid, []).append(Evict(one.victim.ref, preemptor, one.node))
    reports = {report.pod.uid: report for report in mark_pods_refused(trial.attempt.refused, reservation)}
    for record, _ in trial.attempt.refused:
        uid = record.ref.uid
        decisions += evictions.get(uid, ())
        decisions += [reports[uid]] if uid in reports else []
    return decisions


def mark_pods_refused(
    refused: Iterable[tuple[PodRecord, Verdict]], reservation: Reservation | None = None
) -> list[ReportPod]:
    # Pods of one class share their verdict: its text is made once, and only if it is new to one of them.
    statements: dict[int, Statement] = {}
    texts: dict[int, str] = {}
    reports: list[ReportPod] = []
    for record, verdict in refused:
        number, reason = id(verdict), reason_of(verdict)
        statement = statements.get(number)
        if statement is None:
            statement = statements[number] = Statement(verdict, reservation)
        is_repeated = record.reported.says(reason, statement)
        if (
            is_repeated
            and record.reported.nominated_node == record.nominated
            and not record.report_may_be_lost
        ):
            continue
        text = texts.get(number, "")
        if _is_about_own_claims(verdict):
            text = statement_text(_with_names(statement, record.pod))
        elif not text:
            text = texts[number] = statement_text(statement)
        reports += _mark_pod(record, Reported(reason, text, record.nominated, statement, text))
    return reports


def _is_about_own_claims(verdict: Verdict) -> bool:
    """Whether the text differs among pods of one class, which have a claim each."""
    return isinstance(verdict.cause, NoNodeFits) and verdict.cause.names_own_claims


def _with_names(statement: Statement, pod: Pod) -> Statement:
    """The statement with the names of the pod's own claims."""
    verdict = statement.verdict
    if not isinstance(verdict.cause, NoNodeFits):
        return statement
    return replace(statement, verdict=replace(verdict, cause=verdict.cause.with_names(claim_names(pod))))


def mark_pod_error(record: PodRecord, reason: str, message: str) -> list[ReportPod]:
    return _mark_pod(record, Reported(reason, message, record.nominated))


def mark_nomination_lost(record: PodRecord, text: str = "") -> list[ReportPod]:
    """The pod waits without a nominated node: as before, or for what the text says."""
    before = record.reported
    waiting = Reported(before.reason, text) if text else replace(before, nominated_node=record.nominated)
    return _mark_pod(record, waiting)


def _mark_pod(record: PodRecord, reported: Reported) -> list[ReportPod]:
    before, record.reported = record.reported, reported
    # After a restart only the text is known, so text is compared with text here.
    is_same = (before.reason, before.message, before.nominated_node) == (
        reported.reason,
        reported.message,
        reported.nominated_node,
    )
    if is_same and not record.report_may_be_lost:
        return []
    is_first = record.report_may_be_lost or not before.reason
    record.report_may_be_lost = False
    return [
        ReportPod(record.ref, reported.reason, reported.message, reported.nominated_node, is_first=is_first)
    ]
