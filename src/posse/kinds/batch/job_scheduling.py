"""Rules for how a Job wants its pods scheduled as a group. Left out, the policy is basic and a gang is as
large as the Job.
"""

from msgspec import structs

from posse.kinds.machinery.checks import immutable
from posse.kinds.machinery.errors import FieldError
from posse.model.job import JobGangSchedulingPolicy, JobSchedulingPolicy, JobSchedulingSpec, JobSpec

DEFAULT_PARALLELISM = 1


def scheduling_errors(field: str, spec: JobSpec) -> list[FieldError]:
    scheduling = spec.scheduling
    if scheduling is None:
        return []
    policy = scheduling.scheduling_policy or JobSchedulingPolicy()
    errors = _minimum_errors(field, policy, spec)
    mode = scheduling.disruption_mode
    if policy.gang is None and mode is not None and mode.all is not None:
        text = "may only be set with a gang; pods of the basic policy have no need of each other"
        errors.append(FieldError.forbidden(f"{field}.disruptionMode.all", text))
    return errors


def _minimum_errors(field: str, policy: JobSchedulingPolicy, spec: JobSpec) -> list[FieldError]:
    minimum = policy.gang.min_count if policy.gang is not None else None
    parallelism = DEFAULT_PARALLELISM if spec.parallelism is None else spec.parallelism
    if minimum is None or minimum <= max(parallelism, 0):
        return []
    text = f"must be less than or equal to parallelism ({parallelism})"
    return [FieldError.invalid(f"{field}.schedulingPolicy.gang.minCount", minimum, text)]


def scheduling_update_errors(
    field: str, new: JobSchedulingSpec | None, old: JobSchedulingSpec | None
) -> list[FieldError]:
    if new is None or old is None:
        return [] if new is old else [immutable(field)]
    return [] if _without_minimum(new) == _without_minimum(old) else [immutable(field)]


def _without_minimum(scheduling: JobSchedulingSpec) -> JobSchedulingSpec:
    policy = scheduling.scheduling_policy
    if policy is None or policy.gang is None:
        return scheduling
    policy = structs.replace(policy, gang=JobGangSchedulingPolicy())
    return structs.replace(scheduling, scheduling_policy=policy)
