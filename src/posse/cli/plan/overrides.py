"""Changes of what is submitted: another priority, a smaller minimum, no topology constraint."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import POD

Json = dict[str, Any]

_TEMPLATE_LISTS = ("podGroupTemplates", "compositePodGroupTemplates")


@dataclass(frozen=True, slots=True)
class Overrides:
    priority: int | None = None
    min_count: int | None = None
    no_topology: bool = False


def adjusted(kind: Kind, obj: Json, overrides: Overrides) -> Json:
    """A changed copy of a pod, a group or a Workload; other objects are returned as they are."""
    spec = obj.get("spec")
    if overrides == Overrides() or not isinstance(spec, dict):
        return obj
    found = deepcopy(obj)
    if kind is POD:
        _set_priority(found["spec"], overrides)
    elif "schedulingPolicy" in spec or any(name in spec for name in _TEMPLATE_LISTS):
        _adjust(found["spec"], overrides)
    return found


def _adjust(spec: Json, overrides: Overrides) -> None:
    if "schedulingPolicy" in spec:
        _set_priority(spec, overrides)
        gang = spec["schedulingPolicy"].get("gang") or {}
        if overrides.min_count is not None and "minCount" in gang:
            gang["minCount"] = overrides.min_count
        if overrides.no_topology:
            spec.pop("schedulingConstraints", None)
    for name in _TEMPLATE_LISTS:
        for template in spec.get(name) or ():
            _adjust(template, overrides)


def _set_priority(spec: Json, overrides: Overrides) -> None:
    if overrides.priority is not None:
        spec["priority"] = overrides.priority
        spec.pop("priorityClassName", None)
