"""The API writes of one round of decisions, with their order and what depends on what.

1. All bindings, at once; those with claims of devices after these are written. If a claim fails, none of the
   pods of a decision that uses it is bound.
2. The stages, one after the other: volumes and released claims, evictions, the last eviction. The parts of a
   stage have no order among each other; the writes of a part have one, and its first failure ends it.
3. The engine absorbs what failed, and which reports are withheld: those about groups with a refused binding.
4. The other reports, without an order.

Rounds overlap, with two rules: a pod is bound after all earlier reports about it, and reports about the same
pod or group are written in the order of their rounds.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

from posse.engine.decisions import (
    AllocateClaims,
    Bind,
    BindVolumes,
    Decision,
    Evict,
    MarkDisrupted,
    NotePriorities,
    PublishReservation,
    ReleaseClaim,
    ReportGroup,
    ReportPod,
    WarnGroup,
)
from posse.engine.events import BindRefused, ReportWithheld, WriteNews
from posse.transport.notes import Note
from posse.writes.bindings import BindTogether
from posse.writes.claims import ClaimWrites, ReleaseWrites, merged_claims
from posse.writes.evictions import EvictionWrites
from posse.writes.group_status import warning_note
from posse.writes.report_merging import Report, merged_reports
from posse.writes.reports import (
    GroupMarkWrite,
    GroupReportWrite,
    PodReportWrite,
    PriorityNoteWrite,
    ReportWrite,
    ReservationWrite,
)
from posse.writes.scheduling_events import preempting
from posse.writes.volumes import VolumeWrites

StageWrites = VolumeWrites | ReleaseWrites | EvictionWrites


@dataclass(frozen=True, slots=True)
class RoundWrites:
    bindings: Sequence[BindTogether]
    claims: Sequence[ClaimWrites]
    """Those of bindings; each claim once."""
    stages: Sequence[Sequence[StageWrites]]
    reports: Sequence[ReportWrite]
    """At most one of each type about a pod or group."""
    warnings: Sequence[Note]
    """Events that are recorded with the reports."""
    marks: Sequence[MarkDisrupted]

    def bound_pods(self) -> list[str]:
        """The uids of pods that are bound."""
        return [one.pod.uid for write in self.bindings for one in write.decision.placements]

    def subjects(self) -> Collection[Hashable]:
        """What is reported about: pods by uid, groups by key."""
        return dict.fromkeys(report.subject for report in self.reports)

    def withheld(self, refusals: Iterable[BindRefused]) -> list[ReportWithheld]:
        """What the engine learns in addition, if these bindings were refused."""
        refused = {refusal.pod_uid for refusal in refusals}
        if not refused:
            return []
        broken = {
            write.decision.group
            for write in self.bindings
            if write.decision.group is not None
            and any(placement.pod.uid in refused for placement in write.decision.placements)
        }
        reports = [report for report in self.reports if isinstance(report, GroupReportWrite)]
        return [ReportWithheld(report.subject) for report in reports if report.depends_on(broken)]

    def reports_after(self, setbacks: Iterable[WriteNews]) -> Sequence[ReportWrite]:
        """The reports that are written after these failures."""
        withheld = {setback.group for setback in setbacks if isinstance(setback, ReportWithheld)}
        if not withheld:
            return self.reports
        return [
            report
            for report in self.reports
            if not (isinstance(report, GroupReportWrite) and report.subject in withheld)
        ]

    def preempting_notes(self, evicted: Sequence[Evict]) -> list[Note]:
        """One event for each preemptor about the victims that were evicted for it."""
        notes = []
        for preemptor in dict.fromkeys(eviction.preemptor for eviction in evicted):
            whole = [mark.group for mark in self.marks if mark.preemptor == preemptor]
            notes.append(preempting([one for one in evicted if one.preemptor == preemptor], whole))
        return notes


def writes_of(decisions: Sequence[Decision]) -> RoundWrites:
    """Solve and Advise write nothing."""
    bindings, evictions = [], []
    preparations: list[StageWrites] = []
    warnings, marks = [], []
    for decision in decisions:
        match decision:
            case Bind() | AllocateClaims():
                bindings.append(BindTogether(decision))
            case BindVolumes():
                preparations.append(VolumeWrites(decision))
            case ReleaseClaim():
                preparations.append(ReleaseWrites(decision))
            case Evict():
                evictions.append(EvictionWrites(decision))
            case WarnGroup():
                warnings.append(warning_note(decision))
            case MarkDisrupted():
                marks.append(decision)
            case _:
                pass
    # When the last victim is gone, so are the others.
    stages = [stage for stage in (preparations, evictions[:-1], evictions[-1:]) if stage]
    claims = merged_claims(each for write in bindings for each in write.decision.claims)
    reports = [_report_write(report) for report in merged_reports(decisions)]
    return RoundWrites(bindings, claims, stages, reports, warnings, marks)


def _report_write(report: Report) -> ReportWrite:
    match report:
        case ReportPod():
            return PodReportWrite(report)
        case ReportGroup():
            return GroupReportWrite(report)
        case MarkDisrupted():
            return GroupMarkWrite(report)
        case PublishReservation():
            return ReservationWrite(report)
        case NotePriorities():
            return PriorityNoteWrite(report)
