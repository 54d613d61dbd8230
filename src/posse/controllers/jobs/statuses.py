"""The status of a Job as it is to be written: counters, indexes, conditions and times."""

from typing import Any, NamedTuple

from posse.controllers.jobs.completion import JobCompletion
from posse.controllers.jobs.tally import Tally
from posse.controllers.steps import News
from posse.model.job import COMPLETE, FAILED, SUSPENDED, Job
from posse.model.timestamps import format_timestamp

Json = dict[str, Any]


class NextJobStatus(NamedTuple):
    status: Json
    news: tuple[News, ...]
    """Told once the status is written."""


def next_status(
    obj: Json, job: Job, tally: Tally, verdict: JobCompletion | None, now: float
) -> NextJobStatus:
    """Return the whole status. Conditions that others have set stay as they are."""
    before = obj.get("status") or {}
    time = format_timestamp(now)
    status = _with_counts({"conditions": list(before.get("conditions") or [])}, job, tally)
    if before.get("startTime"):
        status["startTime"] = before["startTime"]
    news: list[News] = []
    if verdict is None:
        news += _suspend_or_resume(status, job, time)
    else:
        _set(status, verdict.condition, "True", verdict, time)
        if tally.is_settled:
            news.append(_finish(status, verdict, time))
    if not job.spec.suspend and "startTime" not in status:
        status["startTime"] = time
    if not status["conditions"]:
        del status["conditions"]
    return NextJobStatus(status, tuple(news))


def _with_counts(status: Json, job: Job, tally: Tally) -> Json:
    counts = {
        "active": len(tally.active),
        "succeeded": len(tally.completed_indexes) if job.spec.is_indexed else tally.succeeded_counted,
        "failed": tally.failed_counted,
    }
    status |= {name: count for name, count in counts.items() if count}
    status["ready"] = len([pod for pod in tally.active if pod.is_ready])
    status["terminating"] = len(tally.terminating)
    names = {"succeeded": tally.uncounted_succeeded, "failed": tally.uncounted_failed}
    status["uncountedTerminatedPods"] = {name: uids for name, uids in names.items() if uids}
    if tally.completed_indexes:
        status["completedIndexes"] = str(tally.completed_indexes)
    if job.spec.backoff_limit_per_index is not None:
        status["failedIndexes"] = str(tally.failed_indexes)
    return status


def _suspend_or_resume(status: Json, job: Job, time: str) -> list[News]:
    was_suspended = job.status.condition(SUSPENDED) is not None
    if job.spec.suspend:
        status.pop("startTime", None)
        if was_suspended:
            return []
        _set(status, SUSPENDED, "True", JobCompletion(SUSPENDED, "JobSuspended", "Job suspended"), time)
        return [News("Suspended", "Job suspended")]
    if not was_suspended:
        return []
    _set(status, SUSPENDED, "False", JobCompletion(SUSPENDED, "JobResumed", "Job resumed"), time)
    # The time before does not count against the deadline.
    status["startTime"] = time
    return [News("Resumed", "Job resumed")]


def _finish(status: Json, verdict: JobCompletion, time: str) -> News:
    if not verdict.is_success:
        _set(status, FAILED, "True", verdict, time)
        return News(verdict.reason, verdict.message, is_warning=True)
    _set(status, COMPLETE, "True", verdict, time)
    status["completionTime"] = time
    return News("Completed", "Job completed")


def _set(status: Json, kind: str, value: str, cause: JobCompletion, time: str) -> None:
    conditions = status["conditions"]
    if any(item.get("type") == kind and item.get("status") == value for item in conditions):
        return
    condition = {
        "type": kind,
        "status": value,
        "lastProbeTime": time,
        "lastTransitionTime": time,
        "reason": cause.reason,
        "message": cause.message,
    }
    others = [item for item in conditions if item.get("type") != kind]
    status["conditions"] = [*others, condition]
