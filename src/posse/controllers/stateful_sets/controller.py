"""The StatefulSet controller: sets, pods and revisions seen go in; for each set that was touched a plan comes out.

Pods and revisions are the set's own when it is their controller. Adopting those that match its selector is not done.
"""

from collections.abc import Sequence
from typing import Any

from posse.controllers.observed import Observed
from posse.controllers.stateful_sets.pods import SetPod, new_claims, new_pod, read_pods
from posse.controllers.stateful_sets.revisions import Revisions, outdated, settle, template_of
from posse.controllers.stateful_sets.staffing import staff
from posse.controllers.stateful_sets.statuses import next_status
from posse.controllers.steps import Create, Delete, Plan, Write, controller_uid, is_deleting
from posse.kinds.kind import Kind
from posse.kinds.registry import CONTROLLER_REVISION, PERSISTENT_VOLUME_CLAIM, POD, STATEFUL_SET
from posse.model.decoding import decode
from posse.model.stateful_set import StatefulSet, StatefulSetSpec

Json = dict[str, Any]


class StatefulSetController:
    subject_kind = STATEFUL_SET
    reporter = "statefulset-controller"
    # Sets first: a pod whose set nobody knows is nobody's business.
    kinds = (STATEFUL_SET, CONTROLLER_REVISION, POD)

    def __init__(self) -> None:
        self._observed = Observed()
        # Who holds the names of revisions, by namespace and name.
        self._revision_owners: dict[tuple[str, str], str] = {}
        self._touched: dict[str, None] = {}

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is CONTROLLER_REVISION:
            self._revision_owners[_place(obj)] = controller_uid(obj)
        before = self._observed.get(obj["metadata"]["uid"])
        # What belongs to others is kept only as long as it takes to see that it does so now.
        if (before is not None or _subject_uid(kind, obj)) and self._observed.see(kind, obj):
            self._touch_subject(kind, obj)
            if before is not None:
                self._touch_subject(kind, before)

    def lose(self, kind: Kind, obj: Json) -> None:
        self._observed.lose(obj)
        if kind is CONTROLLER_REVISION:
            self._revision_owners.pop(_place(obj), None)
        self._touch_subject(kind, obj)

    def touch(self, uid: str) -> None:
        self._touched[uid] = None

    def take_touched(self, limit: int) -> list[str]:
        uids = list(self._touched)[:limit]
        for uid in uids:
            del self._touched[uid]
        return uids

    def subject(self, uid: str) -> Json | None:
        return self._observed.get(uid)

    def plan(self, uid: str, now: float) -> Plan:
        obj = self._observed.get(uid)
        if obj is None or is_deleting(obj):
            return Plan()
        namespace = obj["metadata"]["namespace"]

        def is_taken(name: str) -> bool:
            return self._revision_owners.get((namespace, name), uid) != uid

        history = self._observed.owned_by(uid, CONTROLLER_REVISION)
        pods = read_pods(obj["metadata"]["name"], self._observed.owned_by(uid, POD))
        return plan(obj, pods, history, settle(obj, history, is_taken), now)

    def _touch_subject(self, kind: Kind, obj: Json) -> None:
        if uid := _subject_uid(kind, obj):
            self.touch(uid)


def plan(
    obj: Json, pods: Sequence[SetPod], history: Sequence[Json], revisions: Revisions, now: float
) -> Plan:
    """Return what is to be done about a set that is there to stay, given all that belongs to it."""
    spec = decode(StatefulSet, obj).spec
    result = Plan(wake_at=_next_available(spec, pods, now))
    if revisions.create is not None:
        result.then(Create(CONTROLLER_REVISION, revisions.create))
    if revisions.renumber is not None:
        result.then(Write(CONTROLLER_REVISION, revisions.renumber))
    status = next_status(obj, spec, pods, revisions, now)
    if status != (obj.get("status") or {}):
        result.then(Write(STATEFUL_SET, obj | {"status": status}, "status"))
    staffing = staff(spec, pods, revisions.update["metadata"]["name"], now)
    claims = [claim for ordinal in staffing.create for claim in new_claims(obj, ordinal)]
    result.then(*(Create(PERSISTENT_VOLUME_CLAIM, claim, unless_present=True) for claim in claims))
    result.then(*(Delete(POD, pod.obj) for pod in staffing.delete))
    result.then(*(Create(POD, _made(obj, spec, revisions, ordinal)) for ordinal in staffing.create))
    live = {status["currentRevision"], status["updateRevision"], *(pod.revision for pod in pods)}
    result.then(*(Delete(CONTROLLER_REVISION, old) for old in outdated(obj, history, live)))
    return result


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
