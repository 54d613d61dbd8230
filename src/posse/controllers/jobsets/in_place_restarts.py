"""JobSets whose pods restart where they are: which attempt they have all reached, and which is over.

A container in each pod writes on the pod which attempt it is in, waits until the status of the JobSet says
that all pods have come so far, and restarts its pod if the status says that the attempt is over.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from posse.controllers.jobsets.controller import MANAGERS
from posse.controllers.jobsets.names import JOBSET_NAME, JOBSET_UID, PREFIX
from posse.controllers.jobsets.outcomes import REACHED_MAX, fail
from posse.controllers.jobsets.statuses import StatusDraft
from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Plan, Write, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import JOB_SET, POD
from posse.kinds.sets.jobset_gangs import pods_per_job, replicas
from posse.model.decoding import decode
from posse.model.jobset import FailurePolicy, JobSet

Json = dict[str, Any]

ATTEMPT = PREFIX + "in-place-restart-attempt"


class InPlaceRestarts(Reconciler):
    """A Reconciler. Keys are uids of JobSets."""

    subject_kind = JOB_SET
    reporter = "jobset-controller"
    kinds = (JOB_SET, POD)

    def __init__(self, managers: Collection[str | None] = MANAGERS) -> None:
        self.selectors = {POD: JOBSET_NAME}
        self.touched = Touched()
        self._managers = managers
        self._observed = ObservedObjects()
        # By the uid of their JobSet and their own: pods that have said something, or were restarted.
        self._pods: defaultdict[str, dict[str, Json]] = defaultdict(dict)

    def see(self, kind: Kind, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        if kind is JOB_SET:
            if self._observed.see(kind, obj):
                self.touched.add(uid)
        elif attempt_of_pod(obj) is not None or _restarts(obj):
            self._pods[_jobset_of(obj)][uid] = obj
            self.touched.add(_jobset_of(obj))

    def lose(self, kind: Kind, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        if kind is JOB_SET:
            self._observed.lose(obj)
            self._pods.pop(uid, None)
        elif uid in self._pods.get(_jobset_of(obj), {}):
            del self._pods[_jobset_of(obj)][uid]
            self.touched.add(_jobset_of(obj))

    def subject(self, key: str) -> Json | None:
        return self._observed.get(key)

    def plan(self, key: str, now: float) -> Plan:
        obj = self._observed.get(key)
        if obj is None or is_deleting(obj):
            return Plan()
        jobset = decode(JobSet, obj)
        is_idle = not jobset.spec.restarts_in_place or bool(jobset.status.terminal_state)
        if is_idle or jobset.spec.managed_by not in self._managers:
            return Plan()
        draft = StatusDraft(obj, now)
        _judge(jobset, list(self._pods.get(key, {}).values()), draft)
        if draft.status == (obj.get("status") or {}):
            return Plan()
        return Plan(stages=[[Write(JOB_SET, obj | {"status": draft.status}, "status")]], news=draft.news)


def _judge(jobset: JobSet, pods: Sequence[Json], draft: StatusDraft) -> None:
    status, policy = jobset.status, jobset.spec.failure_policy or FailurePolicy()
    attempts = [attempt for pod in pods if (attempt := attempt_of_pod(pod)) is not None]
    latest = max(attempts, default=0)
    counted = latest - (status.restarts - status.restarts_count_towards_max)
    # A container may fail so fast that its pod never gets to say so.
    if max(counted, max(map(_restarts, pods), default=0)) > policy.max_restarts:
        fail(draft, *REACHED_MAX)
    elif attempts and len(attempts) == _pods_in_all(jobset) and min(attempts) == latest:
        draft.status["currentInPlaceRestartAttempt"] = latest
    elif latest > (status.previous_in_place_restart_attempt or 0):
        draft.status["previousInPlaceRestartAttempt"] = latest - 1


def _pods_in_all(jobset: JobSet) -> int:
    return sum(replicas(job) * pods_per_job(job) for job in jobset.spec.replicated_jobs)


def attempt_of_pod(pod: Json) -> int | None:
    """Return the attempt that a pod says it is in, None if it says none that can be read."""
    text = (pod["metadata"].get("annotations") or {}).get(ATTEMPT) or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def _restarts(pod: Json) -> int:
    return max((int(item.get("restartCount") or 0) for item in _containers(pod)), default=0)


def _containers(pod: Json) -> Iterator[Json]:
    status = pod.get("status") or {}
    for name in ("initContainerStatuses", "containerStatuses"):
        yield from status.get(name) or ()


def _jobset_of(pod: Json) -> str:
    return str((pod["metadata"].get("labels") or {}).get(JOBSET_UID, ""))
