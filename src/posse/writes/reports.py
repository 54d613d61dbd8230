"""What pods and groups are reported: a condition in the status of the object, and an event about it.

A report that fails for a transient reason goes back to the engine. Otherwise the object is gone or was
replaced, and the report is dropped.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from posse.engine.decisions import (
    MarkDisrupted,
    NotePriorities,
    PublishReservation,
    ReportGroup,
    ReportPod,
)
from posse.engine.events import GroupReportFailed, MarkFailed, PublicationFailed, ReportFailed
from posse.engine.keys import GroupKey, GroupRef, PodRef
from posse.engine.queue.reservation_note import RESERVED_CAPACITY
from posse.kinds.machinery.errors import TRANSIENT, ApiError
from posse.kinds.registry import POD
from posse.transport.notes import Note
from posse.transport.patches import MERGE_PATCH, Patch
from posse.writes.group_status import (
    Json,
    disruption_status,
    group_note,
    group_status,
    object_kind,
    priority_note,
    priority_status,
)
from posse.writes.object_writes import ObjectPatch, patch_status
from posse.writes.scheduling_events import not_scheduled, preempted_as_a_whole

GroupDecision = TypeVar("GroupDecision", MarkDisrupted, NotePriorities, PublishReservation, ReportGroup)


@dataclass(frozen=True, slots=True)
class PodReportWrite:
    decision: ReportPod

    @property
    def about(self) -> PodRef:
        return self.decision.pod

    @property
    def subject(self) -> str:
        return self.decision.pod.uid

    def writes(self, stamp: str) -> Sequence[ObjectPatch]:
        report, pod = self.decision, self.decision.pod
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": report.reason,
            "message": report.message,
        }
        if report.is_first:
            condition["lastTransitionTime"] = stamp
        status = {"conditions": [condition], "nominatedNodeName": report.nominated_node or None}
        return (patch_status(POD, pod.namespace, pod.name, pod.uid, status),)

    def failed(self, error: ApiError) -> ReportFailed | None:
        return ReportFailed(self.decision.pod.uid) if error.code in TRANSIENT else None

    def note(self) -> Note:
        return not_scheduled(self.decision)


@dataclass(frozen=True, slots=True)
class _GroupWrite(Generic[GroupDecision]):
    decision: GroupDecision

    @property
    def about(self) -> GroupKey:
        return self.decision.group

    @property
    def subject(self) -> GroupKey:
        return self.decision.group

    def _patched(self, status: Json | None) -> Sequence[ObjectPatch]:
        """The patch that sets the status; none if it is set already."""
        if status is None:
            return ()
        group = self.decision.group
        return (patch_status(object_kind(group), group.namespace, group.name, self.decision.uid, status),)


@dataclass(frozen=True, slots=True)
class GroupReportWrite(_GroupWrite[ReportGroup]):
    def depends_on(self, groups: Collection[GroupKey]) -> bool:
        """Whether the report holds only if all bindings of these groups do."""
        report = self.decision
        return not report.holds_anyway and (report.group in groups or report.tree in groups)

    def writes(self, stamp: str) -> Sequence[ObjectPatch]:
        return self._patched(group_status(self.decision, stamp))

    def failed(self, error: ApiError) -> GroupReportFailed | None:
        return GroupReportFailed(self.decision) if error.code in TRANSIENT else None

    def note(self) -> Note | None:
        return group_note(self.decision) if self.decision.is_news else None


@dataclass(frozen=True, slots=True)
class GroupMarkWrite(_GroupWrite[MarkDisrupted]):
    def writes(self, stamp: str) -> Sequence[ObjectPatch]:
        return self._patched(disruption_status(self.decision, stamp))

    def failed(self, error: ApiError) -> MarkFailed | None:
        return MarkFailed(self.decision) if error.code in TRANSIENT else None

    def note(self) -> Note | None:
        mark = self.decision
        if mark.preemptor is None:
            return None
        return preempted_as_a_whole(GroupRef(mark.group, mark.uid), mark.preemptor)


@dataclass(frozen=True, slots=True)
class ReservationWrite(_GroupWrite[PublishReservation]):
    def writes(self, _stamp: str) -> Sequence[ObjectPatch]:
        group, note = self.decision.group, self.decision.note or None
        metadata = {"uid": self.decision.uid, "annotations": {RESERVED_CAPACITY: note}}
        patch = Patch(MERGE_PATCH, {"metadata": metadata})
        return (ObjectPatch(object_kind(group), group.namespace, group.name, patch),)

    def failed(self, error: ApiError) -> PublicationFailed | None:
        return PublicationFailed(self.decision) if error.code in TRANSIENT else None

    def note(self) -> None:
        """The condition of the group, and its event, say the same in words."""


@dataclass(frozen=True, slots=True)
class PriorityNoteWrite(_GroupWrite[NotePriorities]):
    def writes(self, stamp: str) -> Sequence[ObjectPatch]:
        return self._patched(priority_status(self.decision, stamp))

    def failed(self, error: ApiError) -> MarkFailed | None:
        return MarkFailed(self.decision) if error.code in TRANSIENT else None

    def note(self) -> Note | None:
        return priority_note(self.decision) if self.decision.message else None


ReportWrite = PodReportWrite | GroupReportWrite | GroupMarkWrite | PriorityNoteWrite | ReservationWrite
