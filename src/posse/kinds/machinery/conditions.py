"""The rules for conditions: those of the scheduling kinds and disruption budgets (metav1), and of pods and nodes."""

from collections.abc import Sequence

from posse.kinds.machinery.checks import formatted, required
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.formats import condition_reason, label_key
from posse.model.meta import Condition
from posse.model.node import NodeCondition
from posse.model.pod import PodCondition

STATUSES = ("True", "False", "Unknown")
REASON_BYTES_MAX = 1024
MESSAGE_BYTES_MAX = 32768


def conditions_errors(field: str, conditions: Sequence[Condition]) -> list[FieldError]:
    errors = []
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        path = f"{field}[{index}]"
        if condition.type in seen:
            errors.append(FieldError.duplicate(f"{path}.type", condition.type))
        seen.add(condition.type)
        errors += _condition_errors(path, condition)
    return errors


def core_conditions_errors(
    field: str,
    new: Sequence[PodCondition | NodeCondition],
    old: Sequence[PodCondition | NodeCondition] = (),
) -> list[FieldError]:
    """Judge the conditions of a pod or node, which need no reason and no time; those it had before may stay."""
    errors = []
    for index, condition in enumerate(new):
        if condition not in old:
            errors += required(f"{field}[{index}].type", condition.type, label_key)
            errors += _status_errors(f"{field}[{index}].status", condition.status)
    return errors


def _condition_errors(path: str, condition: Condition) -> list[FieldError]:
    errors = formatted(f"{path}.type", condition.type, label_key)
    errors += _status_errors(f"{path}.status", condition.status)
    if condition.observed_generation < 0:
        text = "must be greater than or equal to zero"
        errors.append(FieldError.invalid(f"{path}.observedGeneration", condition.observed_generation, text))
    if not condition.last_transition_time:
        errors.append(FieldError.required(f"{path}.lastTransitionTime", "must be set"))
    errors += _reason_errors(f"{path}.reason", condition.reason)
    if len(condition.message.encode(errors="surrogatepass")) > MESSAGE_BYTES_MAX:
        errors.append(FieldError.too_long(f"{path}.message", MESSAGE_BYTES_MAX))
    return errors


def _status_errors(path: str, status: str) -> list[FieldError]:
    return [] if status in STATUSES else [FieldError.not_supported(path, status, STATUSES)]


def _reason_errors(path: str, reason: str) -> list[FieldError]:
    if not reason:
        return [FieldError.required(path, "must be set")]
    errors = formatted(path, reason, condition_reason)
    if len(reason.encode(errors="surrogatepass")) > REASON_BYTES_MAX:
        errors.append(FieldError.too_long(path, REASON_BYTES_MAX))
    return errors
