"""Rules for the policies of a Job that relate several fields: which failures of pods count, which pods must
succeed. Their effect is elsewhere.
"""

from posse.kinds.machinery.checks import duplicates
from posse.kinds.machinery.errors import FieldError
from posse.model.indexes import IndexesError, parse_indexes
from posse.model.job import (
    FAIL_INDEX,
    MAX_INDEXES_BYTES,
    JobSpec,
    PodFailurePolicyOnExitCodesRequirement,
    SuccessPolicyRule,
)


def failure_policy_errors(field: str, spec: JobSpec) -> list[FieldError]:
    pod, errors = spec.template.spec, []
    names = [container.name for container in (*pod.containers, *pod.init_containers)]
    for index, rule in enumerate(spec.pod_failure_policy.rules if spec.pod_failure_policy else ()):
        path, codes = f"{field}.rules[{index}]", rule.on_exit_codes
        if rule.action == FAIL_INDEX and spec.backoff_limit_per_index is None:
            text = "requires the backoffLimitPerIndex to be set"
            errors.append(FieldError.invalid(f"{path}.action", rule.action, text))
        if codes is None:
            continue
        if codes.container_name is not None and codes.container_name not in names:
            text = "must be one of the container or initContainer names in the pod template"
            place = f"{path}.onExitCodes.containerName"
            errors.append(FieldError.invalid(place, codes.container_name, text))
        errors += _code_values_errors(f"{path}.onExitCodes.values", codes)
    return errors


def success_policy_errors(field: str, spec: JobSpec) -> list[FieldError]:
    policy = spec.success_policy
    if policy is not None and not spec.is_indexed:
        return [FieldError.invalid(field, policy, "requires indexed completion mode")]
    errors = []
    for index, rule in enumerate(policy.rules if policy is not None else ()):
        errors += _success_rule_errors(f"{field}.rules[{index}]", rule, spec.completions or 0)
    return errors


def _code_values_errors(field: str, codes: PodFailurePolicyOnExitCodesRequirement) -> list[FieldError]:
    text = "must not be 0 for the In operator"
    zeros = [index for index, code in enumerate(codes.values) if code == 0 and codes.operator == "In"]
    errors = [FieldError.invalid(f"{field}[{index}]", 0, text) for index in zeros]
    errors += duplicates(field, codes.values, codes.values)
    if list(codes.values) != sorted(codes.values):
        errors.append(FieldError.invalid(field, codes.values, "must be ordered"))
    return errors


def _success_rule_errors(path: str, rule: SuccessPolicyRule, completions: int) -> list[FieldError]:
    if rule.succeeded_count is None and rule.succeeded_indexes is None:
        text = "at least one of succeededCount or succeededIndexes must be specified"
        return [FieldError.required(path, text)]
    errors = []
    limits = {completions: "the number of specified completions"}
    if rule.succeeded_indexes is not None:
        field = f"{path}.succeededIndexes"
        if len(rule.succeeded_indexes.encode(errors="surrogatepass")) > MAX_INDEXES_BYTES:
            return []
        try:
            count = len(parse_indexes(rule.succeeded_indexes, completions))
        except IndexesError as error:
            text = f"error parsing succeededIndexes: {error}"
            errors.append(FieldError.invalid(field, rule.succeeded_indexes, text))
        else:
            limits[count] = "the number of indexes in the specified succeededIndexes field"
    return errors + _succeeded_count_errors(f"{path}.succeededCount", rule.succeeded_count, limits)


def _succeeded_count_errors(field: str, count: int | None, limits: dict[int, str]) -> list[FieldError]:
    return [
        FieldError.invalid(field, count, f"must be less than or equal to {limit} ({meaning})")
        for limit, meaning in limits.items()
        if count is not None and count > limit
    ]
