"""Rules for label selectors inside objects, and for the requirements that node selectors share with them."""

import re
from collections.abc import Sequence

from posse.kinds.machinery.checks import formatted
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.metadata import label_errors
from posse.model.formats import label_key, label_value
from posse.model.meta import LabelSelector, LabelSelectorRequirement
from posse.model.placement import NodeSelectorRequirement

WITH_VALUES = ("In", "NotIn")
WITHOUT_VALUES = ("Exists", "DoesNotExist")
COMPARING = ("Gt", "Lt")


def label_selector_errors(field: str, selector: LabelSelector | None) -> list[FieldError]:
    if selector is None:
        return []
    errors = label_errors(f"{field}.matchLabels", selector.match_labels)
    for index, requirement in enumerate(selector.match_expressions):
        path = f"{field}.matchExpressions[{index}]"
        errors += _operator_errors(path, requirement, comparing=())
        errors += formatted(f"{path}.key", requirement.key, label_key)
        errors += _value_errors(path, requirement.values)
    return errors


def node_requirement_errors(path: str, requirement: NodeSelectorRequirement) -> list[FieldError]:
    errors = _operator_errors(path, requirement, comparing=COMPARING)
    errors += formatted(f"{path}.key", requirement.key, label_key)
    if requirement.operator in COMPARING:
        return errors + _integer_errors(path, requirement.values)
    return errors + _value_errors(path, requirement.values)


def _operator_errors(
    path: str, requirement: LabelSelectorRequirement | NodeSelectorRequirement, comparing: Sequence[str]
) -> list[FieldError]:
    operator, count = requirement.operator, len(requirement.values)
    if operator in WITH_VALUES and not count:
        text = "must be specified when `operator` is 'In' or 'NotIn'"
        return [FieldError.required(f"{path}.values", text)]
    if operator in WITHOUT_VALUES and count:
        text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        return [FieldError.forbidden(f"{path}.values", text)]
    if operator in comparing and count != 1:
        text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
        return [FieldError.required(f"{path}.values", text)]
    if operator not in (*WITH_VALUES, *WITHOUT_VALUES, *comparing):
        return [FieldError.invalid(f"{path}.operator", operator, "not a valid selector operator")]
    return []


def _value_errors(path: str, values: Sequence[str]) -> list[FieldError]:
    errors = []
    for index, text in enumerate(values):
        errors += formatted(f"{path}.values[{index}]", text, label_value)
    return errors


def _integer_errors(path: str, values: Sequence[str]) -> list[FieldError]:
    text = "for 'Gt', 'Lt' operators, the value must be an integer"
    return [
        FieldError.invalid(f"{path}.values[{index}]", value, text)
        for index, value in enumerate(values)
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", value)
    ]
