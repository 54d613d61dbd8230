"""Rules for the capacities of devices: how much of one a claim may consume."""

from functools import partial

from posse.kinds.machinery.checks import duplicates
from posse.kinds.machinery.declared import Rules, Whole, fields_errors
from posse.kinds.machinery.errors import FieldError
from posse.model.device import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from posse.model.meta import Quantity
from posse.model.quantity import canonical, nano_value

VALID_VALUES_MAX = 10


def _capacity_errors(
    path: str, capacity: DeviceCapacity, rules: Rules, *, is_shared: bool
) -> list[FieldError]:
    """Kubernetes refuses what is no quantity before it looks at anything else."""
    errors = fields_errors(path, capacity, rules, "value", "requestPolicy")
    return errors or _policy_errors(f"{path}.requestPolicy", capacity, is_shared=is_shared)


def _policy_errors(field: str, capacity: DeviceCapacity, *, is_shared: bool) -> list[FieldError]:
    if capacity.request_policy is None:
        return []
    if not is_shared:
        return [FieldError.forbidden(field, "allowMultipleAllocations must be true")]
    return _form_errors(field, capacity.request_policy, capacity.value)


def _form_errors(field: str, policy: CapacityRequestPolicy, whole: Quantity) -> list[FieldError]:
    if policy.valid_values and policy.valid_range is not None:
        text = (
            'exactly one policy can be specified, cannot specify "validValues" and "validRange" '
            "at the same time"
        )
        return [FieldError.forbidden(field, text)]
    form = "validValues" if policy.valid_values else "validRange" if policy.valid_range is not None else ""
    if form and policy.default is None:
        return [FieldError.required(f"{field}.default", f"required when {form} is defined")]
    if policy.valid_values:
        return _value_errors(f"{field}.validValues", policy, whole)
    if policy.valid_range is not None and policy.default is not None:
        return _range_errors(f"{field}.validRange", policy.default, policy.valid_range, whole)
    return []


def _value_errors(field: str, policy: CapacityRequestPolicy, whole: Quantity) -> list[FieldError]:
    values = [nano_value(value) for value in policy.valid_values]
    if len(values) > VALID_VALUES_MAX:
        return [FieldError.too_many(field, len(values), VALID_VALUES_MAX)]
    errors = []
    for index, value in enumerate(policy.valid_values):
        path = f"{field}[{index}]"
        if index and values[index - 1] > values[index]:
            errors.append(_invalid(path, value, "values must be sorted in ascending order"))
        if values[index] > nano_value(whole):
            errors.append(_invalid(path, value, f"option is larger than capacity value: {canonical(whole)}"))
    errors += duplicates(field, values, [canonical(value) for value in policy.valid_values])
    if policy.default is not None and nano_value(policy.default) not in values:
        text = "default value is not valid according to the requestPolicy"
        errors.append(_invalid(field, policy.default, text))
    return errors


def _range_errors(
    field: str, default: Quantity, valid: CapacityRequestPolicyRange, whole: Quantity
) -> list[FieldError]:
    if valid.min is None:
        return [FieldError.required(f"{field}.min", "required when validRange is defined")]
    errors = []
    capacity = f"capacity value: {canonical(whole)}"
    if nano_value(valid.min) > nano_value(whole):
        errors.append(_invalid(f"{field}.min", valid.min, f"min is larger than {capacity}"))
    if nano_value(default) < nano_value(valid.min):
        text = f"default is less than min: {canonical(valid.min)}"
        errors.append(_invalid(f"{field}.default", default, text))
    if valid.max is not None:
        most = canonical(valid.max)
        if nano_value(valid.min) > nano_value(valid.max):
            errors.append(_invalid(f"{field}.max", valid.min, f"min is larger than max: {most}"))
        if nano_value(valid.max) > nano_value(whole):
            errors.append(_invalid(f"{field}.max", valid.max, f"max is larger than {capacity}"))
        if nano_value(default) > nano_value(valid.max):
            errors.append(_invalid(f"{field}.default", default, f"default is more than max: {most}"))
    if valid.step is not None:
        errors += _step_errors(f"{field}.step", default, valid, valid.min, valid.step, whole)
    return errors


def _step_errors(
    field: str,
    default: Quantity,
    valid: CapacityRequestPolicyRange,
    least: Quantity,
    step: Quantity,
    whole: Quantity,
) -> list[FieldError]:
    if nano_value(step) <= 0:
        return [_invalid(field, step, "must be greater than zero")]
    errors = []
    if nano_value(least) + nano_value(step) > nano_value(whole):
        text = f"one step beyond min is larger than capacity value: {canonical(whole)}"
        errors.append(_invalid(field, step, text))
    text = f"value is not a multiple of a given step ({canonical(step)}) from ({canonical(least)})"
    return errors + [
        _invalid(field, value, text)
        for value in (default, valid.max)
        if value is not None and (nano_value(value) - nano_value(least)) % nano_value(step)
    ]


def _invalid(field: str, amount: Quantity, text: str) -> FieldError:
    return FieldError.invalid(field, canonical(amount), text)


CAPACITY_RULES: Rules = {DeviceCapacity: Whole(partial(_capacity_errors, is_shared=False))}
SHARED_CAPACITY_RULES: Rules = {DeviceCapacity: Whole(partial(_capacity_errors, is_shared=True))}
"""Of devices that several claims may share."""
