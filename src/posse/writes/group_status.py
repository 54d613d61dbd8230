"""What is written to the object that describes a group: the status of its form, and events.

Each form of `engine/groups/forms.py` has its second half here: the kind of its objects, and their status.
Where a status cannot hold the reason, only the event states it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from posse.engine.decisions import (
    SCHEDULER_ERROR,
    Finding,
    MarkDisrupted,
    NotePriorities,
    ReportGroup,
    WarnGroup,
)
from posse.engine.groups.forms import (
    COSCHEDULING,
    DISRUPTION_TARGET,
    INITIALLY_SCHEDULED,
    MINIMUM_RUNNING,
    NATIVE,
    PLACEMENT_EXISTS,
    PODS_NOT_MATCHING_PRIORITY,
    POSSE,
    TREE_INITIALLY_SCHEDULED,
    VOLCANO,
    VOLCANO_UNSCHEDULABLE,
    WORKLOAD_REF,
    GroupForm,
)
from posse.engine.keys import GroupKey
from posse.engine.preemption.marks import PREEMPTION
from posse.engine.proof import Outcome
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    COSCHEDULING_POD_GROUP,
    POD_GROUP,
    POSSE_COMPOSITE_POD_GROUP,
    POSSE_POD_GROUP,
    VOLCANO_POD_GROUP,
    WORKLOAD,
)
from posse.transport.notes import Note, Subject

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FormStatus:
    """The kinds of a form, and the status of their objects. Here none: there is no field for it."""

    form: GroupForm
    kind: Kind
    """Of the objects that describe groups."""
    composite_kind: Kind | None = None

    def group_status(self, _report: ReportGroup, _stamp: str) -> Json | None:
        """The changed part of the status for a report made at that time; None if there is no status."""
        return None

    def disruption_status(self, _mark: MarkDisrupted, _stamp: str) -> Json | None:
        """The changed status of a group that is evicted, or runs again; None if it cannot hold that."""
        return None

    def priority_status(self, _note: NotePriorities, _stamp: str) -> Json | None:
        """The changed status of a group with members of another priority; None if it cannot hold that."""
        return None


class ConditionStatus(FormStatus):
    """Kubernetes' own PodGroups: conditions."""

    __slots__ = ()

    def group_status(self, report: ReportGroup, stamp: str) -> Json:
        if report.minimum_running is not None:
            return {"conditions": [_minimum_running(report, stamp), *_found(report.finding, stamp)]}
        name = TREE_INITIALLY_SCHEDULED if report.group.is_composite else INITIALLY_SCHEDULED
        conditions = [_condition(report, name, stamp, holds=report.scheduled)]
        return {"conditions": [*conditions, *_found(report.finding, stamp)]}

    def disruption_status(self, mark: MarkDisrupted, stamp: str) -> Json:
        return _marked(DISRUPTION_TARGET, PREEMPTION, mark.message, stamp)

    def priority_status(self, note: NotePriorities, stamp: str) -> Json:
        return _marked(PODS_NOT_MATCHING_PRIORITY, "PriorityOfGroupCounts", note.message, stamp)


class CoschedulingStatus(FormStatus):
    """Coscheduling: a phase, without a reason. It is Running when the pods run, not when they are bound."""

    __slots__ = ()

    def group_status(self, report: ReportGroup, _stamp: str) -> Json | None:
        if report.minimum_running is not None:
            return None
        return {"phase": "Scheduling" if report.scheduled else "Pending"}


class VolcanoStatus(FormStatus):
    """Volcano: a phase, and conditions of its own."""

    __slots__ = ()

    def group_status(self, report: ReportGroup, stamp: str) -> Json | None:
        if report.minimum_running is not None:
            return None
        if report.scheduled:
            conditions = [
                _condition(report, "Scheduled", stamp, holds=True),
                _condition(report, VOLCANO_UNSCHEDULABLE, stamp, holds=False),
            ]
            return {"phase": "Running", "conditions": conditions}
        # A group that was not attempted stays Pending.
        phase = "Pending" if report.reason == SCHEDULER_ERROR else "Inqueue"
        return {"phase": phase, "conditions": [_condition(report, VOLCANO_UNSCHEDULABLE, stamp, holds=True)]}


