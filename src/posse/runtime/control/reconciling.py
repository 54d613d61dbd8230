"""Runs reconcilers: shows them objects and carries out the plans for the keys that were touched.

Reconcilers of one runner share a watch per kind. Answers of writes are shown to a reconciler at once, so that
its next plan never rests on less than it has done itself. A step that is refused ends the plan, and the key
is retried after a pause.
"""

import logging
import math
from collections.abc import Callable, Sequence
from functools import partial

from posse.controllers.bounded import BoundedPlans
from posse.controllers.reconciler import Reconciler
from posse.controllers.steps import Amend, Create, Delete, News, Plan, Write, is_deleting
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import JOB_SET, LEADER_WORKER_SET, POSSE_WORKLOAD
from posse.runtime.control.plan_execution import PlanExecutor, PlanOutdated, StepRefused
from posse.runtime.control.work_queue import Work, WorkQueue
from posse.runtime.process.error_isolation import is_left_out, skipping
from posse.runtime.watching.event_recorder import EventRecorder
from posse.runtime.watching.followed_kinds import MAYBE_UNSERVED_KINDS
from posse.runtime.watching.informers import Follower, attend, is_older
from posse.transport.notes import Note, Subject
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

# Events are kept for an hour; a refusal that goes on is recorded again after this time.
REPORT_AGAIN_SECONDS = 600.0
# Reasons of events about refused steps; a creation names its own.
FAILURES = {Write: "FailedUpdate", Amend: "FailedUpdate", Delete: "FailedDelete"}
# Kinds that a cluster may start or stop to serve. That any other is not served is a passing error.
DISPENSABLE_KINDS = MAYBE_UNSERVED_KINDS | {POSSE_WORKLOAD, JOB_SET, LEADER_WORKER_SET}
# An answer may come after its object was observed to be gone. Far fewer writes are under way at any time.
MAX_GONE_REMEMBERED = 10_000


# Told which metric counts an event, and the namespace and name of its subject.
CountEvent = Callable[[str, str, str], None]


def _count_nothing(_counter: str, _namespace: str, _name: str) -> None:
    pass


class ReconcilerRunner:
    def __init__(
        self,
        transport: Transport,
        reconcilers: Sequence[Reconciler],
        clock: Callable[[], float],
        count: CountEvent = _count_nothing,
        writing: Callable[[], Transport] | None = None,
    ) -> None:
        """`writing` returns a transport for the writes of one reconciler; without it they share the other."""
        self._recorder = EventRecorder(transport, clock)
        self._informers: dict[tuple[Kind, str], _Informer] = {}
        self._loops = [
            _ReconcileLoop(
                writing() if writing is not None else transport, each, self._recorder, clock, count
            )
            for each in reconcilers
        ]
        for loop in self._loops:
            for kind in loop.reconciler.kinds:
                labels = loop.reconciler.selectors.get(kind, "")
                if (kind, labels) not in self._informers:
                    self._informers[kind, labels] = _Informer(transport, kind, labels)
                loop.join(self._informers[kind, labels])

    async def run(self) -> None:
        """Reconcile until cancelled. No plan is made before everything that exists has been observed."""
        followers = [informer.follower for informer in self._informers.values()]
        await attend(followers, self._recorder.run, *(loop.queue.run for loop in self._loops))


class _Informer:
    """The watch of a kind that several reconcilers share."""

    def __init__(self, transport: Transport, kind: Kind, labels: str) -> None:
        self.kind = kind
        self.loops: list[_ReconcileLoop] = []
        is_optional = kind in DISPENSABLE_KINDS
        self.follower = Follower(transport, kind, self._see, self._lose, labels, is_optional=is_optional)
        # The uids of objects that are gone.
        self._gone: dict[str, None] = {}

    def is_outdated(self, obj: Json) -> bool:
        """Whether the watch has shown a newer version of the object already, or that it is gone."""
        if obj["metadata"]["uid"] in self._gone:
            return True
        known = self.follower.known(obj)
        return known is not None and is_older(
            obj["metadata"]["resourceVersion"], known["metadata"]["resourceVersion"]
        )

    def _see(self, obj: Json) -> None:
        self._gone.pop(obj["metadata"]["uid"], None)
        for loop in self.loops:
            loop.see(self.kind, obj)

    def _lose(self, obj: Json) -> None:
        self._gone[obj["metadata"]["uid"]] = None
        if len(self._gone) > MAX_GONE_REMEMBERED:
            del self._gone[next(iter(self._gone))]
        for loop in self.loops:
            loop.lose(self.kind, obj)


