"""The Job controller: Jobs and pods seen go in; for each Job that was touched a plan comes out.

It makes, deletes and counts the pods of a Job until the Job is complete or has failed. What a plan asks for is done in
its order: nothing is released before the status that counts it has been written. Adopting pods that match a selector but
have no owner is not done.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from posse.controllers.jobs.completion import deadline_of, new_verdict, standing_verdict
from posse.controllers.jobs.groups import Grouping, SeenGroups, group_job, in_group
from posse.controllers.jobs.pods import JobPod, read_pod
from posse.controllers.jobs.scaling import staff
from posse.controllers.jobs.statuses import next_status
from posse.controllers.jobs.tally import take_tally
from posse.controllers.observed import ObservedObjects
from posse.controllers.steps import Create, News, Write, controller_of, controller_uid
from posse.controllers.touched import Touched
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import JOB, POD_GROUP, WORKLOAD
from posse.model.decoding import decode
from posse.model.job import COMPLETE, FAILED, Job
from posse.model.timestamps import TimestampError, parse_timestamp

Json = dict[str, Any]

MANAGER = "kubernetes.io/job-controller"


@dataclass(slots=True)
class JobPlan:
    """What is to be done about a Job, in the order of the fields."""

    # The Workload and the group of its pods; as long as one is refused nothing else is done.
    prepare: Sequence[Create | Write] = ()
    # The Job with its new status, or None when the status is as it should be.
    job: Json | None = None
    news: tuple[News, ...] = ()
    # Lose their tracking finalizer.
    release: Sequence[JobPod] = ()
    # Lose it and are deleted, so that their end is nobody's failure.
    withdraw: Sequence[JobPod] = ()
    delete: Sequence[JobPod] = ()
    create: Sequence[Json] = ()
    # The Job itself is to go: it has been finished for long enough.
    is_expired: bool = False
    # When to look again, if nothing happens before.
    wake_at: float | None = None


class Served(NamedTuple):
    """What a Workload says it is for."""

    namespace: str
    group: str
    kind: str
    name: str


class KnownJob(NamedTuple):
    version: int
    obj: Json
    job: Job


@dataclass(slots=True)
class JobController:
    """Jobs get Workloads and groups only if it `makes_groups`."""

    makes_groups: bool = False
    jobs: dict[str, KnownJob] = field(default_factory=dict)
    # By the uid of the Job they name; tracked pods that name none are under "".
    _pods: defaultdict[str, dict[str, JobPod]] = field(default_factory=lambda: defaultdict(dict))
    _job_of: dict[str, str] = field(default_factory=dict)
    touched: Touched = field(default_factory=Touched)
    # Workloads and groups, and of each Workload (by uid) what it is for.
    _groups: ObservedObjects = field(default_factory=ObservedObjects)
    _served: dict[str, Served] = field(default_factory=dict)
    _serving: defaultdict[Served, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    def see_job(self, obj: Json) -> None:
        uid, version = obj["metadata"]["uid"], int(obj["metadata"]["resourceVersion"])
        known = self.jobs.get(uid)
        if known is None or known.version < version:
            self.jobs[uid] = KnownJob(version, obj, decode(Job, obj))
            self.touched.add(uid)

    def lose_job(self, obj: Json) -> None:
        self.jobs.pop(obj["metadata"]["uid"], None)
        self.touched.add(obj["metadata"]["uid"])

    def see_pod(self, obj: Json) -> None:
        pod = read_pod(obj)
        job_uid = self._job_of.get(pod.uid)
        if job_uid is not None:
            if self._pods[job_uid][pod.uid].version >= pod.version:
                return
            if job_uid != pod.job_uid:
                self.lose_pod(obj)
        if pod.job_uid or pod.is_tracked:
            self._job_of[pod.uid] = pod.job_uid
            self._pods[pod.job_uid][pod.uid] = pod
            self.touched.add(pod.job_uid)

    def lose_pod(self, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        job_uid = self._job_of.pop(uid, None)
        if job_uid is not None:
            del self._pods[job_uid][uid]
            if not self._pods[job_uid]:
                del self._pods[job_uid]
            self.touched.add(job_uid)

    def see_group(self, kind: Kind, obj: Json) -> None:
        """A Workload or a group; those of a Job, or for the owner of a Job, are of interest."""
        if self._groups.see(kind, obj):
            if kind is WORKLOAD and (served := _served_by(obj)) is not None:
                self._served[obj["metadata"]["uid"]] = served
                self._serving[served][obj["metadata"]["uid"]] = None
            self._touch_grouped(obj)

    def lose_group(self, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        self._groups.lose(obj)
        served = self._served.pop(uid, None)
        if served is not None:
            del self._serving[served][uid]
        self._touch_grouped(obj)

    def _touch_grouped(self, obj: Json) -> None:
        uid = controller_uid(obj, JOB)
        if uid in self.jobs:
            self.touched.add(uid)

    def _seen_groups(self, obj: Json) -> SeenGroups | None:
        if not self.makes_groups:
            return None
        uid, owner = obj["metadata"]["uid"], controller_of(obj)
        group = owner.get("apiVersion", "").rpartition("/")[0]
        served = Served(obj["metadata"]["namespace"], group, owner.get("kind", ""), owner.get("name", ""))
        of_owner = [self._groups.get(item) for item in self._serving.get(served, ())] if owner else []
        return SeenGroups(
            workloads=self._groups.owned_by(uid, WORKLOAD),
            groups=self._groups.owned_by(uid, POD_GROUP),
            of_owner=[workload for workload in of_owner if workload is not None],
        )

    def plan(self, job_uid: str, now: float) -> JobPlan:
        pods = list(self._pods[job_uid].values()) if job_uid in self._pods else []
        known = self.jobs.get(job_uid)
        if known is None or known.job.metadata.deletion_timestamp:
            # Nothing is counted any more, and nobody shall wait for it.
            return JobPlan(release=[pod for pod in pods if pod.is_tracked])
        return plan(known, pods, self._seen_groups(known.obj), now)


def plan(known: KnownJob, pods: Sequence[JobPod], seen: SeenGroups | None, now: float) -> JobPlan:
    """Return what is to be done about a Job that is there to stay, given all its pods and what it has of groups."""
    obj, job = known.obj, known.job
    if job.spec.managed_by not in (None, MANAGER):
        return JobPlan()
    if finished_at(job) is not None:
        return _after_the_end(job, pods, now)
    standing = standing_verdict(job)
    tally = take_tally(job.spec, job.status, pods, is_ending=standing is not None)
    verdict = standing or new_verdict(job, tally, now)
    if verdict is not None and standing is None:
        tally = take_tally(job.spec, job.status, pods, is_ending=True)
    status, news = next_status(obj, job, tally, verdict, now)
    result = JobPlan(news=news, release=tally.releasable, wake_at=deadline_of(job))
    if status != (obj.get("status") or {}):
        result.job = obj | {"status": status}
    if verdict is not None:
        result.delete = tally.active
        return result
    grouping = group_job(obj, job, pods, tally, seen) if seen is not None else Grouping()
    if any(step.kind is WORKLOAD for step in grouping.create):
        return JobPlan(prepare=grouping.create)
    result.prepare = [*grouping.create, *grouping.amend]
    staffing = staff(in_group(obj, grouping.name), job, tally, pods, now)
    result.withdraw, result.create = staffing.withdraw, staffing.create
    result.wake_at = _earlier(result.wake_at, staffing.wake_at)
    return result


def _served_by(workload: Json) -> Served | None:
    reference = workload["spec"].get("controllerRef")
    if reference is None:
        return None
    group, kind, name = (reference.get(key, "") for key in ("apiGroup", "kind", "name"))
    return Served(workload["metadata"]["namespace"], group, kind, name)


def finished_at(job: Job) -> float | None:
    for kind in (COMPLETE, FAILED):
        condition = job.status.condition(kind)
        if condition is not None:
            try:
                return parse_timestamp(condition.last_transition_time)
            except TimestampError:
                return 0.0
    return None


def _after_the_end(job: Job, pods: Sequence[JobPod], now: float) -> JobPlan:
    result = JobPlan(release=[pod for pod in pods if pod.is_tracked])
    if job.spec.ttl_seconds_after_finished is not None:
        expiry = (finished_at(job) or 0.0) + job.spec.ttl_seconds_after_finished
        result.is_expired = expiry <= now
        result.wake_at = None if result.is_expired else expiry
    return result


def _earlier(one: float | None, other: float | None) -> float | None:
    times = [time for time in (one, other) if time is not None]
    return min(times, default=None)
