"""What comes of plans whose steps are refused."""

import asyncio
import time

import pytest

from posse.controllers.steps import Create, Plan, Write
from posse.controllers.touched import Touched
from posse.kinds.errors import ApiError
from posse.kinds.registry import JOB, JOB_SET
from posse.runtime import rounds
from posse.runtime.reconciling import Reconciliation
from posse.transport.objects import Listing, ShownJson

SUBJECT = {"metadata": {"name": "js", "namespace": "default", "uid": "u", "resourceVersion": "1"}}
JOB_TO_BE = {"metadata": {"name": "js-a-0", "namespace": "default"}}


class OneStep:
    """A Reconciler that plans the same step again and again."""

    subject_kind = JOB_SET
    reporter = "tester"
    kinds = (JOB_SET,)
    selectors = {}  # noqa: RUF012 - nobody changes it

    def __init__(self, step):
        self.touched = Touched()
        self._step = step

    def see(self, kind, obj):
        if kind is JOB_SET:
            self.touched.add(obj["metadata"]["uid"])

    def subject(self, uid):
        return SUBJECT

    def plan(self, uid, now):
        return Plan(stages=[[self._step]])


class Refusing:
    """A Transport for one JobSet to which nothing else ever happens. Each write is refused until there are no refusals left."""

    def __init__(self, *refusals):
        self._refusals = list(refusals)
        self.events = []
        self.has_taken_all = asyncio.Event()
        self.has_told = asyncio.Event()

    async def list(self, kind, namespace=None, labels=""):
        return Listing([ShownJson(SUBJECT)], "1")

    async def watch(self, kind, resource_version, labels=""):
        await asyncio.Event().wait()
        yield []

    async def create(self, kind, namespace, obj):
        if kind.name == "Event":
            self.events.append(obj["reason"])
            self.has_told.set()
            return obj
        return self._answer(obj)

    async def update(self, kind, namespace, name, obj, subresource=""):
        return self._answer(obj)

    def _answer(self, obj):
        if self._refusals:
            raise self._refusals.pop(0)
        self.has_taken_all.set()
        return obj | {"metadata": obj["metadata"] | {"uid": "new", "resourceVersion": "2"}}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(rounds, "RETRY_SECONDS", 0.001)


def events_until_taken(step, *refusals):
    async def main():
        transport = Refusing(*refusals)
        running = asyncio.create_task(Reconciliation(transport, OneStep(step), time.time).run())
        async with asyncio.timeout(5):
            await transport.has_taken_all.wait()
            if isinstance(step, Create):
                await transport.has_told.wait()
        running.cancel()
        return transport.events

    return asyncio.run(main())


@pytest.mark.parametrize(
    "refusal",
    [
        ApiError(409, "Conflict", "Operation cannot be fulfilled on resourcequotas: it has been modified"),
        ApiError(404, "NotFound", "the server could not find the requested resource"),
        ApiError(403, "Forbidden", "exceeded quota"),
    ],
)
def test_a_creation_that_is_refused_is_told_and_tried_again_although_nothing_happens(refusal):
    assert "FailedCreate" in events_until_taken(Create(JOB, JOB_TO_BE), refusal)


@pytest.mark.parametrize("code", [404, 409])
def test_a_write_that_was_overtaken_is_tried_again_without_a_word(code):
    assert events_until_taken(Write(JOB_SET, SUBJECT), ApiError(code, "", "too late")) == []
