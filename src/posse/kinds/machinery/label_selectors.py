"""Rules for selectors of labels and of nodes inside objects: which values go with which operator."""

import re
from collections.abc import Mapping

from posse.kinds.machinery.checks import Check, formatted
from posse.kinds.machinery.errors import FieldError
from posse.model.formats import dns_subdomain, label_value
from posse.model.meta import LabelSelectorRequirement, Shape
from posse.model.placement import NodeSelectorRequirement, NodeSelectorTerm

WITH_VALUES = ("In", "NotIn")
WITHOUT_VALUES = ("Exists", "DoesNotExist")
COMPARING = ("Gt", "Lt")


def _count_errors(
    path: str, requirement: LabelSelectorRequirement | NodeSelectorRequirement
) -> list[FieldError]:
    operator, count = requirement.operator, len(requirement.values)
    if operator in WITH_VALUES and not count:
        text = "must be specified when `operator` is 'In' or 'NotIn'"
        return [FieldError.required(f"{path}.values", text)]
    if operator in WITHOUT_VALUES and count:
        text = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        return [FieldError.forbidden(f"{path}.values", text)]
    return []


def _node_requirement_errors(path: str, requirement: NodeSelectorRequirement) -> list[FieldError]:
    errors = _count_errors(path, requirement)
    is_compared = requirement.operator in COMPARING
    if is_compared and len(requirement.values) != 1:
        text = "must be specified single value when `operator` is 'Lt' or 'Gt'"
        errors.append(FieldError.required(f"{path}.values", text))
    for index, value in enumerate(requirement.values):
        field = f"{path}.values[{index}]"
        if not is_compared:
            errors += formatted(field, value, label_value)
        elif not re.fullmatch(r"[+-]?[0-9]{1,19}", value):
            text = "for 'Gt', 'Lt' operators, the value must be an integer"
            errors.append(FieldError.invalid(field, value, text))
    return errors


def _node_fields_errors(path: str, term: NodeSelectorTerm) -> list[FieldError]:
    errors = []
    for index, requirement in enumerate(term.match_fields):
        errors += _node_field_errors(f"{path}.matchFields[{index}]", requirement)
    return errors


def _node_field_errors(path: str, requirement: NodeSelectorRequirement) -> list[FieldError]:
    """The one field of a node that can be asked for is its name."""
    errors = []
    if requirement.operator not in WITH_VALUES:
        text = "not a valid selector operator"
        errors.append(FieldError.invalid(f"{path}.operator", requirement.operator, text))
    elif len(requirement.values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(FieldError.required(f"{path}.values", text))
    if requirement.key != "metadata.name":
        text = "not a valid field selector key"
        return [*errors, FieldError.invalid(f"{path}.key", requirement.key, text)]
    for index, name in enumerate(requirement.values):
        errors += formatted(f"{path}.values[{index}]", name, dns_subdomain)
    return errors


SELECTOR_RULES: Mapping[type[Shape], Check] = {
    LabelSelectorRequirement: _count_errors,
    NodeSelectorRequirement: _node_requirement_errors,
    NodeSelectorTerm: _node_fields_errors,
}
