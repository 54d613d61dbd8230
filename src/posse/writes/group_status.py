"""What a group is told, in the words of the API it is described in: a condition or a phase, and an event on the object.

A group implied by a Workload has no status anywhere, and the one of coscheduling has no place for a reason; there the
event says it alone.
"""

from collections.abc import Iterator
from typing import Any

from posse.engine.decisions import SCHEDULER_ERROR, Finding, MarkDisrupted, ReportGroup, WarnGroup
from posse.engine.groups.forms import (
    DISRUPTION_TARGET,
    INITIALLY_SCHEDULED,
    PLACEMENT_EXISTS,
    TREE_INITIALLY_SCHEDULED,
    VOLCANO_UNSCHEDULABLE,
)
from posse.engine.keys import Form, GroupKey
from posse.engine.preemption.marks import PREEMPTION
from posse.engine.verdict import Outcome
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

_OBJECT_KINDS = {
    Form.NATIVE: POD_GROUP,
    Form.WORKLOAD: WORKLOAD,
    Form.POSSE: POSSE_POD_GROUP,
    Form.COSCHEDULING: COSCHEDULING_POD_GROUP,
    Form.VOLCANO: VOLCANO_POD_GROUP,
}

_COMPOSITE_KINDS = {Form.NATIVE: COMPOSITE_POD_GROUP, Form.POSSE: POSSE_COMPOSITE_POD_GROUP}

_WITH_CONDITIONS = frozenset({Form.NATIVE, Form.POSSE})


def object_kind(key: GroupKey) -> Kind:
    """Of what kind the object is that describes the group."""
    return _COMPOSITE_KINDS[key.form] if key.is_composite else _OBJECT_KINDS[key.form]


def forms_of(kind: Kind) -> tuple[Form, ...]:
    """In which forms objects of this kind describe groups."""
    kinds = (*_OBJECT_KINDS.items(), *_COMPOSITE_KINDS.items())
    return tuple(form for form, described in kinds if described is kind)


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
            name = TREE_INITIALLY_SCHEDULED if report.group.is_composite else INITIALLY_SCHEDULED
            conditions = [_condition(report, name, stamp, holds=report.scheduled)]
            return {"conditions": [*conditions, *_found(report.finding, stamp)]}


def disruption_status(mark: MarkDisrupted, stamp: str) -> Json | None:
    """What changes in the status of a group that is evicted, or runs again; None if it has no such conditions."""
    if mark.group.form not in _WITH_CONDITIONS:
        return None
    if not mark.message:
        return {"conditions": [{"type": DISRUPTION_TARGET, "$patch": "delete"}]}
    condition = {
        "type": DISRUPTION_TARGET,
        "status": "True",
        "reason": PREEMPTION,
        "message": mark.message,
        "lastTransitionTime": stamp,
    }
    return {"conditions": [condition]}


def group_note(report: ReportGroup) -> Note:
    subject = _subject(report)
    if report.scheduled:
        text = f"Successfully assigned the pods of {report.group}"
        return Note(report.scheduler_name, subject, "Scheduled", text, "Binding")
    text = _about(report.group, report.message)
    return Note(report.scheduler_name, subject, "FailedScheduling", text, "Scheduling", warning=True)


def warning_note(warning: WarnGroup) -> Note:
    text = _about(warning.group, warning.message)
    return Note(warning.scheduler_name, _subject(warning), warning.reason, text, "Scheduling", warning=True)


def _subject(told: ReportGroup | WarnGroup) -> Subject:
    kind = object_kind(told.group)
    return Subject(kind.api_version, kind.name, told.group.namespace, told.group.name, told.uid)


def _about(group: GroupKey, message: str) -> str:
    """A Workload has several groups; one has to be named."""
    return f"{group}: {message}" if group.form is Form.WORKLOAD else message


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


def _condition(report: ReportGroup, name: str, stamp: str, *, holds: bool) -> Json:
    condition = {
        "type": name,
        "status": "True" if holds else "False",
        "reason": report.reason,
        "message": report.message,
    }
    return {**condition, "lastTransitionTime": stamp} if report.is_first else condition
