"""The Job controller: creates, deletes and counts the pods of a Job until the Job is complete or has failed.

No pod loses its finalizer before the status that counts it has been written. Pods that match the selector of
a Job but have no owner are not adopted.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from posse.controllers.jobs.completion import deadline_of, decided_verdict, new_verdict
from posse.controllers.jobs.groups import Grouping, SeenGroups, group_job, in_group
from posse.controllers.jobs.pods import TRACKING_FINALIZER, JobPod, concerns_jobs, read_pod
from posse.controllers.jobs.scaling import JobPodChanges, scale
from posse.controllers.jobs.statuses import next_status
from posse.controllers.jobs.tally import take_tally
from posse.controllers.observed import ObservedObjects
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Amend, Create, Delete, Plan, Write, controller_of, controller_uid
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import JOB, POD, POD_GROUP, WORKLOAD
from posse.model.decoding import decode
from posse.model.job import COMPLETE, FAILED, Job
from posse.model.timestamps import TimestampError, parse_timestamp

Json = dict[str, Any]

MANAGER = "kubernetes.io/job-controller"


class WorkloadOwner(NamedTuple):
    """The object that a Workload names in `controllerRef`."""

    namespace: str
    group: str
    kind: str
    name: str


class ObservedJob(NamedTuple):
    version: int
    obj: Json
    job: Job


class JobController(Reconciler):
    """Keys are uids of Jobs. Jobs get Workloads and groups only if it `makes_groups`."""

    reporter = "job-controller"
    subject_kind = JOB

    def __init__(self, *, makes_groups: bool = False) -> None:
        self._makes_groups = makes_groups
        # Jobs first: pods of unknown Jobs are released.
        self.kinds: Sequence[Kind] = (JOB, POD, WORKLOAD, POD_GROUP) if makes_groups else (JOB, POD)
        self.touched = Touched()
        self._jobs: dict[str, ObservedJob] = {}
        # By the uid of the Job they name; tracked pods that name none are under "".
        self._pods: defaultdict[str, dict[str, JobPod]] = defaultdict(dict)
        self._job_of: dict[str, str] = {}
        # Workloads and groups, and the owner that each Workload (by uid) names.
        self._groups = ObservedObjects()
        self._owner_of: dict[str, WorkloadOwner] = {}
        self._workloads_of: defaultdict[WorkloadOwner, dict[str, None]] = defaultdict(dict)

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is JOB:
            self._see_job(obj)
        elif kind is POD:
            self._see_pod(obj)
        else:
            self._see_group(kind, obj)

    def lose(self, kind: Kind, obj: Json) -> None:
        if kind is JOB:
            self._jobs.pop(obj["metadata"]["uid"], None)
            self.touched.add(obj["metadata"]["uid"])
        elif kind is POD:
            self._lose_pod(obj)
        else:
            self._lose_group(obj)

    def subject(self, key: str) -> Json | None:
        known = self._jobs.get(key)
        return known.obj if known is not None else None

    def plan(self, key: str, now: float) -> Plan:
        pods = list(self._pods[key].values()) if key in self._pods else []
        known = self._jobs.get(key)
        if known is None or known.job.metadata.deletion_timestamp:
            # Nothing is counted any more.
            result = Plan()
            result.then(*(_released(pod) for pod in pods if pod.is_tracked))
            return result
        return plan(known, pods, self._seen_groups(known.obj), now)

    def _see_job(self, obj: Json) -> None:
        uid, version = obj["metadata"]["uid"], int(obj["metadata"]["resourceVersion"])
        known = self._jobs.get(uid)
        if known is None or known.version < version:
            self._jobs[uid] = ObservedJob(version, obj, decode(Job, obj))
            self.touched.add(uid)

    def _see_pod(self, obj: Json) -> None:
        if obj["metadata"]["uid"] not in self._job_of and not concerns_jobs(obj):
            return
        pod = read_pod(obj)
        job_uid = self._job_of.get(pod.uid)
        if job_uid is not None:
            if self._pods[job_uid][pod.uid].version >= pod.version:
                return
            if job_uid != pod.job_uid:
                self._lose_pod(obj)
        if pod.job_uid or pod.is_tracked:
            self._job_of[pod.uid] = pod.job_uid
            self._pods[pod.job_uid][pod.uid] = pod
            self.touched.add(pod.job_uid)

    def _lose_pod(self, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        job_uid = self._job_of.pop(uid, None)
        if job_uid is not None:
            del self._pods[job_uid][uid]
            if not self._pods[job_uid]:
                del self._pods[job_uid]
            self.touched.add(job_uid)

    def _see_group(self, kind: Kind, obj: Json) -> None:
        """Observe a Workload or a group of a Job, or of the owner of a Job."""
        if self._groups.see(kind, obj):
            if kind is WORKLOAD and (served := _owner_named_by(obj)) is not None:
                self._owner_of[obj["metadata"]["uid"]] = served
                self._workloads_of[served][obj["metadata"]["uid"]] = None
            self._touch_grouped(obj)

    def _lose_group(self, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        self._groups.lose(obj)
        served = self._owner_of.pop(uid, None)
        if served is not None:
            del self._workloads_of[served][uid]
        self._touch_grouped(obj)

    def _touch_grouped(self, obj: Json) -> None:
        uid = controller_uid(obj, JOB)
        if uid in self._jobs:
            self.touched.add(uid)

    def _seen_groups(self, obj: Json) -> SeenGroups | None:
        if not self._makes_groups:
            return None
        uid, owner = obj["metadata"]["uid"], controller_of(obj)
        group = owner.get("apiVersion", "").rpartition("/")[0]
        served = WorkloadOwner(
            obj["metadata"]["namespace"], group, owner.get("kind", ""), owner.get("name", "")
        )
        of_owner = [self._groups.get(item) for item in self._workloads_of.get(served, ())] if owner else []
        return SeenGroups(
            workloads=self._groups.owned_by(uid, WORKLOAD),
            groups=self._groups.owned_by(uid, POD_GROUP),
            of_owner=[workload for workload in of_owner if workload is not None],
        )


def plan(known: ObservedJob, pods: Sequence[JobPod], seen: SeenGroups | None, now: float) -> Plan:
    """Return the plan for a Job that is not being deleted, given its pods, its Workloads and its groups."""
    obj, job = known.obj, known.job
    if job.spec.managed_by not in (None, MANAGER):
        return Plan()
    if finished_at(job) is not None:
        return _clean_up(known, pods, now)
    decided = decided_verdict(job)
    tally = take_tally(job.spec, job.status, pods, is_ending=decided is not None)
    verdict = decided or new_verdict(job, tally, now)
    if verdict is not None and decided is None:
        tally = take_tally(job.spec, job.status, pods, is_ending=True)
    status, news = next_status(obj, job, tally, verdict, now)
    grouping = Grouping()
    if verdict is None and seen is not None:
        grouping = group_job(obj, job, pods, tally, seen)
    result = Plan(wake_at=deadline_of(job))
    # One after the other: while one is refused, nothing else is done.
    result.stages += [[step] for step in grouping.create]
    result.stages += [[step] for step in grouping.amend]
    if any(step.kind is WORKLOAD for step in grouping.create):
        return Plan(stages=result.stages)
    result.news += news
    if status != (obj.get("status") or {}):
        result.then(Write(JOB, obj | {"status": status}, "status"))
    changes = JobPodChanges(delete=tally.active)
    if verdict is None:
        changes = scale(in_group(obj, grouping.name), job, tally, now)
    _change_pods(result, tally.releasable, changes)
    return result


def _change_pods(result: Plan, releasable: Sequence[JobPod], changes: JobPodChanges) -> None:
    """Pods that are withdrawn lose their finalizer first, so that their end does not count as a failure."""
    tracked = [pod for pod in changes.withdraw if pod.is_tracked]
    result.then(*(_released(pod) for pod in (*releasable, *tracked)))
    result.then(*(Delete(POD, pod.obj, "") for pod in (*changes.withdraw, *changes.delete)))
    result.then(*(Create(POD, pod, success="SuccessfulCreate") for pod in changes.create))
    result.wake_at = _earlier(result.wake_at, changes.wake_at)


def _released(pod: JobPod) -> Amend:
    metadata = {"uid": pod.uid, "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER]}
    return Amend(POD, pod.obj, {"metadata": metadata}, is_strategic=True)


def _owner_named_by(workload: Json) -> WorkloadOwner | None:
    reference = workload["spec"].get("controllerRef")
    if reference is None:
        return None
    group, kind, name = (reference.get(key, "") for key in ("apiGroup", "kind", "name"))
    return WorkloadOwner(workload["metadata"]["namespace"], group, kind, name)


def finished_at(job: Job) -> float | None:
    for kind in (COMPLETE, FAILED):
        condition = job.status.condition(kind)
        if condition is not None:
            try:
                return parse_timestamp(condition.last_transition_time)
            except TimestampError:
                return 0.0
    return None


def _clean_up(known: ObservedJob, pods: Sequence[JobPod], now: float) -> Plan:
    """Release the pods of a finished Job, and delete the Job after its time to live."""
    result = Plan()
    result.then(*(_released(pod) for pod in pods if pod.is_tracked))
    lifetime = known.job.spec.ttl_seconds_after_finished
    if lifetime is not None:
        expiry = (finished_at(known.job) or 0.0) + lifetime
        if expiry <= now:
            result.then(Delete(JOB, known.obj, "Foreground"))
        else:
            result.wake_at = expiry
    return result


def _earlier(one: float | None, other: float | None) -> float | None:
    times = [time for time in (one, other) if time is not None]
    return min(times, default=None)
