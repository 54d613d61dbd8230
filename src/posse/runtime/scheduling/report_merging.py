"""What of a round is told to pods and groups: of each the last that was decided, since writes that overlap have no order."""

from collections.abc import Collection, Hashable, Iterable
from dataclasses import replace

from posse.engine.decisions import Bind, Decision, Finding, MarkDisrupted, ReportGroup, ReportPod
from posse.engine.keys import GroupKey

Report = ReportPod | ReportGroup | MarkDisrupted


def last_words(decisions: Iterable[Decision]) -> list[Report]:
    """In the order of deciding. Who is bound after all is not told that it waits."""
    found: dict[tuple[type, Hashable], Report] = {}
    for decision in decisions:
        if isinstance(decision, Bind):
            for placement in decision.placements:
                found.pop((ReportPod, placement.pod.uid), None)
        elif isinstance(decision, Report):
            key = (type(decision), subject_of(decision))
            found[key] = _instead_of(found.pop(key, None), decision)
    return list(found.values())


def unfounded(decisions: Iterable[Decision], broken: Collection[GroupKey]) -> list[ReportGroup]:
    """What was to be told of groups and does not hold, since of what was bound for these something was refused."""
    if not broken:
        return []
    reports = [report for report in last_words(decisions) if isinstance(report, ReportGroup)]
    return [one for one in reports if not one.holds_anyway and (one.group in broken or one.tree in broken)]


def subject_of(report: Report) -> Hashable:
    """Pods by uid, groups by key."""
    return report.pod.uid if isinstance(report, ReportPod) else report.group


def _instead_of(before: Report | None, report: Report) -> Report:
    """What changes for the first time still does if it is told only once, and is an event if that was to be one."""
    if isinstance(report, ReportPod) and isinstance(before, ReportPod):
        return replace(report, is_first=before.is_first)
    if isinstance(report, ReportGroup) and isinstance(before, ReportGroup):
        is_first = before.is_first or before.scheduled != report.scheduled
        finding = _found(before.finding, report.finding)
        return replace(report, is_first=is_first, is_news=before.is_news or report.is_news, finding=finding)
    return report


def _found(before: Finding | None, after: Finding | None) -> Finding | None:
    if before is None or after is None:
        return after or before
    return replace(after, is_new=before.is_new or after.is_new)