class _ReconcileLoop:
    """One reconciler with its queue. Objects that it cannot handle are logged and left out."""

    def __init__(
        self,
        transport: Transport,
        reconciler: Reconciler,
        recorder: EventRecorder,
        clock: Callable[[], float],
        count: CountEvent,
    ) -> None:
        self.reconciler = reconciler
        self._plans = BoundedPlans(reconciler)
        self.queue = WorkQueue(reconciler.touched, self._start, clock)
        self._executor = PlanExecutor(transport, self._see_answer)
        self._recorder = recorder
        self._clock = clock
        self._count = count
        self._informers: dict[Kind, _Informer] = {}
        # The refusal last reported for each key, and when.
        self._refusals: dict[str, tuple[str, float]] = {}

    def join(self, informer: _Informer) -> None:
        self._informers[informer.kind] = informer
        informer.loops.append(self)

    def see(self, kind: Kind, obj: Json) -> None:
        # Every reconciler observes every pod, so this is a plain try, which costs nothing.
        try:
            self.reconciler.see(kind, obj)
        except Exception as error:
            if not is_left_out(error, kind.name, obj["metadata"].get("namespace"), obj["metadata"]["name"]):
                raise
        self.queue.notice()

    def lose(self, kind: Kind, obj: Json) -> None:
        with skipping(kind.name, obj["metadata"].get("namespace"), obj["metadata"]["name"]):
            self.reconciler.lose(kind, obj)
            self.queue.notice()

    def _see_answer(self, kind: Kind, obj: Json) -> None:
        informer = self._informers.get(kind)
        if informer is None or not informer.is_outdated(obj):
            self.reconciler.see(kind, obj)

    def _start(self, key: str) -> Work | None:
        with skipping(self.reconciler.reporter, key):
            plan = self._plans.plan(key, self._clock())
            self.queue.look_again(key, plan.wake_at)
            if plan.stages or plan.news:
                return partial(self._carry_out, key, plan)
            self._refusals.pop(key, None)
        return None

    async def _carry_out(self, key: str, plan: Plan) -> None:
        with skipping(self.reconciler.reporter, key):
            try:
                await self._executor.run(
                    plan, lambda news: self._report(key, news), lambda: self._is_present(key)
                )
            except PlanOutdated:
                self.queue.retry(key)
                return
            except StepRefused as refusal:
                self.queue.retry(key)
                self._report_refusal(key, refusal)
            except Exception:
                self.queue.retry(key)
                raise
            else:
                self._refusals.pop(key, None)
            for news in plan.news:
                self._report(key, news)

    def _is_present(self, key: str) -> bool:
        """Whether the subject of the key is there and stays; plans of some reconcilers have none."""
        subject = self.reconciler.subject(key)
        return self.reconciler.subject_kind is None or not (subject is None or is_deleting(subject))

    def _report_refusal(self, key: str, refusal: StepRefused) -> None:
        step, now = refusal.step, self._clock()
        kind, metadata = step.kind.name, step.obj["metadata"]
        name = metadata.get("name") or metadata.get("generateName", "")
        log.warning("%s %s was refused, trying again: %s", kind, name, refusal.error)
        if isinstance(step, Create):
            news = News(step.failure, f"Error creating: {refusal.error}", is_warning=True)
        else:
            news = News(FAILURES[type(step)], f"{kind} {name}: {refusal.error}", is_warning=True)
        message, reported_at = self._refusals.get(key, ("", -math.inf))
        if news.message != message or now - reported_at > REPORT_AGAIN_SECONDS:
            self._refusals[key] = news.message, now
            self._report(key, news)

    def _report(self, key: str, news: News) -> None:
        obj, kind = self.reconciler.subject(key), self.reconciler.subject_kind
        if obj is None or kind is None:
            return
        metadata = obj["metadata"]
        if news.counter:
            self._count(news.counter, metadata["namespace"], metadata["name"])
        namespace = metadata.get("namespace", "")
        subject = Subject(kind.api_version, kind.name, namespace, metadata["name"], metadata["uid"])
        reporter = self.reconciler.reporter
        self._recorder.record(Note(reporter, subject, news.reason, news.message, warning=news.is_warning))
