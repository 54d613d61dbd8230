"""Rules for how a Job wants its pods scheduled as a group. Left out, the policy is basic and a gang is as large as the Job."""

from msgspec import structs

from posse.kinds.machinery.checks import immutable, union
from posse.kinds.machinery.errors import FieldError
from posse.kinds.scheduling.group_fields import (
    constraints_errors,
    disruption_mode_errors,
    resource_claims_errors,
)
from posse.model.job import JobGangSchedulingPolicy, JobSchedulingPolicy, JobSchedulingSpec, JobSpec

DEFAULT_PARALLELISM = 1


def scheduling_errors(field: str, spec: JobSpec) -> list[FieldError]:
    scheduling = spec.scheduling
    if scheduling is None:
        return []
    policy = scheduling.scheduling_policy or JobSchedulingPolicy()
    errors = _policy_errors(f"{field}.schedulingPolicy", policy, spec)
    errors += constraints_errors(f"{field}.schedulingConstraints", scheduling.scheduling_constraints)
    errors += disruption_mode_errors(f"{field}.disruptionMode", scheduling.disruption_mode)
    errors += resource_claims_errors(f"{field}.resourceClaims", scheduling.resource_claims)
    mode = scheduling.disruption_mode
    if policy.gang is None and mode is not None and mode.all is not None:
        text = "may only be set with a gang; pods of the basic policy have no need of each other"
        errors.append(FieldError.forbidden(f"{field}.disruptionMode.all", text))
    return errors


def _policy_errors(field: str, policy: JobSchedulingPolicy, spec: JobSpec) -> list[FieldError]:
    if policy == JobSchedulingPolicy():
        return []
    errors = union(field, policy, None, ("basic", "gang"))
    minimum = policy.gang.min_count if policy.gang is not None else None
    if minimum is not None:
        parallelism = DEFAULT_PARALLELISM if spec.parallelism is None else spec.parallelism
        if minimum < 1:
            text = "must be greater than or equal to 1"
            errors.append(FieldError.invalid(f"{field}.gang.minCount", minimum, text))
        elif minimum > parallelism:
            text = f"must be less than or equal to parallelism ({parallelism})"
            errors.append(FieldError.invalid(f"{field}.gang.minCount", minimum, text))
    return errors


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
