"""Whether a JobSet has come to its end: what its success policy makes of the Jobs that are done, and its
failure policy of those that have failed.
"""

import re
from collections.abc import Sequence

from posse.controllers.jobsets.children import ChildJob, Children
from posse.controllers.jobsets.names import COMPLETED_TOTAL, FAILED_TOTAL
from posse.controllers.jobsets.statuses import StatusDraft
from posse.controllers.steps import News
from posse.kinds.sets.jobset_gangs import replicas
from posse.model.jobset import (
    COMPLETED,
    FAIL_JOB_SET,
    FAILED,
    JOB_ACTIONS,
    RESTART_JOB_SET,
    RESTARTING,
    UNCOUNTED_ACTIONS,
    FailurePolicyRule,
    JobSet,
    JobSetSuccessPolicy,
)

ANY = "Any"
# Reason and message.
REACHED_MAX = ("ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")


def has_succeeded(jobset: JobSet, children: Children) -> bool:
    policy = jobset.spec.success_policy or JobSetSuccessPolicy()
    targets = frozenset(policy.target_replicated_jobs or (job.name for job in jobset.spec.replicated_jobs))
    done = sum(job.replicated_job in targets for job in children.successful)
    if policy.operator == ANY:
        return done > 0
    return 0 < done == sum(replicas(job) for job in jobset.spec.replicated_jobs if job.name in targets)


def complete(draft: StatusDraft) -> None:
    draft.lift(RESTARTING, "JobSetCompleted", "jobset completed while it was restarting")
    draft.hold(COMPLETED, News("AllJobsCompleted", "jobset completed successfully", counter=COMPLETED_TOTAL))
    draft.status["terminalState"] = COMPLETED


def after_failure(jobset: JobSet, failed: Sequence[ChildJob], draft: StatusDraft) -> None:
    """Fail the JobSet, or restart it or a Job, as its failure policy says of the Jobs that have failed.

    Jobs that are to be restarted alone are taken one by one: the next has its turn in the next plan.
    """
    policy = jobset.spec.failure_policy
    if policy is None:
        text = f"jobset failed due to one or more job failures{_words(_first(failed))}"
        fail(draft, "FailedJobs", text)
        return
    rule, matching = _first_match(policy.rules, failed)
    action, first = rule.action if rule is not None else RESTART_JOB_SET, _first(matching)
    if action == FAIL_JOB_SET:
        text = f"applying FailJobSet failure policy action{_words(first)}"
        fail(draft, "FailJobSetFailurePolicyAction", text)
        return
    counts = action not in UNCOUNTED_ACTIONS
    if counts and jobset.status.counted_restarts >= policy.max_restarts:
        reason, text = REACHED_MAX
        fail(draft, reason, f"{text}{_words(first)}")
        return
    reason = "DefaultFailurePolicy" if rule is None else f"FailurePolicy_{rule.name}"
    text = f"applying {action} failure policy action{_words(first)}"
    if action in JOB_ACTIONS:
        draft.restart_job(first, counts_towards_max=counts)
    else:
        draft.restart(counts_towards_max=counts)
    draft.hold(RESTARTING, News(reason, text, is_warning=True))
    draft.news.append(News(f"{action}FailurePolicyAction", text, is_warning=True))


def fail(draft: StatusDraft, reason: str, message: str) -> None:
    draft.lift(RESTARTING, "JobSetFailed", "jobset failed while it was restarting")
    draft.hold(FAILED, News(reason, message, is_warning=True, counter=FAILED_TOTAL))
    draft.status["terminalState"] = FAILED


def _first_match(
    rules: Sequence[FailurePolicyRule], failed: Sequence[ChildJob]
) -> tuple[FailurePolicyRule | None, Sequence[ChildJob]]:
    for rule in rules:
        matching = [job for job in failed if _matches(rule, job)]
        if matching:
            return rule, matching
    return None, failed


def _matches(rule: FailurePolicyRule, job: ChildJob) -> bool:
    failure = job.failure
    if failure is None:
        return False
    patterns = rule.on_job_failure_message_patterns
    return (
        (not rule.on_job_failure_reasons or failure.reason in rule.on_job_failure_reasons)
        and (not rule.target_replicated_jobs or job.replicated_job in rule.target_replicated_jobs)
        and (not patterns or any(_is_found(pattern, failure.message) for pattern in patterns))
    )


def _is_found(pattern: str, message: str) -> bool:
    """A pattern that is none is found nowhere."""
    try:
        return re.search(pattern, message) is not None
    except re.error:
        return False


def _first(failed: Sequence[ChildJob]) -> ChildJob:
    return min(failed, key=lambda job: (job.failure.last_transition_time if job.failure else "", job.name))


def _words(first: ChildJob) -> str:
    return f" (first failed job: {first.name})"
