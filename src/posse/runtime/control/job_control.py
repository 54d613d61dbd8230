"""Runs the Job controller of the embedded cluster: Jobs and pods seen go in, the plans for touched Jobs are carried out.

What a write returns is shown to the controller at once, so that its next plan never rests on less than it has done
itself. A write that is refused ends the plan; the change that came between brings the Job back.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence

from posse.controllers.jobs.controller import JobController, JobPlan
from posse.controllers.jobs.pods import TRACKING_FINALIZER, JobPod
from posse.controllers.steps import Create, Write
from posse.kinds.machinery.errors import CONFLICT, NOT_FOUND, ApiError
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import JOB, POD, POD_GROUP, WORKLOAD
from posse.model.feature_gates import ALL_GATES, Gate, Gates
from posse.runtime.control.seeding import ALREADY_EXISTS
from posse.runtime.process.error_isolation import skipping
from posse.runtime.watching.event_recorder import EventRecorder
from posse.runtime.watching.informers import Follower, Json, attend
from posse.runtime.watching.work_queue import Handling
from posse.transport.notes import Note, Subject
from posse.transport.patches import STRATEGIC_MERGE_PATCH, Patch
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

REPORTER = "job-controller"


class JobControl:
    def __init__(self, transport: Transport, clock: Callable[[], float], gates: Gates = ALL_GATES) -> None:
        self._transport = transport
        self._clock = clock
        makes_groups = Gate.WORKLOAD_WITH_JOB in gates
        self._controller = JobController(makes_groups)
        self._handling = Handling(self._controller.touched, self._handle, clock)
        self._recorder = EventRecorder(transport, clock)
        # Jobs first: pods of a Job that nobody knows are let go.
        self._followers = [
            Follower(transport, JOB, self._see_job, self._lose_job),
            Follower(transport, POD, self._see_pod, self._lose_pod),
        ]
        for kind in (WORKLOAD, POD_GROUP) if makes_groups else ():
            self._followers.append(self._follower_of_groups(kind))

    async def run(self) -> None:
        """Control until cancelled. Nothing is concluded before everything that exists has been seen."""
        await attend(self._followers, self._recorder.run, self._handling.run)

    def _follower_of_groups(self, kind: Kind) -> Follower:
        def on_seen(obj: Json) -> None:
            self._controller.see_group(kind, obj)
            self._handling.notice()

        def on_gone(obj: Json) -> None:
            self._controller.lose_group(obj)
            self._handling.notice()

        return Follower(self._transport, kind, on_seen, on_gone)

    def _see_job(self, job: Json) -> None:
        self._controller.see_job(job)
        self._handling.notice()

    def _lose_job(self, job: Json) -> None:
        self._controller.lose_job(job)
        self._handling.look_again(job["metadata"]["uid"], None)
        self._handling.notice()

    def _see_pod(self, pod: Json) -> None:
        self._controller.see_pod(pod)
        self._handling.notice()

    def _lose_pod(self, pod: Json) -> None:
        self._controller.lose_pod(pod)
        self._handling.notice()

    async def _handle(self, uid: str) -> None:
        with skipping("Job", uid):
            plan = self._controller.plan(uid, self._clock())
            self._handling.look_again(uid, plan.wake_at)
            try:
                await self._carry_out(uid, plan)
            except ApiError as error:
                if error.code not in {NOT_FOUND, CONFLICT}:
                    log.warning("a step for Job %s was refused, trying again: %s", uid, error)
                    self._handling.retry(uid)

    async def _carry_out(self, uid: str, plan: JobPlan) -> None:
        known = self._controller.jobs.get(uid)
        for step in plan.prepare if known else ():
            await self._prepare(known.obj if known else {}, step)
        if plan.job is not None:
            place = plan.job["metadata"]["namespace"], plan.job["metadata"]["name"]
            self._see_job(await self._transport.update(JOB, *place, plan.job, subresource="status"))
        for news in plan.news if known else ():
            self._tell(known.obj if known else {}, news.reason, news.message, is_warning=news.is_warning)
        await _all(self._release(pod) for pod in (*plan.release, *_tracked(plan.withdraw)))
        await _all(self._delete(pod) for pod in (*plan.withdraw, *plan.delete))
        if known and plan.create:
            await self._create(known.obj, plan.create)
        if known and plan.is_expired:
            metadata = known.obj["metadata"]
            await self._transport.delete(
                JOB, metadata["namespace"], metadata["name"], uid=uid, propagation="Foreground"
            )

    async def _prepare(self, job: Json, step: Create | Write) -> None:
        namespace, name = step.obj["metadata"]["namespace"], step.obj["metadata"]["name"]
        try:
            if isinstance(step, Write):
                done = await self._transport.update(step.kind, namespace, name, step.obj)
            else:
                done = await self._transport.create(step.kind, namespace, step.obj)
                text = f"Created {step.kind.name} {name}"
                self._tell(job, f"{step.kind.name}Created", text, is_warning=False)
        except ApiError as error:
            if isinstance(step, Create):
                self._tell(job, step.failure, f"Error creating: {error}", is_warning=True)
            if error.reason == ALREADY_EXISTS:
                self._handling.retry(job["metadata"]["uid"])
            raise
        self._controller.see_group(step.kind, done)

    async def _release(self, pod: JobPod) -> None:
        body = {"metadata": {"uid": pod.uid, "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER]}}
        patch = Patch(STRATEGIC_MERGE_PATCH, body)
        released = await self._transport.patch(POD, pod.namespace, pod.name, patch)
        # A pod that only waited for this is gone by now, and its watch may have told so already.
        if not released["metadata"].get("deletionTimestamp"):
            self._controller.see_pod(released)

    async def _delete(self, pod: JobPod) -> None:
        deleted = await self._transport.delete(POD, pod.namespace, pod.name, uid=pod.uid)
        if deleted["metadata"].get("deletionTimestamp"):
            self._controller.see_pod(deleted)

    async def _create(self, job: Json, pods: Sequence[Json]) -> None:
        """Make pods in batches of growing size: what is wrong with one is usually wrong with all."""
        namespace, made, size = job["metadata"]["namespace"], 0, 1
        while made < len(pods):
            batch = pods[made : made + size]
            answers = await asyncio.gather(
                *(self._transport.create(POD, namespace, pod) for pod in batch), return_exceptions=True
            )
            for answer in answers:
                if not isinstance(answer, BaseException):
                    self._controller.see_pod(answer)
            for answer in answers:
                if isinstance(answer, ApiError):
                    self._tell(job, "FailedCreate", f"Error creating: {answer}", is_warning=True)
                if isinstance(answer, BaseException):
                    raise answer
            made, size = made + size, size * 2

    def _tell(self, job: Json, reason: str, message: str, *, is_warning: bool) -> None:
        metadata = job["metadata"]
        subject = Subject(JOB.api_version, JOB.name, metadata["namespace"], metadata["name"], metadata["uid"])
        self._recorder.record(Note(REPORTER, subject, reason, message, warning=is_warning))


def _tracked(pods: Iterable[JobPod]) -> list[JobPod]:
    return [pod for pod in pods if pod.is_tracked]


async def _all(steps: Iterable[Awaitable[None]]) -> None:
    """Take all steps; those that found their pod changed or gone had nothing left to do."""
    for outcome in await asyncio.gather(*steps, return_exceptions=True):
        if isinstance(outcome, ApiError) and outcome.code in {NOT_FOUND, CONFLICT}:
            continue
        if isinstance(outcome, BaseException):
            raise outcome