FORM_STATUSES = (
    ConditionStatus(NATIVE, POD_GROUP, COMPOSITE_POD_GROUP),
    FormStatus(WORKLOAD_REF, WORKLOAD),
    ConditionStatus(POSSE, POSSE_POD_GROUP, POSSE_COMPOSITE_POD_GROUP),
    CoschedulingStatus(COSCHEDULING, COSCHEDULING_POD_GROUP),
    VolcanoStatus(VOLCANO, VOLCANO_POD_GROUP),
)
_BY_FORM = {one.form.name: one for one in FORM_STATUSES}


def object_kind(key: GroupKey) -> Kind:
    """Kind of the object that describes the group."""
    status = _BY_FORM[key.form]
    return status.composite_kind if key.is_composite and status.composite_kind else status.kind


def forms_of(kind: Kind) -> tuple[str, ...]:
    """Names of the forms in which objects of this kind describe groups."""
    return tuple(one.form.name for one in FORM_STATUSES if kind in (one.kind, one.composite_kind))


def group_status(report: ReportGroup, stamp: str) -> Json | None:
    return _BY_FORM[report.group.form].group_status(report, stamp)


def disruption_status(mark: MarkDisrupted, stamp: str) -> Json | None:
    return _BY_FORM[mark.group.form].disruption_status(mark, stamp)


def priority_status(note: NotePriorities, stamp: str) -> Json | None:
    return _BY_FORM[note.group.form].priority_status(note, stamp)


def group_note(report: ReportGroup) -> Note:
    subject = _subject(report)
    if report.scheduled and report.minimum_running is not False:
        text = f"Successfully assigned the pods of {report.group}"
        return Note(report.scheduler_name, subject, "Scheduled", text, "Binding")
    text = about(report.group, report.message)
    return Note(report.scheduler_name, subject, "FailedScheduling", text, "Scheduling", warning=True)


def warning_note(warning: WarnGroup) -> Note:
    text = about(warning.group, warning.message)
    return Note(warning.scheduler_name, _subject(warning), warning.reason, text, "Scheduling", warning=True)


def priority_note(note: NotePriorities) -> Note:
    text = about(note.group, note.message)
    return Note(note.scheduler_name, _subject(note), PODS_NOT_MATCHING_PRIORITY, text, "Scheduling")


def _subject(report: ReportGroup | WarnGroup | NotePriorities) -> Subject:
    kind = object_kind(report.group)
    return Subject(kind.api_version, kind.name, report.group.namespace, report.group.name, report.uid)


def about(group: GroupKey, message: str) -> str:
    """A Workload has several groups, so its events name the group."""
    return f"{group}: {message}" if _BY_FORM[group.form].form.is_implied else message


_PLACEMENT_EXISTS = {
    Outcome.PLACED: "True",
    Outcome.IMPOSSIBLE: "False",
    Outcome.EXHAUSTED: "Unknown",
    Outcome.UNDECIDED: "Unknown",
}


def _found(finding: Finding | None, stamp: str) -> Iterator[Json]:
    if finding is not None:
        condition = {
            "type": PLACEMENT_EXISTS,
            "status": _PLACEMENT_EXISTS[finding.outcome],
            "reason": finding.outcome,
            "message": finding.text,
        }
        yield {**condition, "lastTransitionTime": stamp} if finding.is_new else condition


def _marked(name: str, reason: str, message: str, stamp: str) -> Json:
    """Status with a condition that exists only while it is true; without a message it goes."""
    if not message:
        return {"conditions": [{"type": name, "$patch": "delete"}]}
    condition = {
        "type": name,
        "status": "True",
        "reason": reason,
        "message": message,
        "lastTransitionTime": stamp,
    }
    return {"conditions": [condition]}


def _minimum_running(report: ReportGroup, stamp: str) -> Json:
    if report.minimum_running:
        return {"type": MINIMUM_RUNNING, "$patch": "delete"}
    return _condition(report, MINIMUM_RUNNING, stamp, holds=False)


def _condition(report: ReportGroup, name: str, stamp: str, *, holds: bool) -> Json:
    condition = {
        "type": name,
        "status": "True" if holds else "False",
        "reason": report.reason,
        "message": report.message,
    }
    return {**condition, "lastTransitionTime": stamp} if report.is_first else condition
