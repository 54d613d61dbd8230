"""Rules that classes, claims and slices share: CEL expressions, tolerations, binding conditions."""

from posse.cel import CelError, CostLimitError, device_selector
from posse.kinds.machinery.checks import formatted
from posse.kinds.machinery.declared import Rules, Whole, fields_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.label_selectors import SELECTOR_RULES
from posse.model.device import Device
from posse.model.formats import label_value
from posse.model.resource_claim import (
    EXISTS,
    CELDeviceSelector,
    DeviceRequestAllocationResult,
    DeviceToleration,
)


def _expression_errors(path: str, selector: CELDeviceSelector, rules: Rules) -> list[FieldError]:
    if errors := fields_errors(path, selector, rules, "expression"):
        return errors
    field, expression = f"{path}.expression", selector.expression
    try:
        device_selector(expression)
    except CostLimitError as error:
        return [FieldError.forbidden(field, str(error))]
    except CelError as error:
        stage = "compilation failed: " if error.is_located else ""
        return [FieldError.invalid(field, expression, f"{stage}{error}")]
    return []


def _toleration_errors(path: str, toleration: DeviceToleration) -> list[FieldError]:
    field, value = f"{path}.value", toleration.value
    if toleration.operator != EXISTS:
        return formatted(field, value, label_value)
    return [FieldError.invalid(field, value, "must be empty for operator `Exists`")] if value else []


def binding_errors(path: str, device: Device | DeviceRequestAllocationResult) -> list[FieldError]:
    """Both lists of conditions are set or none is, and no condition is in both."""
    wanted, failing = device.binding_conditions, device.binding_failure_conditions
    overlap = "bindingFailureConditions must not overlap with bindingConditions"
    errors = [
        FieldError.invalid(f"{path}.bindingFailureConditions[{index}]", name, overlap)
        for index, name in enumerate(failing)
        if name in wanted
    ]
    if failing and not wanted:
        text = "bindingConditions are required to use bindingFailureConditions"
        errors.append(FieldError.invalid(f"{path}.bindingConditions", wanted, text))
    if wanted and not failing:
        text = "bindingFailureConditions are required to use bindingConditions"
        errors.append(FieldError.invalid(f"{path}.bindingFailureConditions", failing, text))
    return errors


DEVICE_RULES: Rules = {
    **SELECTOR_RULES,
    CELDeviceSelector: Whole(_expression_errors),
    DeviceToleration: _toleration_errors,
}
