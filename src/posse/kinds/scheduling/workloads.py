"""Rules for Workload: each template by itself, then what must hold over the whole tree of templates.

Nothing is filled in: a Workload is a blueprint, and the groups made from it get their own defaults.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from posse.kinds.columns import NAME_AND_AGE
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Kind, KindRules
from posse.kinds.machinery.metadata import metadata_errors, metadata_update_errors
from posse.kinds.scheduling.older_versions import WORKLOAD_V1ALPHA1, WORKLOAD_V1ALPHA2
from posse.kinds.scheduling.pod_groups import IN_POSSE_GROUP
from posse.model.workload import (
    MAX_TREE_DEPTH,
    CompositePodGroupTemplate,
    PodGroupTemplate,
    Workload,
    WorkloadSpec,
)

Template = PodGroupTemplate | CompositePodGroupTemplate
TemplateList = tuple[str, Sequence[Template]]
Parent = WorkloadSpec | CompositePodGroupTemplate

# JSON name -> attribute of the lists in which templates live.
CHILD_LISTS = {
    "podGroupTemplates": "pod_group_templates",
    "compositePodGroupTemplates": "composite_pod_group_templates",
}


def validate(workload: Workload) -> list[FieldError]:
    return [
        *metadata_errors(workload.metadata, namespaced=True),
        *_tree_errors(workload.spec),
        *declared_errors("spec", workload.spec),
    ]


def validate_update(new: Workload, old: Workload) -> list[FieldError]:
    return [
        *metadata_update_errors(new.metadata, old.metadata),
        *_tree_errors(new.spec),
        *declared_errors("spec", new.spec, old.spec),
    ]


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
    if level < MAX_TREE_DEPTH:
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
    text = f"maximum template hierarchy depth is {MAX_TREE_DEPTH}"
    return [
        FieldError.invalid(
            f"spec.compositePodGroupTemplates[{index}]", template.composite_pod_group_templates, text
        )
        for index, template in enumerate(spec.composite_pod_group_templates)
        if _too_deep(template, 1)
    ]


def _too_deep(template: CompositePodGroupTemplate, level: int) -> bool:
    if level == MAX_TREE_DEPTH:
        return True
    return any(_too_deep(child, level + 1) for child in template.composite_pod_group_templates)


def _priority_errors(spec: WorkloadSpec, lists: Sequence[TemplateList]) -> list[FieldError]:
    if len(_priorities(spec.pod_group_templates)) > 1:
        stated = ", ".join(f'"{one.name}" has {_stated(one)}' for one in spec.pod_group_templates)
        text = f"detected multiple priority configurations; all templates must have the same: {stated}"
        return [FieldError.invalid("spec", None, text)]
    every = [template for _, templates in lists for template in templates]
    other = next((one for one in every if _priorities([one]) != _priorities(every[:1])), None)
    if other is None:
        return []
    stated = f'"{every[0].name}" has {_stated(every[0])}, "{other.name}" has {_stated(other)}'
    text = "all priority and priorityClassName values must be identical, detected multiple values"
    return [FieldError.invalid("spec", None, f"{text}: {stated}")]


def _priorities(templates: Sequence[Template]) -> set[tuple[str, int | None]]:
    return {(template.priority_class_name, template.priority) for template in templates}


def _stated(template: Template) -> str:
    parts = [template.priority_class_name, "" if template.priority is None else str(template.priority)]
    return " ".join(filter(None, parts)) or "none"


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
