"""What a group is told, in the words of the API it is described in: a condition, a phase, or an event where neither fits.

A group implied by a Workload has no status anywhere, and the one of coscheduling has no place for a reason; there an
event on the object says it.
"""

from typing import Any

from posse.engine.decisions import SCHEDULER_ERROR, Form, ReportGroup
from posse.engine.group_forms import INITIALLY_SCHEDULED, VOLCANO_UNSCHEDULABLE
from posse.kinds.kind import Kind
from posse.kinds.registry import (
    COSCHEDULING_POD_GROUP,
    POD_GROUP,
    POSSE_POD_GROUP,
    VOLCANO_POD_GROUP,
    WORKLOAD,
)
from posse.runtime.event_recorder import Note, Subject

Json = dict[str, Any]

_OBJECT_KINDS = {
    Form.NATIVE: POD_GROUP,
    Form.WORKLOAD: WORKLOAD,
    Form.POSSE: POSSE_POD_GROUP,
    Form.COSCHEDULING: COSCHEDULING_POD_GROUP,
    Form.VOLCANO: VOLCANO_POD_GROUP,
}
_TOLD_BY_EVENT = frozenset({Form.WORKLOAD, Form.COSCHEDULING})


def object_kind(form: Form) -> Kind:
    """Of what kind the object is that describes a group of this form."""
    return _OBJECT_KINDS[form]


def group_status(report: ReportGroup, stamp: str) -> Json | None:
    """What changes in the status of the object, at that time; None if it has no status."""
    match report.group.form:
        case Form.WORKLOAD:
            return None
        case Form.COSCHEDULING:
            return {"phase": "Scheduled" if report.scheduled else "Pending"}
        case Form.VOLCANO:
            return {"phase": _volcano_phase(report), "conditions": _volcano_conditions(report, stamp)}
        case _:
            return {"conditions": [_condition(report, INITIALLY_SCHEDULED, stamp, holds=report.scheduled)]}


def group_note(report: ReportGroup) -> Note | None:
    """The event for forms that have no other place for it."""
    group = report.group
    if group.form not in _TOLD_BY_EVENT:
        return None
    kind = object_kind(group.form)
    subject = Subject(kind.api_version, kind.name, group.namespace, group.name, report.uid)
    if report.scheduled:
        text = f"Successfully assigned the pods of {group}"
        return Note(report.scheduler_name, subject, "Scheduled", text, "Binding")
    text = f"{group}: {report.message}"
    return Note(report.scheduler_name, subject, "FailedScheduling", text, "Scheduling", warning=True)


def _volcano_phase(report: ReportGroup) -> str:
    """Pending is who was not tried at all."""
    if report.scheduled:
        return "Running"
    return "Pending" if report.reason == SCHEDULER_ERROR else "Inqueue"


def _volcano_conditions(report: ReportGroup, stamp: str) -> list[Json]:
    if not report.scheduled:
        return [_condition(report, VOLCANO_UNSCHEDULABLE, stamp, holds=True)]
    return [
        _condition(report, "Scheduled", stamp, holds=True),
        _condition(report, VOLCANO_UNSCHEDULABLE, stamp, holds=False),
    ]


def _condition(report: ReportGroup, name: str, stamp: str, *, holds: bool) -> Json:
    condition = {
        "type": name,
        "status": "True" if holds else "False",
        "reason": report.reason,
        "message": report.message,
    }
    return {**condition, "lastTransitionTime": stamp} if report.is_first else condition
