"""The StatefulSet controller. It does not adopt pods and revisions that have no controller."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.stateful_sets.claims import (
    FindClaim,
    is_leaving_with_pod,
    missing_claims,
    reowned_claims,
)
from posse.controllers.stateful_sets.pods import SetPod, new_pod, read_pods
from posse.controllers.stateful_sets.revisions import Revisions, outdated, settle, template_of
from posse.controllers.stateful_sets.scaling import scale
from posse.controllers.stateful_sets.statuses import next_status
from posse.controllers.steps import Create, Delete, Plan, Write, controller_uid, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import CONTROLLER_REVISION, PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET
from posse.model.decoding import decode
from posse.model.stateful_set import StatefulSet, StatefulSetSpec

Json = dict[str, Any]


class StatefulSetController(Reconciler):
    subject_kind = STATEFUL_SET
    reporter = "statefulset-controller"
    # Sets first: a pod is ignored until its set is known.
    kinds = (STATEFUL_SET, CONTROLLER_REVISION, PERSISTENT_VOLUME_CLAIM, POD)

    def __init__(self) -> None:
        self._observed = ObservedObjects()
        # Who holds the names of revisions, by namespace and name.
        self._revision_owners: dict[tuple[str, str], str] = {}
        self._uids: dict[tuple[str, str], str] = {}
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is PERSISTENT_VOLUME_CLAIM:
            if self._observed.see(kind, obj):
                self._touch_users(obj)
            return
        if kind is CONTROLLER_REVISION:
            self._revision_owners[_place(obj)] = controller_uid(obj)
        elif kind is STATEFUL_SET:
            self._uids[_place(obj)] = obj["metadata"]["uid"]
        before = self._observed.get(obj["metadata"]["uid"])
        # What belongs to others is kept only as long as it takes to see that it does so now.
        if (before is not None or _subject_uid(kind, obj)) and self._observed.see(kind, obj):
            self._touch_subject(kind, obj)
            if before is not None:
                self._touch_subject(kind, before)

    def lose(self, kind: Kind, obj: Json) -> None:
        self._observed.lose(obj)
        if kind is PERSISTENT_VOLUME_CLAIM:
            self._touch_users(obj)
            return
        if kind is CONTROLLER_REVISION:
            self._revision_owners.pop(_place(obj), None)
        elif kind is STATEFUL_SET and self._uids.get(_place(obj)) == obj["metadata"]["uid"]:
            del self._uids[_place(obj)]
        elif kind is POD and (uid := self._uids.get(_parent_place(obj))):
            # A set that was recreated may have waited for the name.
            self.touched.add(uid)
        self._touch_subject(kind, obj)

    def subject(self, key: str) -> Json | None:
        return self._observed.get(key)

    def plan(self, key: str, now: float) -> Plan:
        obj = self._observed.get(key)
        if obj is None or is_deleting(obj):
            return Plan()
        namespace = obj["metadata"]["namespace"]

        def is_taken(name: str) -> bool:
            return self._revision_owners.get((namespace, name), key) != key

        def find_claim(name: str) -> Json | None:
            return self._observed.at(PERSISTENT_VOLUME_CLAIM, namespace, name)

        history = self._observed.owned_by(key, CONTROLLER_REVISION)
        pods = read_pods(obj["metadata"]["name"], self._observed.owned_by(key, POD))
        own = Belongings(pods, history, settle(obj, history, is_taken), self._is_held, find_claim)
        return plan(obj, own, now)

    def _is_held(self, pod: Json) -> bool:
        """Whether a pod of an earlier set still holds the name."""
        present = self._observed.at(POD, *_place(pod))
        return present is not None and bool(controller_uid(present))

    def _touch_users(self, claim: Json) -> None:
        """A claim is called after its template, the set and a number; the set may have dashes in its name."""
        parts = claim["metadata"]["name"].split("-")
        for first in range(1, len(parts) - 1):
            place = claim["metadata"]["namespace"], "-".join(parts[first:-1])
            if uid := self._uids.get(place):
                self.touched.add(uid)

    def _touch_subject(self, kind: Kind, obj: Json) -> None:
        if uid := _subject_uid(kind, obj):
            self.touched.add(uid)


class Belongings(NamedTuple):
    """What belongs to a set. Names that others still hold, by `is_held`, it cannot give to pods yet."""

    pods: Sequence[SetPod]
    history: Sequence[Json]
    revisions: Revisions
    is_held: Callable[[Json], bool]
    find_claim: FindClaim


def plan(obj: Json, own: Belongings, now: float) -> Plan:
    """Return what is to be done about a set that is there to stay."""
    spec, pods, revisions = decode(StatefulSet, obj).spec, own.pods, own.revisions
    result = Plan(wake_at=_next_available(spec, pods, now))
    if revisions.create is not None:
        result.then(Create(CONTROLLER_REVISION, revisions.create))
    if revisions.renumber is not None:
        result.then(Write(CONTROLLER_REVISION, revisions.renumber))
    status = next_status(obj, spec, pods, revisions, now)
    if status != (obj.get("status") or {}):
        result.then(Write(STATEFUL_SET, obj | {"status": status}, "status"))
    changes = scale(spec, pods, revisions.update["metadata"]["name"], now)
    made = [
        pod
        for ordinal in changes.create
        if _may_be_made(obj, own, pod := _made(obj, spec, revisions, ordinal))
    ]
    waiting = [pod.obj for pod in pods if pod.phase == "Pending" and not pod.is_deleting]
    names = [pod["metadata"]["name"] for pod in (*waiting, *made)]
    missing = missing_claims(obj, names, own.find_claim)
    result.then(*(Create(PERSISTENT_VOLUME_CLAIM, claim, unless_present=True) for claim in missing))
    result.then(*(Write(PERSISTENT_VOLUME_CLAIM, claim) for claim in _reowned(obj, spec, own)))
    # A finalizer may keep a pod until its dependents are gone.
    result.then(*(Delete(POD, pod.obj, "") for pod in changes.delete))
    result.then(*(Create(POD, pod, success="SuccessfulCreate") for pod in made))
    live = {status["currentRevision"], status["updateRevision"], *(pod.revision for pod in pods)}
    result.then(*(Delete(CONTROLLER_REVISION, old) for old in outdated(obj, own.history, live)))
    return result


def _may_be_made(obj: Json, own: Belongings, pod: Json) -> bool:
    """Whether neither the name of the pod nor that of a claim of it is still taken by an earlier one."""
    return not own.is_held(pod) and not is_leaving_with_pod(obj, pod["metadata"]["name"], own.find_claim)


def _reowned(obj: Json, spec: StatefulSetSpec, own: Belongings) -> Iterator[Json]:
    wanted = range(spec.start, spec.start + spec.wanted)
    for pod in own.pods:
        yield from reowned_claims(obj, pod.obj, own.find_claim, is_surplus=pod.ordinal not in wanted)


def _made(obj: Json, spec: StatefulSetSpec, revisions: Revisions, ordinal: int) -> Json:
    revision = revisions.current if ordinal - spec.start < spec.partition else revisions.update
    return new_pod(obj, template_of(revision), revision["metadata"]["name"], ordinal)


def _next_available(spec: StatefulSetSpec, pods: Sequence[SetPod], now: float) -> float | None:
    times = [pod.available_at(spec.min_ready_seconds) for pod in pods]
    return min((time for time in times if time is not None and time > now), default=None)


def _subject_uid(kind: Kind, obj: Json) -> str:
    return obj["metadata"]["uid"] if kind is STATEFUL_SET else controller_uid(obj, STATEFUL_SET)


def _place(obj: Json) -> tuple[str, str]:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]


def _parent_place(pod: Json) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"].rpartition("-")[0]
