"""Priorities of groups that no admission has looked at: from the class they name, never from a number.

A tenant writes custom resources and templates of Workloads as it likes. Only a PriorityClass gives a
priority,
with the result that the admission of Kubernetes has for its own groups.
"""

from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from posse.engine.invalid_groups import (
    PriorityError,
    UnclassedPriority,
    UnknownPriorityClass,
    UnlikeClassPolicy,
    UnlikeClassValue,
)
from posse.model.priority_class import PriorityClass
from posse.model.workload import CompositePodGroup, CompositePodGroupSpec, PodGroup, PodGroupSpec

Described = TypeVar("Described", PodGroup, CompositePodGroup)

_PREEMPTS, _NEVER = "PreemptLowerPriority", "Never"


class _Resolved(NamedTuple):
    priority: int | None = None
    """None if its members' count."""
    policy: str | None = None
    error: PriorityError | None = None


class PriorityClasses:
    def __init__(self) -> None:
        self._by_name: dict[str, PriorityClass] = {}

    def put(self, priority_class: PriorityClass) -> None:
        self._by_name[priority_class.metadata.name] = priority_class

    def drop(self, name: str) -> None:
        self._by_name.pop(name, None)

    def is_default(self, name: str) -> bool:
        """Whether objects that name no class have this one."""
        default = self._default()
        return not name or (default is not None and default.metadata.name == name)

    def are_alike(self, one: str, other: str) -> bool:
        """Whether both are one class, or both the default or none.

        Which of the latter two a group has depends on when it was made.
        """
        return one == other or (self.is_default(one) and self.is_default(other))

    def completed(self, obj: Described) -> tuple[Described, PriorityError | None]:
        """The object with the priority of its class, and what is wrong with the fields that it has."""
        found = self._resolve(obj.spec)
        spec = replace(obj.spec, priority=found.priority, preemption_policy=found.policy)
        return replace(obj, spec=spec), found.error

    def _resolve(self, spec: PodGroupSpec | CompositePodGroupSpec) -> _Resolved:
        name = spec.priority_class_name
        if not name:
            return self._unnamed(spec)
        found = self._by_name.get(name)
        if found is None:
            return _Resolved(error=UnknownPriorityClass(name))
        policy = found.preemption_policy or _PREEMPTS
        return _Resolved(found.value, policy, _unlike_class(spec, name, found.value, policy))

    def _unnamed(self, spec: PodGroupSpec | CompositePodGroupSpec) -> _Resolved:
        """0 and the default class are what admission gives; otherwise a group counts with its pods."""
        stated = spec.priority
        if stated is None:
            return _Resolved(policy=_NEVER if spec.preemption_policy == _NEVER else None)
        default = self._default()
        if default is not None and stated == default.value:
            return _Resolved(stated, default.preemption_policy or _PREEMPTS)
        if stated == 0:
            return _Resolved(0, spec.preemption_policy)
        return _Resolved(error=UnclassedPriority(stated))

    def _default(self) -> PriorityClass | None:
        defaults = [one for one in self._by_name.values() if one.global_default]
        return min(defaults, key=lambda one: (one.value, one.metadata.name), default=None)


def _unlike_class(
    spec: PodGroupSpec | CompositePodGroupSpec, name: str, value: int, policy: str
) -> PriorityError | None:
    if spec.priority is not None and spec.priority != value:
        return UnlikeClassValue(spec.priority, name, value)
    if spec.preemption_policy is not None and spec.preemption_policy != policy:
        return UnlikeClassPolicy(spec.preemption_policy, name, policy)
    return None
