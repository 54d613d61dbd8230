"""Rules for where a pod may go that relate several fields: tolerations, pod affinity, topology spread."""

from collections.abc import Sequence

from posse.kinds.machinery.checks import duplicates, formatted
from posse.kinds.machinery.declared import Rules, declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.label_selectors import SELECTOR_RULES
from posse.model.formats import label_value
from posse.model.meta import LabelSelector
from posse.model.placement import (
    DO_NOT_SCHEDULE,
    PodAffinityTerm,
    Toleration,
    TopologySpreadConstraint,
)


def _toleration_errors(path: str, toleration: Toleration) -> list[FieldError]:
    errors = []
    if not toleration.key and toleration.operator != "Exists":
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        errors.append(FieldError.invalid(f"{path}.operator", toleration.operator, text))
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        errors.append(FieldError.invalid(f"{path}.effect", toleration.effect, text))
    if toleration.operator in {"", "Equal"}:
        errors += formatted(f"{path}.operator", toleration.value, label_value)
    elif toleration.operator == "Exists" and toleration.value:
        text = "value must be empty when `operator` is 'Exists'"
        errors.append(FieldError.invalid(f"{path}.operator", toleration, text))
    return errors


def _pod_term_errors(path: str, term: PodAffinityTerm) -> list[FieldError]:
    return _label_keys_errors(path, term.match_label_keys, term.mismatch_label_keys, term.label_selector)


def spread_errors(field: str, constraints: Sequence[TopologySpreadConstraint]) -> list[FieldError]:
    errors = []
    for index, constraint in enumerate(constraints):
        errors += declared_errors(f"{field}[{index}]", constraint, rules=PLACEMENT_RULES)
    return errors + repeated_spread_errors(field, constraints)


def repeated_spread_errors(field: str, constraints: Sequence[TopologySpreadConstraint]) -> list[FieldError]:
    keys = [f"{{{each.topology_key}, {each.when_unsatisfiable}}}" for each in constraints]
    return duplicates(field, keys, keys, ".{topologyKey, whenUnsatisfiable}")


def _spread_constraint_errors(path: str, constraint: TopologySpreadConstraint) -> list[FieldError]:
    errors = _label_keys_errors(path, constraint.match_label_keys, (), constraint.label_selector)
    count, effect = constraint.min_domains, constraint.when_unsatisfiable
    if count is not None and count > 0 and effect != DO_NOT_SCHEDULE:
        text = f"can only use minDomains if whenUnsatisfiable={DO_NOT_SCHEDULE}, not {effect}"
        errors.append(FieldError.invalid(f"{path}.minDomains", count, text))
    return errors


def _label_keys_errors(
    path: str, same: Sequence[str], other: Sequence[str], selector: LabelSelector | None
) -> list[FieldError]:
    """The paths of clashes are those that Kubernetes gives."""
    if not same and not other:
        return []
    errors = []
    for name, keys in (("matchLabelKeys", same), ("mismatchLabelKeys", other)):
        if keys and selector is None:
            text = "must not be specified when labelSelector is not set"
            errors.append(FieldError.forbidden(f"{path}.{name}", text))
    twice = "exists in both matchLabelKeys and labelSelector"
    clashes = [key for key in _repeated_keys(selector) if key in same]
    errors += [FieldError.invalid(f"{path}[{_last_index(same, key)}]", key, twice) for key in clashes]
    both = "exists in both matchLabelKeys and mismatchLabelKeys"
    return errors + [
        FieldError.invalid(f"{path}.matchLabelKeys[{index}]", key, both)
        for index, key in enumerate(same)
        if key in other
    ]


def _repeated_keys(selector: LabelSelector | None) -> list[str]:
    """What the pod says itself is in the selector by now, so a key that comes twice was there before."""
    if selector is None:
        return []
    seen, repeated = set(selector.match_labels), []
    for expression in selector.match_expressions:
        if expression.key in seen:
            repeated.append(expression.key)
        seen.add(expression.key)
    return repeated


def _last_index(keys: Sequence[str], key: str) -> int:
    return max(index for index, one in enumerate(keys) if one == key)


PLACEMENT_RULES: Rules = {
    **SELECTOR_RULES,
    PodAffinityTerm: _pod_term_errors,
    Toleration: _toleration_errors,
    TopologySpreadConstraint: _spread_constraint_errors,
}
