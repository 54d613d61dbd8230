"""Rules for CompositePodGroup, a group of groups. Unlike a PodGroup it needs a Workload and its policy never changes.

Whether parents exist, form a tree and stay within depth is for the scheduler to say: objects may come in any order.
"""

from dataclasses import replace

from posse.kinds.machinery.checks import Check, fixed_fields
from posse.kinds.machinery.conditions import conditions_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Kind, KindRules, clear_status
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.scheduling.group_fields import (
    FIXED_CHECKS,
    IN_POSSE_GROUP,
    name_errors,
    new_policy_errors,
    workload_reference_errors,
)
from posse.kinds.scheduling.pod_groups import GROUP_COLUMNS, default, keep_unstated
from posse.model.workload import CompositePodGroup, WorkloadReference


def _required_reference_errors(field: str, reference: WorkloadReference | None) -> list[FieldError]:
    if reference is None:
        return [FieldError.required(field)]
    return workload_reference_errors(field, reference)


FIXED_SPEC_CHECKS: dict[str, Check] = {
    "parent_composite_pod_group_name": name_errors,
    "workload_ref": _required_reference_errors,
    "scheduling_policy": new_policy_errors,
    **FIXED_CHECKS,
}


def validate(group: CompositePodGroup) -> list[FieldError]:
    errors = metadata_errors(group.metadata, namespaced=True)
    return errors + fixed_fields("spec", group.spec, None, FIXED_SPEC_CHECKS)


def validate_update(new: CompositePodGroup, old: CompositePodGroup) -> list[FieldError]:
    errors = metadata_update_errors(new.metadata, old.metadata)
    if new.status != old.status:
        errors += conditions_errors("status.conditions", new.status.conditions)
    return errors + fixed_fields("spec", new.spec, old.spec, FIXED_SPEC_CHECKS)


RULES = KindRules(
    default=default,
    prepare_create=clear_status,
    prepare_update=keep_unstated,
    validate=validate,
    validate_update=validate_update,
    allow_unconditional_update=False,
)


COMPOSITE_POD_GROUP = Kind(
    name="CompositePodGroup",
    plural="compositepodgroups",
    group="scheduling.k8s.io",
    versions=("v1alpha3",),
    struct=CompositePodGroup,
    rules=RULES,
    columns=GROUP_COLUMNS,
    has_status=True,
)
POSSE_COMPOSITE_POD_GROUP = replace(COMPOSITE_POD_GROUP, **IN_POSSE_GROUP)
