"""What comes of plans whose steps are refused, and of answers that come late."""

import asyncio
import time

import pytest

from posse.client import repeating
from posse.controllers.reconciler import Touched
from posse.controllers.steps import Amend, Create, ExpectAbsent, Plan, Write
from posse.kinds.machinery.errors import ApiError, expired
from posse.kinds.registry import JOB, JOB_SET
from posse.runtime.control import work_queue
from posse.runtime.control.reconciling import ReconcilerRunner
from posse.transport.objects import Page, ShownJson, WatchEvent

SUBJECT = {"metadata": {"name": "js", "namespace": "default", "uid": "u", "resourceVersion": "1"}}
JOB_TO_BE = {"metadata": {"name": "js-a-0", "namespace": "default"}}


class OneStep:
    """A Reconciler that plans the same step again and again."""

    subject_kind = JOB_SET
    reporter = "tester"
    kinds = (JOB_SET,)
    selectors = {}  # noqa: RUF012 - it is never changed

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

    async def pages(self, kind, *, labels=""):
        yield Page([ShownJson(SUBJECT)], "1")

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
    monkeypatch.setattr(work_queue, "RETRY_SECONDS", 0.001)


def events_until_taken(step, *refusals):
    async def main():
        transport = Refusing(*refusals)
        running = asyncio.create_task(ReconcilerRunner(transport, [OneStep(step)], time.time).run())
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


class Seen(OneStep):
    """Notes what it is shown of Jobs."""

    kinds = (JOB, JOB_SET)

    def __init__(self, step):
        super().__init__(step)
        self.told = []

    def see(self, kind, obj):
        super().see(kind, obj)
        if kind is JOB:
            self.told.append(("seen", obj["metadata"]["resourceVersion"]))

    def lose(self, kind, obj):
        self.told.append(("gone", obj["metadata"]["resourceVersion"]))


class Slow:
    """A Transport that answers a creation only after what it made has gone, and shows it again some time later."""

    def __init__(self):
        self.is_being_made = asyncio.Event()
        self.has_gone = asyncio.Event()
        self.has_answered = asyncio.Event()

    async def pages(self, kind, *, labels=""):
        yield Page([ShownJson(SUBJECT)] if kind is JOB_SET else [], "1")

    async def watch(self, kind, resource_version, labels=""):
        if kind is JOB:
            await self.is_being_made.wait()
            yield [WatchEvent("ADDED", ShownJson(job(2))), WatchEvent("DELETED", ShownJson(job(3)))]
            self.has_gone.set()
            await self.has_answered.wait()
            yield [WatchEvent("ADDED", ShownJson(job(3)))]
        await asyncio.Event().wait()

    async def create(self, kind, namespace, obj):
        self.is_being_made.set()
        await self.has_gone.wait()
        asyncio.get_running_loop().call_soon(self.has_answered.set)
        return job(2)


def job(version):
    return {"metadata": JOB_TO_BE["metadata"] | {"uid": "j", "resourceVersion": str(version)}}


def test_an_answer_does_not_bring_back_what_has_gone_but_a_watch_does():
    async def main():
        reconciler = Seen(Create(JOB, JOB_TO_BE))
        running = asyncio.create_task(ReconcilerRunner(Slow(), [reconciler], time.time).run())
        async with asyncio.timeout(5):
            while len(reconciler.told) < 3:  # noqa: ASYNC110 - it has no event to wait for
                await asyncio.sleep(0.001)
        running.cancel()
        return reconciler.told

    assert asyncio.run(main()) == [("seen", "2"), ("gone", "3"), ("seen", "3")]


class Hiding(Refusing):
    """Finds no Jobs at times."""

    def __init__(self):
        super().__init__()
        self._lists = [[job(2)], ApiError(404, "NotFound", "404 page not found"), [job(2)]]
        self.has_shown_all = asyncio.Event()

    async def pages(self, kind, *, labels=""):
        found = self._lists.pop(0) if kind is JOB else [SUBJECT]
        if isinstance(found, ApiError):
            raise found
        yield Page([ShownJson(obj) for obj in found], "2")

    async def watch(self, kind, resource_version, labels=""):
        if kind is JOB and self._lists:
            raise expired("too old")
        if kind is JOB:
            self.has_shown_all.set()
        await asyncio.Event().wait()
        yield []


def test_jobs_are_not_taken_for_gone_because_one_list_finds_no_such_path(monkeypatch):
    monkeypatch.setattr(repeating, "FIRST_PAUSE_SECONDS", 0.001)

    async def main():
        transport, reconciler = Hiding(), Seen(Write(JOB_SET, SUBJECT))
        running = asyncio.create_task(ReconcilerRunner(transport, [reconciler], time.time).run())
        async with asyncio.timeout(5):
            await transport.has_shown_all.wait()
        running.cancel()
        return reconciler.told

    assert asyncio.run(main()) == [("seen", "2"), ("seen", "2")]


