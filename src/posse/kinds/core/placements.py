"""Rules for where a pod may go: tolerations, node and pod affinity, topology spread."""

from collections.abc import Sequence

from posse.kinds.machinery.checks import formatted, one_of
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.label_selectors import WITH_VALUES, label_selector_errors, node_requirement_errors
from posse.model.formats import dns_label, dns_subdomain, label_key, label_value
from posse.model.meta import LabelSelector
from posse.model.node import TAINT_EFFECTS
from posse.model.placement import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    Toleration,
    TopologySpreadConstraint,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
DO_NOT_SCHEDULE = "DoNotSchedule"


def tolerations_errors(field: str, tolerations: Sequence[Toleration]) -> list[FieldError]:
    errors = []
    for index, toleration in enumerate(tolerations):
        errors += _toleration_errors(f"{field}[{index}]", toleration)
    return errors


def _toleration_errors(path: str, toleration: Toleration) -> list[FieldError]:
    errors = formatted(f"{path}.key", toleration.key, label_key) if toleration.key else []
    if not toleration.key and toleration.operator != "Exists":
        text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        errors.append(FieldError.invalid(f"{path}.operator", toleration.operator, text))
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        errors.append(FieldError.invalid(f"{path}.effect", toleration.effect, text))
    errors += _toleration_operator_errors(f"{path}.operator", toleration)
    if toleration.effect and toleration.effect not in TAINT_EFFECTS:
        errors.append(FieldError.not_supported(f"{path}.effect", toleration.effect, TAINT_EFFECTS))
    return errors


def _toleration_operator_errors(path: str, toleration: Toleration) -> list[FieldError]:
    match toleration.operator:
        case "" | "Equal":
            return formatted(path, toleration.value, label_value)
        case "Exists":
            if not toleration.value:
                return []
            text = "value must be empty when `operator` is 'Exists'"
            return [FieldError.invalid(path, toleration, text)]
    return [FieldError.not_supported(path, toleration.operator, ("Equal", "Exists"))]


def affinity_errors(field: str, affinity: Affinity | None) -> list[FieldError]:
    if affinity is None:
        return []
    return [
        *node_affinity_errors(f"{field}.nodeAffinity", affinity.node_affinity),
        *_pod_affinity_errors(f"{field}.podAffinity", affinity.pod_affinity),
        *_pod_affinity_errors(f"{field}.podAntiAffinity", affinity.pod_anti_affinity),
    ]


def node_affinity_errors(field: str, affinity: NodeAffinity | None) -> list[FieldError]:
    if affinity is None:
        return []
    required = affinity.required_during_scheduling_ignored_during_execution
    errors = [] if required is None else node_selector_errors(f"{field}.{REQUIRED}", required)
    for index, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        path = f"{field}.{PREFERRED}[{index}]"
        errors += _weight_errors(f"{path}.weight", preferred.weight)
        errors += _node_term_errors(f"{path}.preference", preferred.preference)
    return errors


def node_selector_errors(field: str, selector: NodeSelector) -> list[FieldError]:
    path = f"{field}.nodeSelectorTerms"
    if not selector.node_selector_terms:
        return [FieldError.required(path, "must have at least one node selector term")]
    errors = []
    for index, term in enumerate(selector.node_selector_terms):
        errors += _node_term_errors(f"{path}[{index}]", term)
    return errors


def _node_term_errors(field: str, term: NodeSelectorTerm) -> list[FieldError]:
    errors = []
    for index, requirement in enumerate(term.match_expressions):
        errors += node_requirement_errors(f"{field}.matchExpressions[{index}]", requirement)
    for index, requirement in enumerate(term.match_fields):
        errors += _node_field_errors(f"{field}.matchFields[{index}]", requirement)
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


def _pod_affinity_errors(field: str, affinity: PodAffinity | PodAntiAffinity | None) -> list[FieldError]:
    if affinity is None:
        return []
    errors = []
    for index, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        errors += _pod_term_errors(f"{field}.{REQUIRED}[{index}]", term)
    for index, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        path = f"{field}.{PREFERRED}[{index}]"
        errors += _weight_errors(f"{path}.weight", weighted.weight)
        errors += _pod_term_errors(f"{path}.podAffinityTerm", weighted.pod_affinity_term)
    return errors


