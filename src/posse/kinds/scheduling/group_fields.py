"""Rules for the fields that groups and their templates have in common: policy, constraints, disruption, priority.

Which of them a kind has, and whether it may be changed later, is said by the kind.
"""

from collections.abc import Sequence
from typing import Any

from posse.kinds.machinery.checks import (
    Check,
    at_least_one,
    at_most,
    duplicate_names,
    formatted,
    immutable,
    one_of,
    optional,
    positive,
    required,
    union,
)
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.formats import dns_label, dns_subdomain, label_key, path_segment
from posse.model.meta import TypedLocalObjectReference
from posse.model.workload import (
    BasicSchedulingPolicy,
    CompositeGangSchedulingPolicy,
    CompositePodGroupSchedulingPolicy,
    DisruptionMode,
    GangSchedulingPolicy,
    PodGroupResourceClaim,
    PodGroupSchedulingPolicy,
    SchedulingConstraints,
    WorkloadReference,
)

Policy = PodGroupSchedulingPolicy | CompositePodGroupSchedulingPolicy

TOPOLOGY_CONSTRAINTS_MAX = 1
RESOURCE_CLAIMS_MAX = 4
USER_PRIORITY_MAX = 1_000_000_000
PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")


# Groups for clusters whose own API has none, in the same shapes.
IN_POSSE_GROUP: dict[str, Any] = {"group": "scheduling.posse.dev", "versions": ("v1alpha1",), "dialects": {}}


def policy_errors(field: str, new: Policy, old: Policy | None) -> list[FieldError]:
    """One policy, chosen for good; how many members it needs or expects may be changed."""
    if new == old:
        return []
    errors = union(field, new, old, ("basic", "gang"))
    if old is not None and (new.basic is None) != (old.basic is None):
        errors.append(immutable(f"{field}.basic"))
    if isinstance(new.basic, BasicSchedulingPolicy):
        errors += positive(f"{field}.basic.desiredCount", new.basic.desired_count)
    if old is not None and (new.gang is None) != (old.gang is None):
        text = "field cannot be cleared once set" if new.gang is None else "field cannot be set once created"
        return [*errors, FieldError.invalid(f"{field}.gang", None, text)]
    if new.gang is not None:
        errors += _gang_errors(f"{field}.gang", new.gang)
    return errors


def new_policy_errors(field: str, policy: Policy) -> list[FieldError]:
    return policy_errors(field, policy, None)


def constraints_errors(field: str, constraints: SchedulingConstraints | None) -> list[FieldError]:
    if constraints is None:
        return []
    topology = f"{field}.topology"
    if len(constraints.topology) > TOPOLOGY_CONSTRAINTS_MAX:
        return [FieldError.too_many(topology, len(constraints.topology), TOPOLOGY_CONSTRAINTS_MAX)]
    errors = []
    for index, constraint in enumerate(constraints.topology):
        errors += required(f"{topology}[{index}].key", constraint.key, label_key)
    return errors


def disruption_mode_errors(field: str, mode: DisruptionMode | None) -> list[FieldError]:
    return [] if mode is None else union(field, mode, None, ("single", "all"))


def resource_claims_errors(field: str, claims: Sequence[PodGroupResourceClaim]) -> list[FieldError]:
    if len(claims) > RESOURCE_CLAIMS_MAX:
        return [FieldError.too_many(field, len(claims), RESOURCE_CLAIMS_MAX)]
    errors = duplicate_names(field, claims)
    for index, claim in enumerate(claims):
        path = f"{field}[{index}]"
        errors += union(path, claim, None, ("resource_claim_name", "resource_claim_template_name"))
        errors += required(f"{path}.name", claim.name, dns_label)
        errors += name_errors(f"{path}.resourceClaimName", claim.resource_claim_name)
        errors += name_errors(f"{path}.resourceClaimTemplateName", claim.resource_claim_template_name)
    return errors


def workload_reference_errors(field: str, reference: WorkloadReference | None) -> list[FieldError]:
    if reference is None:
        return []
    return [
        *required(f"{field}.workloadName", reference.workload_name, dns_subdomain),
        *required(f"{field}.templateName", reference.template_name, dns_label),
    ]


def controller_errors(field: str, reference: TypedLocalObjectReference | None) -> list[FieldError]:
    if reference is None:
        return []
    return [
        *optional(dns_subdomain)(f"{field}.apiGroup", reference.api_group),
        *required(f"{field}.kind", reference.kind, path_segment),
        *required(f"{field}.name", reference.name, path_segment),
    ]


def name_errors(field: str, name: str | None) -> list[FieldError]:
    """An optional name: absent is fine, empty is not."""
    return [] if name is None else formatted(field, name, dns_subdomain)


# Checked when the group or template is made, fixed afterwards; by attribute name.
FIXED_CHECKS: dict[str, Check] = {
    "scheduling_constraints": constraints_errors,
    "disruption_mode": disruption_mode_errors,
    "priority_class_name": optional(dns_subdomain),
    "priority": at_most(USER_PRIORITY_MAX),
    "preemption_policy": one_of(*PREEMPTION_POLICIES),
}


def _gang_errors(field: str, gang: GangSchedulingPolicy | CompositeGangSchedulingPolicy) -> list[FieldError]:
    if isinstance(gang, GangSchedulingPolicy):
        return at_least_one(f"{field}.minCount", gang.min_count)
    return at_least_one(f"{field}.minGroupCount", gang.min_group_count)
