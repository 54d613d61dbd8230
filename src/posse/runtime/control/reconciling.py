"""Runs a reconciler: objects seen go in, the plans for touched subjects are carried out.

What a write returns is shown to the reconciler at once, so that its next plan never rests on less than it has done itself.
A step that is refused ends the plan, and the subject comes back after a pause, or when the change that came between is seen.
"""

import asyncio
import logging
import math
from collections.abc import Callable

from posse.controllers.reconciler import Reconciler
from posse.controllers.steps import Create, Delete, Plan, Step, Write
from posse.kinds.machinery.errors import CONFLICT, NOT_FOUND, ApiError
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import JOB_SET, LEADER_WORKER_SET, POSSE_WORKLOAD
from posse.runtime.control.seeding import ALREADY_EXISTS
from posse.runtime.process.error_isolation import skipping
from posse.runtime.watching.event_recorder import EventRecorder
from posse.runtime.watching.followed_kinds import OPTIONAL_KINDS
from posse.runtime.watching.informers import Follower, Json, attend
from posse.runtime.watching.work_queue import Handling
from posse.transport.notes import Note, Subject
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

# An event about what goes on being refused; they are kept for an hour.
TELL_AGAIN_SECONDS = 600.0
# What events call a step that was refused; a creation says so itself.
FAILURES = {Write: "FailedUpdate", Delete: "FailedDelete"}
# What a cluster may come to serve, or cease to. Where anything else seems not to be served, that is an error which passes.
DISPENSABLE_KINDS = OPTIONAL_KINDS | {POSSE_WORKLOAD, JOB_SET, LEADER_WORKER_SET}
# The answer to a write may come later than the news that its object is gone. Far more are remembered than are on their way.
GONE_REMEMBERED = 10_000


class StepRefused(Exception):  # noqa: N818 - it is no error of ours
    def __init__(self, step: Step, error: ApiError) -> None:
        super().__init__(str(error))
        self.step = step
        self.error = error

    @property
    def is_overtaken(self) -> bool:
        """Whether the object has changed or gone in the meantime, which is nothing to tell anybody."""
        return not isinstance(self.step, Create) and self.error.code in {NOT_FOUND, CONFLICT}


class Reconciliation:
    def __init__(self, transport: Transport, reconciler: Reconciler, clock: Callable[[], float]) -> None:
        self._transport = transport
        self._reconciler = reconciler
        self._clock = clock
        self._handling = Handling(reconciler.touched, self._handle, clock)
        self._recorder = EventRecorder(transport, clock)
        self._followers = [self._follower(kind) for kind in reconciler.kinds]
        # What subjects were told last of steps that were refused, and when.
        self._refusals: dict[str, tuple[str, float]] = {}
        # Who was seen to go and not to come back, by uid.
        self._gone: dict[str, None] = {}

    async def run(self) -> None:
        """Reconcile until cancelled. Nothing is concluded before everything that exists has been seen."""
        await attend(self._followers, self._recorder.run, self._handling.run)

    def _follower(self, kind: Kind) -> Follower:
        def on_seen(obj: Json) -> None:
            self._gone.pop(obj["metadata"]["uid"], None)
            self._reconciler.see(kind, obj)
            self._handling.notice()

        def on_gone(obj: Json) -> None:
            self._remember_gone(obj["metadata"]["uid"])
            self._reconciler.lose(kind, obj)
            self._handling.notice()

        labels = self._reconciler.selectors.get(kind, "")
        is_optional = kind in DISPENSABLE_KINDS
        return Follower(self._transport, kind, on_seen, on_gone, labels, is_optional=is_optional)

    def _remember_gone(self, uid: str) -> None:
        self._gone[uid] = None
        if len(self._gone) > GONE_REMEMBERED:
            del self._gone[next(iter(self._gone))]

    async def _handle(self, uid: str) -> None:
        with skipping(self._reconciler.subject_kind.name, uid):
            plan = self._reconciler.plan(uid, self._clock())
            self._handling.look_again(uid, plan.wake_at)
            try:
                await self._carry_out(plan)
            except StepRefused as refusal:
                self._handling.retry(uid)
                if refusal.is_overtaken:
                    return
                self._tell_refusal(uid, refusal)
            else:
                self._refusals.pop(uid, None)
            for news in plan.news:
                self._tell(uid, news.reason, news.message, is_warning=news.is_warning)

    async def _carry_out(self, plan: Plan) -> None:
        """Take the steps of each stage in batches of growing size: what is wrong with one is usually wrong with all."""
        for stage in plan.stages:
            done, size = 0, 1
            while done < len(stage):
                outcomes = await asyncio.gather(
                    *(self._take(step) for step in stage[done : done + size]), return_exceptions=True
                )
                for outcome in outcomes:
                    if isinstance(outcome, BaseException):
                        raise outcome
                done, size = done + size, size * 2

    async def _take(self, step: Step) -> None:
        try:
            await self._attempt(step)
        except ApiError as error:
            is_present = isinstance(step, Create) and step.unless_present and error.reason == ALREADY_EXISTS
            is_gone = isinstance(step, Delete) and error.code in {NOT_FOUND, CONFLICT}
            if isinstance(step, Create) and step.if_taken is not None and error.reason == ALREADY_EXISTS:
                await self._take(step.if_taken)
            if not is_present and not is_gone:
                raise StepRefused(step, error) from error

    async def _attempt(self, step: Step) -> None:
        namespace, name = step.obj["metadata"].get("namespace", ""), step.obj["metadata"]["name"]
        match step:
            case Create():
                self._see_answer(step.kind, await self._transport.create(step.kind, namespace, step.obj))
            case Write():
                written = await self._transport.update(
                    step.kind, namespace, name, step.obj, subresource=step.subresource
                )
                self._see_answer(step.kind, written)
            case Delete():
                uid = step.obj["metadata"]["uid"]
                deleted = await self._transport.delete(
                    step.kind, namespace, name, uid=uid, propagation=step.propagation
                )
                # What is gone at once is told by the watch; the answer may be a mere Status.
                if (deleted.get("metadata") or {}).get("deletionTimestamp"):
                    self._see_answer(step.kind, deleted)

    def _see_answer(self, kind: Kind, obj: Json) -> None:
        if obj["metadata"]["uid"] not in self._gone:
            self._reconciler.see(kind, obj)

    def _tell_refusal(self, uid: str, refusal: StepRefused) -> None:
        step = refusal.step
        kind, name = step.kind.name, step.obj["metadata"]["name"]
        reason = step.failure if isinstance(step, Create) else FAILURES[type(step)]
        log.warning("%s %s was refused, trying again: %s", kind, name, refusal.error)
        message, now = f"{kind} {name}: {refusal.error}", self._clock()
        told, told_at = self._refusals.get(uid, ("", -math.inf))
        if message != told or now - told_at > TELL_AGAIN_SECONDS:
            self._refusals[uid] = message, now
            self._tell(uid, reason, message, is_warning=True)

    def _tell(self, uid: str, reason: str, message: str, *, is_warning: bool) -> None:
        obj, kind = self._reconciler.subject(uid), self._reconciler.subject_kind
        if obj is not None:
            metadata = obj["metadata"]
            subject = Subject(kind.api_version, kind.name, metadata["namespace"], metadata["name"], uid)
            self._recorder.record(
                Note(self._reconciler.reporter, subject, reason, message, warning=is_warning)
            )
