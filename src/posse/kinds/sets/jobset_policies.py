"""Rules for the policies of a JobSet: when it has succeeded, what follows a failure, in which order Jobs
start.
"""

import re
from collections.abc import Collection, Iterable

from posse.kinds.machinery.errors import FieldError
from posse.kinds.sets.jobset_gangs import replicas
from posse.model.formats import CONDITION_REASON
from posse.model.jobset import (
    ANY_ORDER,
    IN_ORDER,
    IN_PLACE_RESTART,
    JOB_ACTIONS,
    FailurePolicy,
    FailurePolicyRule,
    JobSetSpec,
    ReplicatedJob,
)

DEPENDENCIES_MAX = 5
RULE_NAME_LENGTH_MAX = 128
BACKOFF_LIMIT_MAX = 2**31 - 1
# Restarts of single Jobs are counted in the status, one number for each.
JOBS_COUNTED_MAX = 1024


def policy_errors(spec: JobSetSpec) -> list[FieldError]:
    names = [job.name for job in spec.replicated_jobs]
    errors = []
    if spec.success_policy is not None:
        field = "spec.successPolicy"
        errors += _target_errors(field, spec.success_policy.target_replicated_jobs, names)
    if spec.failure_policy is not None:
        errors += _failure_policy_errors("spec.failurePolicy", spec.failure_policy, names)
    return errors + _counted_jobs_errors(spec) + _in_place_errors(spec) + _startup_errors(spec)


def may_restart_alone(spec: JobSetSpec) -> bool:
    """Whether a failed Job may be restarted while the others go on."""
    policy = spec.failure_policy
    return policy is not None and any(rule.action in JOB_ACTIONS for rule in policy.rules)


def _counted_jobs_errors(spec: JobSetSpec) -> list[FieldError]:
    if not may_restart_alone(spec):
        return []
    text = f"must be at most {JOBS_COUNTED_MAX} when a rule of the failurePolicy restarts single Jobs"
    return [
        FieldError.invalid(f"spec.replicatedJobs[{index}].replicas", replicas(job), text)
        for index, job in enumerate(spec.replicated_jobs)
        if replicas(job) > JOBS_COUNTED_MAX
    ]


def _in_place_errors(spec: JobSetSpec) -> list[FieldError]:
    """Pods that restart where they are must neither be given up nor be replaced by others meanwhile."""
    if not spec.restarts_in_place:
        return []
    errors = []
    for index, job in enumerate(spec.replicated_jobs):
        field, template = f"spec.replicatedJobs[{index}].template.spec", job.template.spec
        if template.backoff_limit != BACKOFF_LIMIT_MAX:
            text = f"must be {BACKOFF_LIMIT_MAX} when restartStrategy is {IN_PLACE_RESTART}"
            errors.append(FieldError.invalid(f"{field}.backoffLimit", template.backoff_limit, text))
        if template.pod_replacement_policy != "Failed":
            text = f"must be Failed when restartStrategy is {IN_PLACE_RESTART}"
            errors.append(
                FieldError.invalid(f"{field}.podReplacementPolicy", template.pod_replacement_policy, text)
            )
        if template.completions is None or template.completions != template.parallelism:
            text = f"must be set and equal to parallelism when restartStrategy is {IN_PLACE_RESTART}"
            errors.append(FieldError.invalid(f"{field}.completions", template.completions, text))
    return errors


def _target_errors(field: str, targets: Iterable[str], names: Collection[str]) -> list[FieldError]:
    text = "does not name one of the replicatedJobs"
    return [
        FieldError.invalid(f"{field}.targetReplicatedJobs[{index}]", target, text)
        for index, target in enumerate(targets)
        if target not in names
    ]


def _failure_policy_errors(field: str, policy: FailurePolicy, names: Collection[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, rule in enumerate(policy.rules):
        path = f"{field}.rules[{index}]"
        errors += _rule_errors(path, rule, names)
        if rule.name in seen:
            errors.append(FieldError.duplicate(f"{path}.name", rule.name))
        seen.add(rule.name)
    return errors


def _rule_errors(field: str, rule: FailurePolicyRule, names: Collection[str]) -> list[FieldError]:
    errors = []
    if len(rule.name) > RULE_NAME_LENGTH_MAX:
        errors.append(FieldError.too_long(f"{field}.name", RULE_NAME_LENGTH_MAX))
    if not re.fullmatch(CONDITION_REASON, rule.name):
        errors.append(FieldError.invalid(f"{field}.name", rule.name, f"must match '^{CONDITION_REASON}$'"))
    return errors + _target_errors(field, rule.target_replicated_jobs, names)


def _startup_errors(spec: JobSetSpec) -> list[FieldError]:
    order = spec.startup_policy.startup_policy_order if spec.startup_policy is not None else ANY_ORDER
    errors: list[FieldError] = []
    if order == IN_ORDER and any(job.depends_on for job in spec.replicated_jobs):
        text = "startupPolicyOrder InOrder and dependsOn of replicatedJobs are mutually exclusive"
        errors.append(FieldError.invalid("spec", order, text))
    earlier: list[str] = []
    for index, job in enumerate(spec.replicated_jobs):
        errors += _dependency_errors(f"spec.replicatedJobs[{index}].dependsOn", job, earlier)
        earlier.append(job.name)
    return errors


def _dependency_errors(field: str, job: ReplicatedJob, earlier: Collection[str]) -> list[FieldError]:
    if not job.depends_on:
        return []
    if not earlier:
        return [FieldError.forbidden(field, "the first replicatedJob has nothing before it to depend on")]
    if len(job.depends_on) > DEPENDENCIES_MAX:
        return [FieldError.too_many(field, len(job.depends_on), DEPENDENCIES_MAX)]
    errors = []
    for index, dependency in enumerate(job.depends_on):
        if dependency.name not in earlier:
            text = "does not name a replicatedJob that stands before this one"
            errors.append(FieldError.invalid(f"{field}[{index}].name", dependency.name, text))
    return errors
