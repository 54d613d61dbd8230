"""The spec of a group that a controller makes from a template of a Workload."""

from typing import Any

from posse.model.workload import TEMPLATE_FIELDS

Json = dict[str, Any]

# Admission fills in the preemption policy from the priority class and refuses any other.
_COPIED = tuple(json_name for name, json_name in TEMPLATE_FIELDS.items() if name != "preemption_policy")


def group_spec(workload_name: str, template: Json) -> Json:
    """Spec of a PodGroup or CompositePodGroup: the fields of its template, and a reference to it."""
    copied = {name: template[name] for name in _COPIED if name in template}
    return {"workloadRef": {"workloadName": workload_name, "templateName": template["name"]}, **copied}
