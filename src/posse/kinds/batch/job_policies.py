"""Rules for the policies of a Job: which failures of pods count, which pods must succeed. Their effect is
elsewhere.
"""

from collections.abc import Collection, Sequence

from posse.kinds.machinery.checks import formatted, not_negative
from posse.kinds.machinery.errors import FieldError
from posse.model.formats import label_key
from posse.model.indexes import IndexesError, parse_indexes
from posse.model.job import (
    JobSpec,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
    SuccessPolicyRule,
)

RULES_MAX = 20
PATTERNS_MAX = 20
EXIT_CODES_MAX = 255
INDEXES_BYTES_MAX = 64 * 1024
FAIL_INDEX = "FailIndex"
ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
OPERATORS = ("In", "NotIn")
STATUSES = ("False", "True", "Unknown")


def failure_policy_errors(field: str, spec: JobSpec) -> list[FieldError]:
    if spec.pod_failure_policy is None:
        return []
    rules = spec.pod_failure_policy.rules
    if len(rules) > RULES_MAX:
        return [FieldError.too_many(f"{field}.rules", len(rules), RULES_MAX)]
    errors = []
    for index, rule in enumerate(rules):
        errors += _failure_rule_errors(f"{field}.rules[{index}]", rule, spec)
    return errors


def success_policy_errors(field: str, spec: JobSpec) -> list[FieldError]:
    if spec.success_policy is None:
        return []
    if not spec.is_indexed:
        return [FieldError.invalid(field, spec.success_policy, "requires indexed completion mode")]
    rules = spec.success_policy.rules
    if not rules:
        text = "at least one rules must be specified when the successPolicy is specified"
        return [FieldError.required(f"{field}.rules", text)]
    if len(rules) > RULES_MAX:
        return [FieldError.too_many(f"{field}.rules", len(rules), RULES_MAX)]
    errors = []
    for index, rule in enumerate(rules):
        errors += _success_rule_errors(f"{field}.rules[{index}]", rule, spec.completions or 0)
    return errors


def _failure_rule_errors(path: str, rule: PodFailurePolicyRule, spec: JobSpec) -> list[FieldError]:
    errors = _choice_errors(f"{path}.action", rule.action, ACTIONS)
    if rule.action == FAIL_INDEX and spec.backoff_limit_per_index is None:
        text = "requires the backoffLimitPerIndex to be set"
        errors.append(FieldError.invalid(f"{path}.action", rule.action, text))
    if rule.on_exit_codes is not None:
        pod = spec.template.spec
        names = [container.name for container in (*pod.containers, *pod.init_containers)]
        errors += _exit_codes_errors(f"{path}.onExitCodes", rule.on_exit_codes, names)
    errors += _patterns_errors(f"{path}.onPodConditions", rule.on_pod_conditions)
    if rule.on_exit_codes is not None and rule.on_pod_conditions:
        text = "specifying both OnExitCodes and OnPodConditions is not supported"
        errors.append(FieldError.invalid(path, None, text))
    elif rule.on_exit_codes is None and not rule.on_pod_conditions:
        text = "specifying one of OnExitCodes and OnPodConditions is required"
        errors.append(FieldError.invalid(path, None, text))
    return errors


def _choice_errors(field: str, value: str, supported: Sequence[str]) -> list[FieldError]:
    if not value:
        names = " ".join(f'"{name}"' for name in supported)
        return [FieldError.required(field, f"valid values: [{names}]")]
    return [] if value in supported else [FieldError.not_supported(field, value, supported)]


def _exit_codes_errors(
    path: str, codes: PodFailurePolicyOnExitCodesRequirement, containers: Collection[str]
) -> list[FieldError]:
    errors = _choice_errors(f"{path}.operator", codes.operator, OPERATORS)
    if codes.container_name is not None and codes.container_name not in containers:
        text = "must be one of the container or initContainer names in the pod template"
        errors.append(FieldError.invalid(f"{path}.containerName", codes.container_name, text))
    field = f"{path}.values"
    if not codes.values:
        errors.append(FieldError.invalid(field, codes.values, "at least one value is required"))
    elif len(codes.values) > EXIT_CODES_MAX:
        errors.append(FieldError.too_many(field, len(codes.values), EXIT_CODES_MAX))
    return errors + _code_values_errors(field, codes)


def _code_values_errors(field: str, codes: PodFailurePolicyOnExitCodesRequirement) -> list[FieldError]:
    errors = []
    seen: set[int] = set()
    for index, code in enumerate(codes.values):
        if codes.operator == "In" and code == 0:
            errors.append(FieldError.invalid(f"{field}[{index}]", code, "must not be 0 for the In operator"))
        if code in seen:
            errors.append(FieldError.duplicate(f"{field}[{index}]", code))
        seen.add(code)
    if list(codes.values) != sorted(codes.values):
        errors.append(FieldError.invalid(field, codes.values, "must be ordered"))
    return errors


def _patterns_errors(
    field: str, patterns: Sequence[PodFailurePolicyOnPodConditionsPattern]
) -> list[FieldError]:
    if len(patterns) > PATTERNS_MAX:
        return [FieldError.too_many(field, len(patterns), PATTERNS_MAX)]
    errors = []
    for index, pattern in enumerate(patterns):
        errors += formatted(f"{field}[{index}].type", pattern.type, label_key)
        errors += _choice_errors(f"{field}[{index}].status", pattern.status, STATUSES)
    return errors


def _success_rule_errors(path: str, rule: SuccessPolicyRule, completions: int) -> list[FieldError]:
    if rule.succeeded_count is None and rule.succeeded_indexes is None:
        text = "at least one of succeededCount or succeededIndexes must be specified"
        return [FieldError.required(path, text)]
    errors = []
    limits = {completions: "the number of specified completions"}
    if rule.succeeded_indexes is not None:
        field = f"{path}.succeededIndexes"
        if len(rule.succeeded_indexes.encode(errors="surrogatepass")) > INDEXES_BYTES_MAX:
            return [FieldError.too_long(field, INDEXES_BYTES_MAX)]
        try:
            count = len(parse_indexes(rule.succeeded_indexes, completions))
        except IndexesError as error:
            text = f"error parsing succeededIndexes: {error}"
            errors.append(FieldError.invalid(field, rule.succeeded_indexes, text))
        else:
            limits[count] = "the number of indexes in the specified succeededIndexes field"
    return errors + _succeeded_count_errors(f"{path}.succeededCount", rule.succeeded_count, limits)


def _succeeded_count_errors(field: str, count: int | None, limits: dict[int, str]) -> list[FieldError]:
    errors = not_negative(field, count)
    for limit, meaning in limits.items():
        if count is not None and count > limit:
            text = f"must be less than or equal to {limit} ({meaning})"
            errors.append(FieldError.invalid(field, count, text))
    return errors
