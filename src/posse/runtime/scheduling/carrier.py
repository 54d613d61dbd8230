"""Carries out decisions of the engine through the API: bindings first, then what pods and groups are told.

Reports are advice to people: one that fails is logged and dropped. A refused binding is returned, because the engine
counts on it; the group it belongs to is not reported as scheduled, and the engine is told that too.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from posse.client.repeating import PASSING
from posse.engine.decisions import Bind, BindVolumes, Evict, MarkDisrupted, ReportGroup, ReportPod, WarnGroup
from posse.engine.events import (
    BindRefused,
    EvictionFailed,
    GroupReportFailed,
    MarkFailed,
    ReportFailed,
    ReportWithheld,
)
from posse.engine.groups.forms import DISRUPTION_TARGET
from posse.engine.keys import GroupKey, GroupRef, PodRef
from posse.engine.preemption.marks import PREEMPTION, mark_for
from posse.kinds.machinery.errors import CONFLICT, NOT_FOUND, ApiError
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import POD
from posse.model.timestamps import format_timestamp
from posse.runtime.process.error_isolation import skipping
from posse.runtime.scheduling.group_status import (
    disruption_status,
    group_note,
    group_status,
    object_kind,
    warning_note,
)
from posse.runtime.scheduling.observers import DecisionObserver, Round
from posse.runtime.scheduling.report_merging import Report, last_words, unfounded
from posse.runtime.scheduling.scheduling_events import (
    not_bound,
    not_scheduled,
    preempted,
    preempted_as_a_whole,
    preempting,
    scheduled,
)
from posse.runtime.scheduling.volume_carrier import bind_volumes
from posse.runtime.watching.event_recorder import EventRecorder
from posse.runtime.watching.permission_warnings import PermissionWarnings
from posse.transport.patches import STRATEGIC_MERGE_PATCH, Patch
from posse.transport.transport import PodBinding, Transport

log = logging.getLogger(__name__)

Refusal = BindRefused | EvictionFailed | ReportWithheld
Lost = ReportFailed | MarkFailed | GroupReportFailed

_REPORTS_AT_ONCE = 200


class Carrier:
    def __init__(
        self,
        transport: Transport,
        recorder: EventRecorder,
        witness: DecisionObserver,
        clock: Callable[[], float],
    ) -> None:
        self._transport = transport
        self._recorder = recorder
        self._witness = witness
        self._clock = clock
        self._permissions = PermissionWarnings()

    async def act(self, done: Round) -> list[Refusal]:
        """Bind and evict; what was refused is to be absorbed before anything is reported."""
        decisions = done.decisions
        refusals, broken_groups = await self._bind([d for d in decisions if isinstance(d, Bind)])
        self._witness.bound(done, {refusal.pod_uid: refusal.reason for refusal in refusals})
        refusals += await self._bind_volumes([d for d in decisions if isinstance(d, BindVolumes)])
        marks = [d for d in decisions if isinstance(d, MarkDisrupted)]
        failures = await self._evict([d for d in decisions if isinstance(d, Evict)], marks)
        withheld = [ReportWithheld(report.group) for report in unfounded(decisions, broken_groups)]
        return [*refusals, *failures, *withheld]

    async def report(self, done: Round, refusals: Sequence[Refusal]) -> list[Lost]:
        """Tell pods and groups how they stand; a group of which a binding was refused does not stand as decided.

        What did not reach them for a reason that may pass is returned, to be told again later.
        """
        withheld = {refusal.group for refusal in refusals if isinstance(refusal, ReportWithheld)}
        reports = [
            self._report(report)
            for report in last_words(done.decisions)
            if not (isinstance(report, ReportGroup) and report.group in withheld)
        ]
        for decision in done.decisions:
            if isinstance(decision, WarnGroup):
                self._recorder.record(warning_note(decision))
        lost: list[Lost | None] = []
        for start in range(0, len(reports), _REPORTS_AT_ONCE):
            lost += await asyncio.gather(*reports[start : start + _REPORTS_AT_ONCE])
        return [event for event in lost if event is not None]

    async def _evict(
        self, evictions: Sequence[Evict], marks: Sequence[MarkDisrupted]
    ) -> list[EvictionFailed]:
        """The last victim goes last: when it is gone, so are the others."""
        leaving: list[Evict] = []
        failures = list(
            await asyncio.gather(*(self._evict_pod(eviction, leaving) for eviction in evictions[:-1]))
        )
        failures += [await self._evict_pod(eviction, leaving) for eviction in evictions[-1:]]
        for preemptor in dict.fromkeys(eviction.preemptor for eviction in leaving):
            whole = [mark.group for mark in marks if mark.preemptor == preemptor]
            self._recorder.record(preempting([one for one in leaving if one.preemptor == preemptor], whole))
        return [failure for failure in failures if failure is not None]

    async def _evict_pod(self, eviction: Evict, leaving: list[Evict]) -> EvictionFailed | None:
        """Who leaves because of it is added to the others."""
        victim = eviction.pod
        message = mark_for(eviction.preemptor)
        condition = self._condition(DISRUPTION_TARGET, PREEMPTION, message, holds=True)
        try:
            status = {"conditions": [condition]}
            await self._set_status(POD, victim.namespace, victim.name, status, uid=victim.uid)
            await self._transport.delete(POD, victim.namespace, victim.name, uid=victim.uid)
        except ApiError as error:
            self._permissions.note(error)
            if error.code == NOT_FOUND or (error.code == CONFLICT and await self._is_gone(victim)):
                # Somebody else was faster; the room is free all the same.
                return None
            return EvictionFailed(victim.uid, str(error))
        self._permissions.allowed("delete", "pods")
        self._recorder.record(preempted(eviction))
        leaving.append(eviction)
        return None

    async def _is_gone(self, pod: PodRef) -> bool:
        """After a conflict: another pod has the name, or the server has only lost a race against other writers."""
        try:
            found = await self._transport.get(POD, pod.namespace, pod.name)
        except ApiError as error:
            return error.code == NOT_FOUND
        return bool(found["metadata"]["uid"] != pod.uid)

    async def _bind(self, binds: Sequence[Bind]) -> tuple[list[BindRefused], set[GroupKey]]:
        if not binds:
            return [], set()
        answers = await self._transport.bind_all(
            [
                [PodBinding(p.pod.namespace, p.pod.name, p.pod.uid, p.node) for p in b.placements]
                for b in binds
            ]
        )
        placements = [(placement, bind.group) for bind in binds for placement in bind.placements]
        refusals: list[BindRefused] = []
        broken_groups: set[GroupKey] = set()
        for (placement, group), refusal in zip(placements, chain.from_iterable(answers), strict=True):
            if refusal is None:
                self._permissions.allowed("create", "pods/binding")
                self._recorder.record(scheduled(placement))
                continue
            self._permissions.note(refusal)
            if refusal.code != NOT_FOUND:
                self._recorder.record(not_bound(placement, str(refusal)))
            refusals.append(BindRefused(placement.pod.uid, placement.node, str(refusal)))
            if group is not None:
                broken_groups.add(group)
        return refusals, broken_groups

    async def _bind_volumes(self, decisions: Sequence[BindVolumes]) -> list[BindRefused]:
        answers = await asyncio.gather(*(bind_volumes(self._transport, decision) for decision in decisions))
        refused = [
            (d.pod, refusal) for d, refusal in zip(decisions, answers, strict=True) if refusal is not None
        ]
        for pod, refusal in refused:
            self._witness.volumes_refused(pod, refusal.node, refusal.reason)
        return [refusal for _, refusal in refused]

    async def _report(self, report: Report) -> Lost | None:
        about = report.pod if isinstance(report, ReportPod) else report.group
        with skipping(type(report).__name__, about.namespace, about.name):
            try:
                if isinstance(report, ReportPod):
                    await self._report_pod(report)
                elif isinstance(report, MarkDisrupted):
                    await self._mark(report)
                else:
                    await self._report_group(report)
            except ApiError as error:
                self._permissions.note(error)
                log.debug("report dropped: %s", error)
                if error.code not in PASSING:
                    # The object is gone or was replaced; whoever took its place is told on its own account.
                    return None
                return _lost(report)
        return None

    async def _report_pod(self, report: ReportPod) -> None:
        condition = self._condition("PodScheduled", report.reason, report.message, holds=False)
        if not report.is_first:
            del condition["lastTransitionTime"]
        pod = report.pod
        status = {"conditions": [condition], "nominatedNodeName": report.nominated_node or None}
        await self._set_status(POD, pod.namespace, pod.name, status, uid=pod.uid)
        self._recorder.record(not_scheduled(report))

    async def _mark(self, mark: MarkDisrupted) -> None:
        status = disruption_status(mark, format_timestamp(self._clock()))
        if status is not None:
            kind, group = object_kind(mark.group), mark.group
            await self._set_status(kind, group.namespace, group.name, status, uid=mark.uid)
        if mark.preemptor is not None:
            victim = GroupRef(mark.group, mark.uid)
            self._recorder.record(preempted_as_a_whole(victim, mark.preemptor))

    async def _report_group(self, report: ReportGroup) -> None:
        group = report.group
        status = group_status(report, format_timestamp(self._clock()))
        if status is not None:
            kind = object_kind(group)
            await self._set_status(kind, group.namespace, group.name, status, uid=report.uid)
        if report.is_news:
            self._recorder.record(group_note(report))

    def _condition(self, name: str, reason: str, message: str, *, holds: bool) -> dict[str, Any]:
        return {
            "type": name,
            "status": "True" if holds else "False",
            "reason": reason,
            "message": message,
            "lastTransitionTime": format_timestamp(self._clock()),
        }

    async def _set_status(
        self, kind: Kind, namespace: str, name: str, status: dict[str, Any], *, uid: str
    ) -> None:
        """Refused if the name now belongs to another object than the one with this uid."""
        body = {"metadata": {"uid": uid}, "status": status}
        await self._transport.patch(
            kind, namespace, name, Patch(STRATEGIC_MERGE_PATCH, body), subresource="status"
        )
        for verb in ("patch", "update"):
            self._permissions.allowed(verb, f"{kind.plural}/status", kind.group)


def _lost(report: Report) -> Lost:
    match report:
        case ReportPod():
            return ReportFailed(report.pod.uid)
        case MarkDisrupted():
            return MarkFailed(report)
        case _:
            return GroupReportFailed(report)
