"""Whether a Job has succeeded or failed. Its remaining pods are deleted and waited for afterwards."""

from typing import NamedTuple

from posse.controllers.jobs.tally import Tally, succeeded
from posse.model.indexes import known_indexes
from posse.model.job import FAILURE_TARGET, SUCCESS_CRITERIA_MET, Job, JobSpec, SuccessPolicyRule
from posse.model.timestamps import TimestampError, parse_timestamp


class JobCompletion(NamedTuple):
    """How the Job ends: the type of the condition that says so first, with its reason and message."""

    condition: str
    reason: str
    message: str

    @property
    def is_success(self) -> bool:
        return self.condition == SUCCESS_CRITERIA_MET


COMPLETIONS_REACHED = JobCompletion(
    SUCCESS_CRITERIA_MET, "CompletionsReached", "Reached expected number of succeeded pods"
)
BACKOFF_LIMIT_EXCEEDED = JobCompletion(
    FAILURE_TARGET, "BackoffLimitError", "Job has reached the specified backoff limit"
)
DEADLINE_EXCEEDED = JobCompletion(
    FAILURE_TARGET, "DeadlineExceeded", "Job was active longer than specified deadline"
)
TOO_MANY_FAILED_INDEXES = JobCompletion(
    FAILURE_TARGET,
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
)
FAILED_INDEXES = JobCompletion(FAILURE_TARGET, "FailedIndexes", "Job has failed indexes")


def decided_verdict(job: Job) -> JobCompletion | None:
    """Return the verdict that was written before; it is final."""
    for kind in (FAILURE_TARGET, SUCCESS_CRITERIA_MET):
        condition = job.status.condition(kind)
        if condition is not None:
            return JobCompletion(kind, condition.reason, condition.message)
    return None


def new_verdict(job: Job, tally: Tally, now: float) -> JobCompletion | None:
    if tally.fail_job_message:
        return JobCompletion(FAILURE_TARGET, "PodFailurePolicy", tally.fail_job_message)
    if _is_past_backoff_limit(job.spec, tally):
        return BACKOFF_LIMIT_EXCEEDED
    deadline = deadline_of(job)
    if deadline is not None and now >= deadline:
        return DEADLINE_EXCEEDED
    return (
        _success_by_policy(job.spec, tally)
        or _verdict_on_indexes(job.spec, tally)
        or _completion(job.spec, tally)
    )


def deadline_of(job: Job) -> float | None:
    """A suspended Job has no start time, and so no deadline."""
    if job.spec.active_deadline_seconds is None or job.spec.suspend:
        return None
    try:
        return parse_timestamp(job.status.start_time) + job.spec.active_deadline_seconds
    except TimestampError:
        return None


def _is_past_backoff_limit(spec: JobSpec, tally: Tally) -> bool:
    limit = spec.backoff_limit or 0
    if tally.failed > limit:
        return True
    if spec.template.spec.restart_policy != "OnFailure":
        return False
    # These pods start again in place, so their failures show as restarts.
    restarts = sum(pod.restarts for pod in tally.active)
    return restarts >= limit if limit else restarts > 0


def _success_by_policy(spec: JobSpec, tally: Tally) -> JobCompletion | None:
    for number, rule in enumerate(spec.success_policy.rules if spec.success_policy else ()):
        if _is_met(rule, spec, tally):
            return JobCompletion(SUCCESS_CRITERIA_MET, "SuccessPolicy", f"Matched rules at index {number}")
    return None


def _is_met(rule: SuccessPolicyRule, spec: JobSpec, tally: Tally) -> bool:
    completed = tally.completed_indexes
    if rule.succeeded_indexes is None:
        return len(completed) >= (rule.succeeded_count or 0)
    wanted = known_indexes(rule.succeeded_indexes, spec.completions or 0)
    needed = len(wanted) if rule.succeeded_count is None else rule.succeeded_count
    return len(wanted) - len(wanted - completed) >= needed


def _verdict_on_indexes(spec: JobSpec, tally: Tally) -> JobCompletion | None:
    if not tally.failed_indexes:
        return None
    if spec.max_failed_indexes is not None and len(tally.failed_indexes) > spec.max_failed_indexes:
        return TOO_MANY_FAILED_INDEXES
    ended = len(tally.failed_indexes) + len(tally.completed_indexes)
    return FAILED_INDEXES if ended >= (spec.completions or 0) else None


def _completion(spec: JobSpec, tally: Tally) -> JobCompletion | None:
    count = succeeded(tally, spec)
    # Without a number the first success says that the work is done; the others are left to finish theirs.
    is_done = count >= spec.completions if spec.completions is not None else count and not tally.active
    return COMPLETIONS_REACHED if is_done else None