def _pod_term_errors(path: str, term: PodAffinityTerm) -> list[FieldError]:
    errors = label_selector_errors(f"{path}.labelSelector", term.label_selector)
    errors += label_selector_errors(f"{path}.namespaceSelector", term.namespace_selector)
    for index, namespace in enumerate(term.namespaces):
        errors += formatted(f"{path}.namespaces[{index}]", namespace, dns_label)
    errors += _label_keys_errors(path, term.match_label_keys, term.mismatch_label_keys, term.label_selector)
    return errors + _topology_key_errors(f"{path}.topologyKey", term.topology_key)


def spread_errors(field: str, constraints: Sequence[TopologySpreadConstraint]) -> list[FieldError]:
    errors = []
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(constraints):
        path = f"{field}[{index}]"
        errors += _spread_constraint_errors(path, constraint)
        identity = (constraint.topology_key, constraint.when_unsatisfiable)
        if identity in seen:
            shown = f"{{{identity[0]}, {identity[1]}}}"
            errors.append(FieldError.duplicate(f"{path}.{{topologyKey, whenUnsatisfiable}}", shown))
        seen.add(identity)
    return errors


def _spread_constraint_errors(path: str, constraint: TopologySpreadConstraint) -> list[FieldError]:
    errors = []
    if constraint.max_skew <= 0:
        errors.append(FieldError.invalid(f"{path}.maxSkew", constraint.max_skew, "must be greater than zero"))
    errors += _topology_key_errors(f"{path}.topologyKey", constraint.topology_key)
    effects = one_of(DO_NOT_SCHEDULE, "ScheduleAnyway")
    errors += effects(f"{path}.whenUnsatisfiable", constraint.when_unsatisfiable)
    errors += _min_domains_errors(f"{path}.minDomains", constraint)
    policies = one_of("Honor", "Ignore")
    errors += policies(f"{path}.nodeAffinityPolicy", constraint.node_affinity_policy)
    errors += policies(f"{path}.nodeTaintsPolicy", constraint.node_taints_policy)
    errors += label_selector_errors(f"{path}.labelSelector", constraint.label_selector)
    return errors + _label_keys_errors(path, constraint.match_label_keys, (), constraint.label_selector)


def _min_domains_errors(path: str, constraint: TopologySpreadConstraint) -> list[FieldError]:
    count = constraint.min_domains
    if count is None:
        return []
    if count <= 0:
        return [FieldError.invalid(path, count, "must be greater than zero")]
    if constraint.when_unsatisfiable == DO_NOT_SCHEDULE:
        return []
    text = (
        f"can only use minDomains if whenUnsatisfiable={DO_NOT_SCHEDULE}, not {constraint.when_unsatisfiable}"
    )
    return [FieldError.invalid(path, count, text)]


def _label_keys_errors(
    path: str, same: Sequence[str], other: Sequence[str], selector: LabelSelector | None
) -> list[FieldError]:
    """The paths of clashes are those that Kubernetes gives."""
    has_selector = selector is not None
    errors = _label_key_errors(f"{path}.matchLabelKeys", same, has_selector=has_selector)
    errors += _label_key_errors(f"{path}.mismatchLabelKeys", other, has_selector=has_selector)
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


def _label_key_errors(field: str, keys: Sequence[str], *, has_selector: bool) -> list[FieldError]:
    if keys and not has_selector:
        return [FieldError.forbidden(field, "must not be specified when labelSelector is not set")]
    errors = []
    for index, key in enumerate(keys):
        errors += formatted(f"{field}[{index}]", key, label_key)
    return errors


def _topology_key_errors(path: str, key: str) -> list[FieldError]:
    return formatted(path, key, label_key) if key else [FieldError.required(path, "can not be empty")]


def _weight_errors(path: str, weight: int) -> list[FieldError]:
    return [] if 1 <= weight <= 100 else [FieldError.invalid(path, weight, "must be in the range 1-100")]
