"""The versions of Workload and PodGroup whose shape is not the stored one: v1alpha2 (1.36) and v1alpha1
(1.35).

Names and words are exchanged, never only replaced: a word that means nothing in the other version cannot come
to mean something there, and whatever was sent comes back as it was.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from posse.kinds.machinery.checks import duplicate_names, immutable, one_of
from posse.kinds.machinery.declared import declared_errors
from posse.kinds.machinery.errors import FieldError
from posse.kinds.machinery.kind import Dialect, Json
from posse.model import workload_v1alpha1, workload_v1alpha2
from posse.model.workload import PodGroupSchedulingPolicy

NO_GROUPS = "must have at least one item"


def _swaps(names: Mapping[str, str]) -> dict[str, str]:
    return {**names, **{there: here for here, there in names.items()}}


DISRUPTION_MODES = _swaps({"Pod": "single", "PodGroup": "all"})
CONDITION_TYPES = _swaps({"PodGroupScheduled": "PodGroupInitiallyScheduled"})

_disruption_mode = one_of("Pod", "PodGroup")


def _with(obj: Json, name: str, change: Callable[[Any], Any]) -> Json:
    """The object with one of its members changed, if it has it."""
    return {**obj, name: change(obj[name])} if name in obj else obj


def _renamed(obj: Json, old_name: str, new_name: str) -> Json:
    return {new_name if name == old_name else name: item for name, item in obj.items()}


# v1alpha2: how members are disrupted is a word


def _mode_to_object(word: str) -> Json:
    return {DISRUPTION_MODES.get(word, word): {}}


def _mode_to_word(mode: Json) -> str:
    word = next(iter(mode), "")
    return DISRUPTION_MODES.get(word, word)


def _templates_with(change: Callable[[Any], Any]) -> Callable[[Json], Json]:
    def changed(workload: Json) -> Json:
        return _with(workload, "spec", lambda spec: _with(spec, "podGroupTemplates", each))

    def each(templates: Sequence[Json]) -> list[Json]:
        return [_with(template, "disruptionMode", change) for template in templates]

    return changed


# v1alpha2: a group names its template by way of what the template belongs to


def _exchange_condition_types(status: Json) -> Json:
    def exchanged(condition: Json) -> Json:
        return _with(condition, "type", lambda name: CONDITION_TYPES.get(name, name))

    return _with(status, "conditions", lambda conditions: [exchanged(item) for item in conditions])


def _group_to_storage(group: Json) -> Json:
    group = _with(group, "spec", _group_spec_to_storage)
    return _with(group, "status", _exchange_condition_types)


def _group_spec_to_storage(spec: Json) -> Json:
    spec = _with(spec, "podGroupTemplateRef", _template_reference_to_storage)
    return _with(_renamed(spec, "podGroupTemplateRef", "workloadRef"), "disruptionMode", _mode_to_object)


def _template_reference_to_storage(reference: Json) -> Json:
    return _renamed(reference.get("workload", {}), "podGroupTemplateName", "templateName")


def _group_from_storage(group: Json) -> Json:
    group = _with(group, "spec", _group_spec_from_storage)
    return _with(group, "status", _exchange_condition_types)


def _group_spec_from_storage(spec: Json) -> Json:
    spec = _renamed(_with(spec, "disruptionMode", _mode_to_word), "workloadRef", "podGroupTemplateRef")
    return _with(spec, "podGroupTemplateRef", _template_reference_from_storage)


def _template_reference_from_storage(reference: Json) -> Json:
    return {"workload": _renamed(reference, "templateName", "podGroupTemplateName")}


def _group_refusals(
    new: workload_v1alpha2.PodGroupV1alpha2, old: workload_v1alpha2.PodGroupV1alpha2 | None
) -> list[FieldError]:
    errors = _disruption_mode("spec.disruptionMode", new.spec.disruption_mode)
    if old is not None and new.spec.scheduling_policy != old.spec.scheduling_policy:
        errors.append(immutable("spec.schedulingPolicy"))
    return errors


def _templates_refusals(
    new: workload_v1alpha2.WorkloadV1alpha2, old: workload_v1alpha2.WorkloadV1alpha2 | None
) -> list[FieldError]:
    field, templates = "spec.podGroupTemplates", new.spec.pod_group_templates
    errors = _fixed_list_errors(field, templates, None if old is None else old.spec.pod_group_templates)
    for index, template in enumerate(templates):
        errors += _disruption_mode(f"{field}[{index}].disruptionMode", template.disruption_mode)
    return errors + duplicate_names(field, templates)


def _fixed_list_errors(field: str, new: Sequence[object], old: Sequence[object] | None) -> list[FieldError]:
    if old is not None:
        return [] if new == old else [immutable(field)]
    return [] if new else [FieldError.required(field, NO_GROUPS)]


# v1alpha1: groups are part of the Workload


def _groups_to_templates(workload: Json) -> Json:
    def as_templates(spec: Json) -> Json:
        return _renamed(_with(spec, "podGroups", as_template_list), "podGroups", "podGroupTemplates")

    def as_template_list(groups: Sequence[Json]) -> list[Json]:
        return [_renamed(group, "policy", "schedulingPolicy") for group in groups]

    return _with(workload, "spec", as_templates)


def _templates_to_groups(workload: Json) -> Json:
    def as_groups(spec: Json) -> Json:
        return _renamed(_with(spec, "podGroupTemplates", as_group_list), "podGroupTemplates", "podGroups")

    def as_group_list(templates: Sequence[Json]) -> list[Json]:
        return [_renamed(template, "schedulingPolicy", "policy") for template in templates]

    return _with(workload, "spec", as_groups)


def _groups_refusals(
    new: workload_v1alpha1.WorkloadV1alpha1, old: workload_v1alpha1.WorkloadV1alpha1 | None
) -> list[FieldError]:
    field, groups = "spec.podGroups", new.spec.pod_groups
    errors = _fixed_list_errors(field, groups, None if old is None else old.spec.pod_groups)
    if old is None:
        errors += duplicate_names(field, groups)
        for index, group in enumerate(groups):
            errors += _policy_errors(f"{field}[{index}].policy", group.policy)
    elif old.spec.controller_ref is None:
        errors += declared_errors("spec.controllerRef", new.spec.controller_ref)
    return errors


def _policy_errors(field: str, policy: PodGroupSchedulingPolicy) -> list[FieldError]:
    text = "exactly one of `basic`, `gang` is required"
    if policy.basic is None and policy.gang is None:
        return [FieldError.required(field, text)]
    if policy.basic is not None and policy.gang is not None:
        return [FieldError.invalid(field, "{`basic`, `gang`}", f"{text}, but multiple fields are set")]
    return []


def _with_late_controller(new: Json, old: Json) -> Json:
    """In this version the controller may be named after the Workload is made; only then it is fixed."""
    named = new.get("spec", {}).get("controllerRef")
    if named is None or old.get("spec", {}).get("controllerRef") is not None:
        return old
    return {**old, "spec": {**old.get("spec", {}), "controllerRef": named}}


WORKLOAD_V1ALPHA1 = Dialect(
    struct=workload_v1alpha1.WorkloadV1alpha1,
    outgoing=_templates_to_groups,
    incoming=_groups_to_templates,
    refusals=_groups_refusals,
    field_names=(("spec.podGroupTemplates", "spec.podGroups"), (".schedulingPolicy", ".policy")),
    baseline=_with_late_controller,
)
WORKLOAD_V1ALPHA2 = Dialect(
    struct=workload_v1alpha2.WorkloadV1alpha2,
    outgoing=_templates_with(_mode_to_word),
    incoming=_templates_with(_mode_to_object),
    refusals=_templates_refusals,
    field_names=(),
)
POD_GROUP_V1ALPHA2 = Dialect(
    struct=workload_v1alpha2.PodGroupV1alpha2,
    outgoing=_group_from_storage,
    incoming=_group_to_storage,
    refusals=_group_refusals,
    field_names=(
        ("spec.workloadRef.templateName", "spec.podGroupTemplateRef.workload.podGroupTemplateName"),
        ("spec.workloadRef.workloadName", "spec.podGroupTemplateRef.workload.workloadName"),
        ("spec.workloadRef", "spec.podGroupTemplateRef"),
    ),
)
