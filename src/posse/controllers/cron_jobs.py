"""The CronJob controller: makes a Job when its time has come, and deletes old ones.

Of several times that were missed only the last is made up for. A Job is named after its time, so none is made
twice.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from posse.controllers.jobs.controller import finished_at
from posse.controllers.reconciler import OwnerReconciler
from posse.controllers.steps import (
    Create,
    Delete,
    News,
    Plan,
    Write,
    is_deleting,
    owner_reference,
)
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import CRON_JOB, JOB
from posse.model.cron_job import FORBID, REPLACE, CronJob
from posse.model.cron_schedule import ScheduleError, parse_schedule, time_zone
from posse.model.decoding import decode
from posse.model.job import COMPLETE, FAILED, Job
from posse.model.timestamps import TimestampError, format_timestamp, parse_timestamp

SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"


class CronJobController(OwnerReconciler):
    subject_kind = CRON_JOB
    reporter = "cronjob-controller"
    kinds = (CRON_JOB, JOB)

    def plan(self, key: str, now: float) -> Plan:
        obj = self._observed.get(key)
        if obj is None or is_deleting(obj):
            return Plan()
        return plan(obj, [_Child(job, decode(Job, job)) for job in self._observed.owned_by(key, JOB)], now)


class _Child(NamedTuple):
    """A Job that belongs to the CronJob."""

    obj: Json
    job: Job

    @property
    def is_running(self) -> bool:
        return finished_at(self.job) is None and not is_deleting(self.obj)

    @property
    def is_scheduled(self) -> bool:
        """Whether the controller made it. One that was made by hand keeps no other from starting."""
        return SCHEDULED_AT in self.job.metadata.annotations


class _Times(NamedTuple):
    due: float | None
    """The last time that has come and has no Job yet."""
    next: float | None


def plan(obj: Json, children: Sequence[_Child], now: float) -> Plan:
    cron_job = decode(CronJob, obj)
    spec, zone = cron_job.spec, time_zone(cron_job.spec.time_zone) or UTC
    due, next_time = _times(cron_job, zone, now)
    running = [child for child in children if child.is_running and child.is_scheduled]
    result = Plan(wake_at=next_time)
    result.news += _ended(cron_job, children)
    if due is not None and running and spec.concurrency_policy == FORBID:
        text = "Not starting job because prior execution is running and concurrency policy is Forbid"
        result.news.append(News("JobAlreadyActive", text))
        due = None
    if due is not None:
        if spec.concurrency_policy == REPLACE:
            result.then(*(Delete(JOB, child.obj) for child in running))
            running = []
        made = _new_job(obj, due, zone)
        result.then(Create(JOB, made, unless_present=True, success="SuccessfulCreate"))
    status = _status(obj, children, running, due)
    if status != (obj.get("status") or {}):
        result.then(Write(CRON_JOB, obj | {"status": status}, "status"))
    old = [
        *_beyond(children, COMPLETE, spec.successful_jobs_history_limit),
        *_beyond(children, FAILED, spec.failed_jobs_history_limit),
    ]
    result.then(*(Delete(JOB, child.obj) for child in old))
    return result


def _times(cron_job: CronJob, zone: tzinfo, now: float) -> _Times:
    spec = cron_job.spec
    since = _seconds(cron_job.status.last_schedule_time or cron_job.metadata.creation_timestamp, now)
    if spec.starting_deadline_seconds is not None:
        since = max(since, now - spec.starting_deadline_seconds)
    try:
        schedule = parse_schedule(spec.schedule)
    except ScheduleError:
        return _Times(None, None)
    if spec.suspend:
        return _Times(None, None)
    return _Times(schedule.last_time(since, now, zone), schedule.next_time(now, zone))


def _seconds(text: str, otherwise: float) -> float:
    try:
        return parse_timestamp(text)
    except TimestampError:
        return otherwise


def _new_job(obj: Json, due: float, zone: tzinfo) -> Json:
    metadata, template = obj["metadata"], obj["spec"]["jobTemplate"]
    given = template.get("metadata") or {}
    scheduled = datetime.fromtimestamp(due, zone).isoformat().replace("+00:00", "Z")
    return {
        "apiVersion": JOB.api_version,
        "kind": JOB.name,
        "metadata": {
            "name": f"{metadata['name']}-{int(due) // 60}",
            "namespace": metadata["namespace"],
            "labels": dict(given.get("labels") or {}),
            "annotations": {**(given.get("annotations") or {}), SCHEDULED_AT: scheduled},
            "ownerReferences": [owner_reference(CRON_JOB, obj)],
        },
        "spec": template.get("spec") or {},
    }


def _ended(cron_job: CronJob, children: Sequence[_Child]) -> Iterator[News]:
    """Return news of Jobs that the status counts as active still."""
    active = {reference.uid for reference in cron_job.status.active}
    for child in children:
        if child.job.metadata.uid in active and not child.is_running:
            word = COMPLETE if child.job.status.condition(COMPLETE) else FAILED
            text = f"Saw completed job: {child.job.metadata.name}, condition: {word}"
            yield News("SawCompletedJob", text)


def _status(obj: Json, children: Sequence[_Child], running: Sequence[_Child], due: float | None) -> Json:
    before = obj.get("status") or {}
    status = {name: before[name] for name in ("lastScheduleTime", "lastSuccessfulTime") if before.get(name)}
    if running:
        status["active"] = [_reference(child.obj) for child in running]
    if due is not None:
        status["lastScheduleTime"] = format_timestamp(due)
    ends = [child.job.status.completion_time for child in children if child.job.status.condition(COMPLETE)]
    latest = max([*filter(None, ends), before.get("lastSuccessfulTime") or ""])
    return status | ({"lastSuccessfulTime": latest} if latest else {})


def _reference(job: Json) -> Json:
    metadata = job["metadata"]
    place = {name: metadata[name] for name in ("namespace", "name", "uid", "resourceVersion")}
    return {"apiVersion": JOB.api_version, "kind": JOB.name, **place}


def _beyond(children: Sequence[_Child], ending: str, limit: int | None) -> list[_Child]:
    """Return the Jobs with this end that are older than the newest `limit` ones."""
    ended = [child for child in children if child.job.status.condition(ending) and not is_deleting(child.obj)]
    ended.sort(key=lambda child: (child.job.status.start_time, child.job.metadata.name))
    return ended[: max(0, len(ended) - (len(ended) if limit is None else limit))]
