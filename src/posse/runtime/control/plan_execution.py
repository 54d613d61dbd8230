"""Carries out plans of reconcilers: takes their steps through a transport and hands back the answers."""

import asyncio
from collections.abc import Callable, Sequence

from posse.controllers.steps import Amend, Create, Delete, ExpectAbsent, News, Plan, Step, Write, is_deleting
from posse.kinds.machinery.errors import ALREADY_EXISTS, CONFLICT, NOT_FOUND, ApiError
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import POD
from posse.transport.patches import MERGE_PATCH, STRATEGIC_MERGE_PATCH, Patch
from posse.transport.transport import Transport

# Enough for one group commit to be worth its while, few enough to stay responsive in between.
MAX_BATCH = 100


class StepRefused(Exception):  # noqa: N818 - it names what happened
    """The server refused a step for a reason that people should know."""

    def __init__(self, step: Create | Write | Amend | Delete, error: ApiError) -> None:
        super().__init__(str(error))
        self.step = step
        self.error = error


class PlanOutdated(Exception):  # noqa: N818 - it names what happened
    """The cluster has changed since the plan was made."""


class PlanExecutor:
    """`on_answer` gets every object that a write returned."""

    def __init__(self, transport: Transport, on_answer: Callable[[Kind, Json], None]) -> None:
        self._transport = transport
        self._on_answer = on_answer

    async def run(
        self, plan: Plan, report: Callable[[News], None], is_wanted: Callable[[], bool] = lambda: True
    ) -> None:
        """Take the stages in order. Raises StepRefused or PlanOutdated where the plan ends early.

        Nothing more is created once the plan is no longer wanted, as when its subject is deleted.
        """
        for stage in plan.stages:
            await self._run_stage(stage, report, is_wanted)

    async def _run_stage(
        self, stage: Sequence[Step], report: Callable[[News], None], is_wanted: Callable[[], bool]
    ) -> None:
        """Creations come in batches of growing size: what is wrong with one is usually wrong with all.

        Of other steps all are taken before the first failure is raised.
        """
        is_creating = isinstance(stage[0], Create)
        done, size, failures = 0, 1 if is_creating else MAX_BATCH, list[BaseException]()
        while done < len(stage) and not (is_creating and failures):
            if is_creating and not is_wanted():
                raise PlanOutdated
            steps = (self._take(step, report) for step in stage[done : done + size])
            outcomes = await asyncio.gather(*steps, return_exceptions=True)
            failures += [outcome for outcome in outcomes if outcome is not None]
            done, size = done + size, min(2 * size, MAX_BATCH)
        if failures:
            try:
                raise failures[0]
            finally:
                # The failure refers to this frame: both would stay until garbage is collected.
                del failures, outcomes

    async def _take(self, step: Step, report: Callable[[News], None]) -> None:
        match step:
            case Create():
                await self._create(step, report)
            case Write():
                await self._write(step)
            case Amend():
                await self._amend(step)
            case Delete():
                await self._delete(step)
            case ExpectAbsent():
                if await self._exists(step):
                    raise PlanOutdated

    async def _create(self, step: Create, report: Callable[[News], None]) -> None:
        try:
            created = await self._transport.create(step.kind, _namespace(step.obj), step.obj)
        except ApiError as error:
            is_taken = error.reason == ALREADY_EXISTS
            if is_taken and step.if_taken is not None:
                await self._write(step.if_taken)
            if is_taken and step.unless_present:
                return
            raise StepRefused(step, error) from error
        self._on_answer(step.kind, created)
        if step.success:
            what = "pod:" if step.kind is POD else step.kind.name
            report(News(step.success, f"Created {what} {created['metadata']['name']}"))

    async def _write(self, step: Write) -> None:
        namespace, name = _namespace(step.obj), step.obj["metadata"]["name"]
        try:
            written = await self._transport.update(
                step.kind, namespace, name, step.obj, subresource=step.subresource
            )
        except ApiError as error:
            if error.code in {NOT_FOUND, CONFLICT}:
                raise PlanOutdated from error
            raise StepRefused(step, error) from error
        self._on_answer(step.kind, written)

    async def _amend(self, step: Amend) -> None:
        namespace, name = _namespace(step.obj), step.obj["metadata"]["name"]
        patch = Patch(STRATEGIC_MERGE_PATCH if step.is_strategic else MERGE_PATCH, step.patch)
        try:
            amended = await self._transport.patch(
                step.kind, namespace, name, patch, subresource=step.subresource
            )
        except ApiError as error:
            if error.code not in {NOT_FOUND, CONFLICT}:
                raise StepRefused(step, error) from error
            return
        # An object that only waited for this may be gone by now.
        if not is_deleting(amended):
            self._on_answer(step.kind, amended)

    async def _delete(self, step: Delete) -> None:
        namespace, name = _namespace(step.obj), step.obj["metadata"]["name"]
        uid = step.obj["metadata"]["uid"]
        try:
            deleted = await self._transport.delete(
                step.kind, namespace, name, uid=uid, propagation=step.propagation
            )
        except ApiError as error:
            if error.code not in {NOT_FOUND, CONFLICT}:
                raise StepRefused(step, error) from error
            return
        # The watch shows what is gone at once; the answer may be a mere Status.
        if (deleted.get("metadata") or {}).get("deletionTimestamp"):
            self._on_answer(step.kind, deleted)

    async def _exists(self, step: ExpectAbsent) -> bool:
        if not step.name:
            return bool((await self._transport.list(step.kind, step.namespace)).shown)
        try:
            found = await self._transport.get(step.kind, step.namespace, step.name)
        except ApiError as error:
            if error.code != NOT_FOUND:
                raise
            return False
        return bool(found["metadata"]["uid"] == step.uid)


def _namespace(obj: Json) -> str:
    return str(obj["metadata"].get("namespace", ""))
