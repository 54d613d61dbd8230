"""Merges reports of one round about the same pod or group: the last one wins.

Writes of one round overlap, so two of them about the same object would have no order.
"""

from collections.abc import Hashable, Iterable

from msgspec.structs import replace

from posse.engine.decisions import (
    Bind,
    Decision,
    Finding,
    MarkDisrupted,
    NotePriorities,
    PublishReservation,
    ReportGroup,
    ReportPod,
)

Report = ReportPod | ReportGroup | MarkDisrupted | NotePriorities | PublishReservation


def merged_reports(decisions: Iterable[Decision]) -> list[Report]:
    """In the order of deciding. A pod that is bound later in the round is not reported as waiting."""
    found: dict[tuple[type, Hashable], Report] = {}
    for decision in decisions:
        if isinstance(decision, Bind):
            if found:
                for placement in decision.placements:
                    found.pop((ReportPod, placement.pod.uid), None)
        elif isinstance(decision, Report):
            key = (type(decision), _subject(decision))
            found[key] = _merged(found.pop(key, None), decision)
            if isinstance(decision, ReportGroup) and decision.finding is not None:
                _drop_finding(found, decision)
    return list(found.values())


def _subject(report: Report) -> Hashable:
    """That a group has started, and that it waits again since, are two conditions."""
    if isinstance(report, ReportGroup):
        return report.group, report.minimum_running is not None
    return report.pod.uid if isinstance(report, ReportPod) else report.group


def _drop_finding(found: dict[tuple[type, Hashable], Report], latest: ReportGroup) -> None:
    """Both conditions come with what was found of a placement, of which the latest holds."""
    key = ReportGroup, (latest.group, latest.minimum_running is None)
    other = found.get(key)
    if isinstance(other, ReportGroup) and other.finding is not None:
        found[key] = replace(other, finding=None)


def _merged(before: Report | None, report: Report) -> Report:
    """A transition that the replaced report would have shown is still shown, and its event still recorded."""
    if isinstance(report, ReportPod) and isinstance(before, ReportPod):
        return replace(report, is_first=before.is_first)
    if isinstance(report, ReportGroup) and isinstance(before, ReportGroup):
        is_first = before.is_first or before.scheduled != report.scheduled
        finding = _merged_finding(before.finding, report.finding)
        return replace(report, is_first=is_first, is_news=before.is_news or report.is_news, finding=finding)
    return report


def _merged_finding(before: Finding | None, after: Finding | None) -> Finding | None:
    if before is None or after is None:
        return after or before
    return replace(after, is_new=before.is_new or after.is_new)