class Plain(Refusing):
    """Takes everything, and counts the watches."""

    def __init__(self, *refusals):
        super().__init__(*refusals)
        self.watches = []
        self.written = []

    async def watch(self, kind, resource_version, labels=""):
        self.watches.append(kind)
        async for batch in super().watch(kind, resource_version, labels):
            yield batch

    async def update(self, kind, namespace, name, obj, subresource=""):
        written = self._answer(obj)
        self.written.append(name)
        return written

    async def patch(self, kind, namespace, name, patch, subresource=""):
        return self._answer(SUBJECT)

    async def get(self, kind, namespace, name):
        return SUBJECT


class Broken(OneStep):
    """Fails whatever it is shown and asked."""

    def see(self, kind, obj):
        super().see(kind, obj)
        raise ZeroDivisionError("while seeing")

    def plan(self, key, now):
        raise ZeroDivisionError("while planning")


def run_until_taken(transport, *reconcilers):
    async def main():
        running = asyncio.create_task(ReconcilerRunner(transport, reconcilers, time.time).run())
        async with asyncio.timeout(5):
            await transport.has_taken_all.wait()
        running.cancel()

    asyncio.run(main())


def test_a_reconciler_that_raises_does_not_stop_the_others(caplog):
    transport = Plain()
    step = Write(JOB_SET, SUBJECT)
    run_until_taken(transport, Broken(step), OneStep(step))
    assert transport.written == ["js"]
    assert "JobSet default/js could not be handled and is left out" in caplog.text
    assert "tester u could not be handled and is left out" in caplog.text


def test_reconcilers_share_the_watch_of_a_kind():
    transport = Plain()
    run_until_taken(transport, *(OneStep(Write(JOB_SET, SUBJECT)) for _ in range(3)))
    assert transport.watches == [JOB_SET]


def test_a_step_that_fails_unexpectedly_is_tried_again(caplog):
    transport = Plain(OverflowError("too far"))
    run_until_taken(transport, OneStep(Write(JOB_SET, SUBJECT)))
    assert "OverflowError: too far" in caplog.text


class Stages(OneStep):
    """Plans several stages."""

    def plan(self, key, now):
        return Plan(stages=[[step] for step in self._step])


@pytest.mark.parametrize(
    ("uid", "written"), [("u", []), ("another", ["js"])], ids=["the object exists", "a namesake exists"]
)
def test_nothing_follows_an_object_that_should_be_absent(uid, written):
    async def main():
        transport = Plain()
        steps = [ExpectAbsent(JOB, "default", "js", uid), Write(JOB_SET, SUBJECT)]
        running = asyncio.create_task(ReconcilerRunner(transport, [Stages(steps)], time.time).run())
        await asyncio.sleep(0.05)
        running.cancel()
        return transport.written[:1]

    assert asyncio.run(main()) == written


def test_a_patch_that_was_overtaken_is_dropped():
    transport = Plain(ApiError(409, "Conflict", "too late"))
    run_until_taken(transport, Stages([Amend(JOB_SET, SUBJECT, {}), Write(JOB_SET, SUBJECT)]))
    assert transport.written == ["js"]
    assert transport.events == []


class Gone(OneStep):
    """Plans many creations for a subject that is deleted, or about to be, once some of them are made."""

    def __init__(self, last_seen):
        super().__init__(None)
        self.subjects = [SUBJECT, SUBJECT, SUBJECT]
        self._last_seen = last_seen

    def subject(self, uid):
        return self.subjects.pop() if self.subjects else self._last_seen

    def plan(self, key, now):
        return Plan(stages=[[Create(JOB, JOB_TO_BE) for _ in range(500)]])


class Counting(Refusing):
    made = 0

    async def create(self, kind, namespace, obj):
        self.made += 1
        return await super().create(kind, namespace, obj)


@pytest.mark.parametrize(
    "last_seen",
    [None, {"metadata": SUBJECT["metadata"] | {"deletionTimestamp": "2026-01-01T00:00:00Z"}}],
    ids=["gone", "being deleted"],
)
def test_no_more_is_created_for_a_subject_that_is_deleted(last_seen):
    """Otherwise a JobSet of thousands of pods goes on filling the cluster after it was deleted."""

    async def main():
        transport = Counting()
        running = asyncio.create_task(ReconcilerRunner(transport, [Gone(last_seen)], time.time).run())
        await asyncio.wait_for(transport.has_taken_all.wait(), 5)
        await asyncio.sleep(0.05)
        running.cancel()
        return transport.made

    assert 0 < asyncio.run(main()) < 10


def test_each_reconciler_may_write_through_a_transport_of_its_own():
    async def main():
        reading, writing = Plain(), []

        def transport():
            writing.append(Counting())
            return writing[-1]

        reconcilers = [OneStep(Create(JOB, JOB_TO_BE)), OneStep(Create(JOB, JOB_TO_BE))]
        runner = ReconcilerRunner(reading, reconcilers, time.time, writing=transport)
        running = asyncio.create_task(runner.run())
        await asyncio.wait_for(asyncio.gather(*(one.has_taken_all.wait() for one in writing)), 5)
        running.cancel()
        return [one.made for one in writing], reading.written

    assert asyncio.run(main()) == ([1, 1], [])
