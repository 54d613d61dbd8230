"""Executes the writes of a round through the API. What they are, and in which order, is in `posse.writes`.

Refused bindings and failed evictions are returned, because the engine counts on them. Reports are advice to
people: only those that failed for a transient reason are returned.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from posse.engine.decisions import Evict
from posse.engine.events import BindRefused, ClaimWritten, Setback, WriteNews
from posse.engine.keys import ClaimKey
from posse.kinds.machinery.errors import CONFLICT, INVALID, NOT_FOUND, TRANSIENT, ApiError
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import RESOURCE_CLAIM
from posse.model.decoding import decode
from posse.model.resource_claim import ResourceClaim
from posse.model.timestamps import format_timestamp
from posse.runtime.process.error_isolation import skipping
from posse.runtime.scheduling.observers import DecisionObserver, Round
from posse.runtime.watching.event_recorder import EventRecorder
from posse.runtime.watching.permission_warnings import PermissionWarnings
from posse.transport.transport import Transport
from posse.writes.bindings import Answers, BindTogether
from posse.writes.claims import ClaimWrites
from posse.writes.evictions import EvictionWrites
from posse.writes.object_writes import (
    ObjectCreate,
    ObjectDelete,
    ObjectPatch,
    ObjectWrite,
    completion,
    conflict_resolved,
    follow_up,
)
from posse.writes.reports import ReportWrite
from posse.writes.round_writes import RoundWrites, StageWrites
from posse.writes.volumes import VolumeWrites

log = logging.getLogger(__name__)

_MAX_REPORTS_AT_ONCE = 200
_ASK_AGAIN_SECONDS = 1.0


class Carrier:
    def __init__(
        self,
        transport: Transport,
        recorder: EventRecorder,
        observer: DecisionObserver,
        clock: Callable[[], float],
    ) -> None:
        self._transport = transport
        self._recorder = recorder
        self._observer = observer
        self._clock = clock
        self._permissions = PermissionWarnings()

    async def act(self, done: Round, writes: RoundWrites) -> list[WriteNews]:
        """Bind and evict. What failed is to be absorbed before anything is reported."""
        written: list[ClaimWritten] = []
        refusals = await self._bind(writes, written)
        self._observer.bound(done, {refusal.pod_uid: refusal.reason for refusal in refusals})
        setbacks: list[WriteNews] = [*written, *refusals]
        evicted: list[Evict] = []
        for stage in writes.stages:
            answers = await asyncio.gather(*(self._carry_out(part) for part in stage))
            for part, error in zip(stage, answers, strict=True):
                if error is not None:
                    setbacks += self._failed(part, error)
                elif isinstance(part, EvictionWrites):
                    evicted.append(part.decision)
        for note in writes.preempting_notes(evicted):
            self._recorder.record(note)
        return [*setbacks, *writes.withheld(refusals)]

    async def report(self, writes: RoundWrites, setbacks: Sequence[WriteNews]) -> list[Setback]:
        """Write the reports that still hold after the setbacks; return those that may succeed later."""
        reports = writes.reports_after(setbacks)
        for note in writes.warnings:
            self._recorder.record(note)
        lost: list[Setback | None] = []
        for start in range(0, len(reports), _MAX_REPORTS_AT_ONCE):
            part = reports[start : start + _MAX_REPORTS_AT_ONCE]
            lost += await asyncio.gather(*(self._report(report) for report in part))
        return [event for event in lost if event is not None]

    async def _bind(self, writes: RoundWrites, news: list[ClaimWritten]) -> list[BindRefused]:
        """Pods without claims do not wait for the claims of others."""
        at_once = [write for write in writes.bindings if not write.claims]
        later = [write for write in writes.bindings if write.claims]
        if not later:
            return await self._bind_all(at_once)
        claiming = self._claim_and_bind(writes.claims, later, news)
        parts = await asyncio.gather(self._bind_all(at_once), claiming)
        return [refusal for part in parts for refusal in part]

    async def _claim_and_bind(
        self, claims: Sequence[ClaimWrites], bindings: Sequence[BindTogether], news: list[ClaimWritten]
    ) -> list[BindRefused]:
        """Bind each group as soon as its own claims are written, however long those of others take."""
        written = {claim.decision.claim: asyncio.ensure_future(self._claim(claim, news)) for claim in claims}
        parts = await asyncio.gather(*(self._bind_claimed(write, written) for write in bindings))
        return [refusal for part in parts for refusal in part]

    async def _bind_claimed(
        self, write: BindTogether, written: Mapping[ClaimKey, Awaitable[ApiError | None]]
    ) -> list[BindRefused]:
        answers = await asyncio.gather(*(written[key] for key in write.claims))
        outcomes = zip(write.claims, answers, strict=True)
        answer = write.answers_without({key: error for key, error in outcomes if error is not None})
        return await self._bind_all([write]) if answer is None else self._answered(write, answer)

    async def _claim(self, claim: ClaimWrites, news: list[ClaimWritten]) -> ApiError | None:
        """The engine counts on the devices until it knows what has become of the claim."""
        answers: list[tuple[Kind, Json]] = []
        error = await self._carry_out(claim, answers)
        key = claim.decision.claim
        written = [answer for kind, answer in answers if kind is RESOURCE_CLAIM and answer.get("metadata")]
        found = written[-1] if written and error is None else await self._find(key)
        news.append(ClaimWritten(key, decode(ResourceClaim, found) if found is not None else None))
        return error

    async def _find(self, key: ClaimKey) -> Json | None:
        """Ask until there is an answer."""
        while True:
            try:
                return await self._transport.get(RESOURCE_CLAIM, key.namespace, key.name)
            except ApiError as error:
                if error.code not in TRANSIENT:
                    return None
            await asyncio.sleep(_ASK_AGAIN_SECONDS)

    async def _bind_all(self, bindings: Sequence[BindTogether]) -> list[BindRefused]:
        if not bindings:
            return []
        answers = await self._transport.bind_all([write.bindings() for write in bindings])
        refusals: list[BindRefused] = []
        for write, answer in zip(bindings, answers, strict=True):
            refusals += self._answered(write, answer)
            for error in answer:
                if error is None:
                    self._permissions.allowed("create", "pods/binding")
                else:
                    self._permissions.note(error)
        return refusals

    def _answered(self, write: BindTogether, answers: Answers) -> list[BindRefused]:
        for note in write.notes(answers):
            self._recorder.record(note)
        return write.failed(answers)

    def _failed(self, part: StageWrites, error: ApiError) -> Iterable[Setback]:
        failure = part.failed(error)
        if isinstance(part, VolumeWrites):
            self._observer.volumes_refused(part.decision.pod, part.decision.node, str(error))
        return () if failure is None else (failure,)

    async def _report(self, report: ReportWrite) -> Setback | None:
        with skipping(type(report.decision).__name__, report.about.namespace, report.about.name):
            error = await self._carry_out(report)
            if error is not None:
                log.debug("report dropped: %s", error)
                return report.failed(error)
        return None

    async def _carry_out(
        self, part: ClaimWrites | StageWrites | ReportWrite, answers: list[tuple[Kind, Json]] | None = None
    ) -> ApiError | None:
        """Make the writes that belong together, and record the event about them; return the first failure."""
        for write in part.writes(format_timestamp(self._clock())):
            error = await self._write(write, answers)
            if error is not None:
                return error
        note = part.note()
        if note is not None:
            self._recorder.record(note)
        return None

    async def _write(
        self, write: ObjectWrite, answers: list[tuple[Kind, Json]] | None = None
    ) -> ApiError | None:
        """Answers of patches are added to the list, if one is given."""
        kind, namespace, name = write.kind, write.namespace, write.name
        more: ObjectPatch | None = None
        try:
            if isinstance(write, ObjectDelete):
                await self._transport.delete(kind, namespace, name, uid=write.uid)
            elif isinstance(write, ObjectCreate):
                await self._transport.create(kind, namespace, write.obj)
            else:
                answer = await self._transport.patch(
                    kind, namespace, name, write.patch, subresource=write.subresource
                )
                more = completion(write, answer)
                if answers is not None:
                    answers.append((kind, answer))
        except ApiError as error:
            self._permissions.note(error)
            if error.code == CONFLICT and write.reads_after_conflict:
                return await self._after_conflict(write, error)
            if error.code == INVALID and isinstance(write, ObjectPatch) and write.instead is not None:
                return await self._after_refusal(write, error, answers)
            return error
        resource = f"{kind.plural}/{write.subresource}" if write.subresource else kind.plural
        for verb in write.verbs:
            self._permissions.allowed(verb, resource, kind.group)
        return await self._write(more, answers) if more is not None else None

    async def _after_conflict(self, write: ObjectWrite, conflict: ApiError) -> ApiError | None:
        try:
            found = await self._transport.get(write.kind, write.namespace, write.name)
        except ApiError as error:
            return conflict_resolved(write, conflict, None) if error.code == NOT_FOUND else conflict
        return conflict_resolved(write, conflict, found)

    async def _after_refusal(
        self, write: ObjectWrite, refusal: ApiError, answers: list[tuple[Kind, Json]] | None
    ) -> ApiError | None:
        try:
            found = await self._transport.get(write.kind, write.namespace, write.name)
        except ApiError:
            return refusal
        instead = follow_up(write, found)
        return refusal if instead is None else await self._write(instead, answers)
