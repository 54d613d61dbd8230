"""Rules for Workload: each template by itself, then what must hold over the whole tree of templates.

Nothing is filled in: a Workload is a blueprint, and the groups made from it get their own defaults.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from posse.kinds.columns import NAME_AND_AGE
from posse.kinds.machinery.checks import duplicate_names, fixed_fields, required, union
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.formats import dns_label
from posse.kinds.machinery.kind import Kind, KindRules
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.scheduling.group_fields import (
    FIXED_CHECKS,
    IN_POSSE_GROUP,
    controller_errors,
    policy_errors,
    resource_claims_errors,
)
from posse.kinds.scheduling.older_versions import WORKLOAD_V1ALPHA1, WORKLOAD_V1ALPHA2
from posse.model.workload import CompositePodGroupTemplate, PodGroupTemplate, Workload, WorkloadSpec

TEMPLATES_MAX = 8
# Counting the level of the PodGroup templates, so composite templates nest one level less.
TREE_DEPTH_MAX = 4

Template = PodGroupTemplate | CompositePodGroupTemplate
TemplateList = tuple[str, Sequence[Template]]
Parent = WorkloadSpec | CompositePodGroupTemplate

# JSON name -> attribute of the lists in which templates live.
CHILD_LISTS = {
    "podGroupTemplates": "pod_group_templates",
    "compositePodGroupTemplates": "composite_pod_group_templates",
}
POD_GROUP_TEMPLATE_CHECKS = FIXED_CHECKS | {"resource_claims": resource_claims_errors}


def validate(workload: Workload) -> list[FieldError]:
    return [
        *metadata_errors(workload.metadata, namespaced=True),
        *_tree_errors(workload.spec),
        *_spec_errors(workload.spec, None),
    ]


def validate_update(new: Workload, old: Workload) -> list[FieldError]:
    return [
        *metadata_update_errors(new.metadata, old.metadata),
        *_tree_errors(new.spec),
        *_spec_errors(new.spec, old.spec),
    ]


def _spec_errors(new: WorkloadSpec, old: WorkloadSpec | None) -> list[FieldError]:
    errors = union("spec", new, old, tuple(CHILD_LISTS.values()))
    errors += fixed_fields("spec", new, old, {"controller_ref": controller_errors})
    return errors + _child_errors("spec", new, old, 1)


def _child_errors(field: str, new: Parent, old: Parent | None, level: int) -> list[FieldError]:
    errors = []
    for json_name, attribute in CHILD_LISTS.items():
        before = None if old is None else getattr(old, attribute)
        errors += _list_errors(f"{field}.{json_name}", getattr(new, attribute), before, level)
    return errors


def _list_errors(
    field: str, new: Sequence[Template], old: Sequence[Template] | None, level: int
) -> list[FieldError]:
    """Templates are known by name; the set of names is fixed when the Workload is made."""
    if new == old:
        return []
    errors = []
    if len(new) > TEMPLATES_MAX:
        errors.append(FieldError.too_many(field, len(new), TEMPLATES_MAX))
    before = {template.name: template for template in old or ()}
    if old is not None:
        errors += _membership_errors(field, [template.name for template in new], before)
    if errors:
        return errors
    errors = duplicate_names(field, new)
    for index, template in enumerate(new):
        errors += _template_errors(f"{field}[{index}]", template, before.get(template.name), level)
    return errors


def _membership_errors(field: str, new: Sequence[str], old: Collection[str]) -> list[FieldError]:
    errors = [
        FieldError.forbidden(f"{field}[{index}]", "item may not be added")
        for index, name in enumerate(new)
        if name not in old
    ]
    if any(name not in new for name in old):
        errors.append(FieldError.forbidden(field, "item may not be removed"))
    return errors


def _template_errors(field: str, new: Template, old: Template | None, level: int) -> list[FieldError]:
    if new == old:
        return []
    errors = required(f"{field}.name", new.name, dns_label) if old is None else []
    errors += policy_errors(
        f"{field}.schedulingPolicy", new.scheduling_policy, None if old is None else old.scheduling_policy
    )
    if isinstance(new, PodGroupTemplate):
        return errors + fixed_fields(field, new, old, POD_GROUP_TEMPLATE_CHECKS)
    errors += fixed_fields(field, new, old, FIXED_CHECKS)
    if level < TREE_DEPTH_MAX:
        before = old if isinstance(old, CompositePodGroupTemplate) else None
        errors += _child_errors(field, new, before, level + 1)
    return errors


def _tree_errors(spec: WorkloadSpec) -> list[FieldError]:
    lists = list(_template_lists("spec", spec, 1))
    return [
        *_repeated_name_errors(lists),
        *_depth_errors(spec),
        *_priority_errors(spec, lists),
        *_childless_errors(lists),
    ]


def _template_lists(field: str, parent: Parent, level: int) -> Iterator[TemplateList]:
    """All lists of templates with their paths; what lies deeper than is allowed is not looked at."""
    for json_name, attribute in CHILD_LISTS.items():
        yield f"{field}.{json_name}", getattr(parent, attribute)
    if level < TREE_DEPTH_MAX:
        for index, child in enumerate(parent.composite_pod_group_templates):
            yield from _template_lists(f"{field}.compositePodGroupTemplates[{index}]", child, level + 1)


def _repeated_name_errors(lists: Sequence[TemplateList]) -> list[FieldError]:
    """Names are unique over all lists; repetition within one list is said by that list."""
    errors = []
    seen: set[str] = set()
    for path, templates in lists:
        for index, template in enumerate(templates):
            if template.name in seen:
                errors.append(FieldError.duplicate(f"{path}[{index}].name", template.name))
        seen.update(template.name for template in templates)
    return errors


def _depth_errors(spec: WorkloadSpec) -> list[FieldError]:
    text = f"maximum template hierarchy depth is {TREE_DEPTH_MAX}"
    return [
        FieldError.invalid(
            f"spec.compositePodGroupTemplates[{index}]", template.composite_pod_group_templates, text
        )
        for index, template in enumerate(spec.composite_pod_group_templates)
        if _too_deep(template, 1)
    ]


def _too_deep(template: CompositePodGroupTemplate, level: int) -> bool:
    if level == TREE_DEPTH_MAX:
        return True
    return any(_too_deep(child, level + 1) for child in template.composite_pod_group_templates)


def _priority_errors(spec: WorkloadSpec, lists: Sequence[TemplateList]) -> list[FieldError]:
    if len(_priorities(spec.pod_group_templates)) > 1:
        return [FieldError.invalid("spec", None, "detected multiple priority configurations")]
    if len({priority for _, templates in lists for priority in _priorities(templates)}) > 1:
        text = "all priority and priorityClassName values must be identical, detected multiple values"
        return [FieldError.invalid("spec", None, text)]
    return []


def _priorities(templates: Sequence[Template]) -> set[tuple[str, int | None]]:
    return {(template.priority_class_name, template.priority) for template in templates}


def _childless_errors(lists: Sequence[TemplateList]) -> list[FieldError]:
    text = "must have at least one child PodGroupTemplate or CompositePodGroupTemplate"
    return [
        FieldError.invalid(f"{path}[{index}]", template.name, text)
        for path, templates in lists
        for index, template in enumerate(templates)
        if isinstance(template, CompositePodGroupTemplate)
        and not (template.pod_group_templates or template.composite_pod_group_templates)
    ]


RULES = KindRules(validate=validate, validate_update=validate_update, allow_unconditional_update=False)


WORKLOAD = Kind(
    name="Workload",
    plural="workloads",
    group="scheduling.k8s.io",
    versions=("v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"),
    struct=Workload,
    rules=RULES,
    columns=NAME_AND_AGE,
    dialects={
        "v1alpha2": WORKLOAD_V1ALPHA2,
        "v1alpha1": WORKLOAD_V1ALPHA1,
    },
)
POSSE_WORKLOAD = replace(WORKLOAD, **IN_POSSE_GROUP)
