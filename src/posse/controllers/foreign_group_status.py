"""Status of PodGroups of coscheduling and Volcano, in their own terms: phase, and pods by phase.

The scheduler reports whether a group was placed; how its pods go on is counted here, as the controllers of
these projects do. Groups without pods keep their last status.
"""

from collections import Counter
from typing import Any

from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Amend, Plan
from posse.engine.groups.forms import COSCHEDULING_LABEL, VOLCANO_ANNOTATION
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import COSCHEDULING_POD_GROUP, POD, VOLCANO_POD_GROUP

Json = dict[str, Any]

_COUNTED = {"Running": "running", "Succeeded": "succeeded", "Failed": "failed"}


class ForeignGroupStatus(Reconciler):
    """Keys are namespace and name of groups of one kind."""

    reporter = "podgroup-status"

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self.kinds = (POD, kind)
        self._groups: dict[str, Json] = {}
        # Phases of the pods of each group, by name of the pod. Groups without pods have no entry.
        self._phases: dict[str, dict[str, str]] = {}
        self._group_of: dict[str, str] = {}
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        key = _key(obj)
        if kind is self._kind:
            self._groups[key] = obj
            self.touched.add(key)
            return
        group = self._named_by(obj)
        if self._group_of.get(key, group) != group:
            # Its label or annotation was changed.
            self.lose(kind, obj)
        if group is None:
            return
        phase = (obj.get("status") or {}).get("phase") or "Pending"
        pods = self._phases.setdefault(group, {})
        if pods.get(key) != phase:
            pods[key], self._group_of[key] = phase, group
            self.touched.add(group)

    def lose(self, kind: Kind, obj: Json) -> None:
        key = _key(obj)
        if kind is self._kind:
            self._groups.pop(key, None)
            return
        group = self._group_of.pop(key, None)
        if group is not None:
            del self._phases[group][key]
            if not self._phases[group]:
                del self._phases[group]
            self.touched.add(group)

    def plan(self, key: str, _now: float) -> Plan:
        group, phases = self._groups.get(key), self._phases.get(key)
        if group is None or not phases:
            return Plan()
        status = group.get("status") or {}
        counted = Counter(_COUNTED[phase] for phase in phases.values() if phase in _COUNTED)
        minimum, before = (group.get("spec") or {}).get("minMember") or 0, status.get("phase") or ""
        phase_of = _coscheduling_phase if self._kind is COSCHEDULING_POD_GROUP else _volcano_phase
        wanted: Json = {name: counted[name] for name in _COUNTED.values()}
        wanted["phase"] = phase_of(counted, minimum, before, len(phases))
        changed = {
            name: value for name, value in wanted.items() if (status.get(name) or type(value)()) != value
        }
        if not changed:
            return Plan()
        identity = {name: group["metadata"][name] for name in ("uid", "resourceVersion")}
        return Plan(stages=[[Amend(self._kind, group, {"metadata": identity, "status": changed}, "status")]])

    def _named_by(self, pod: Json) -> str | None:
        metadata = pod["metadata"]
        if self._kind is VOLCANO_POD_GROUP:
            name = (metadata.get("annotations") or {}).get(VOLCANO_ANNOTATION)
        else:
            name = (metadata.get("labels") or {}).get(COSCHEDULING_LABEL)
        return f"{metadata['namespace']}/{name}" if name else None


def _coscheduling_phase(pods: Counter[str], minimum: int, before: str, _total: int) -> str:
    """The phase by the pods that run or have ended; before that it is the scheduler's."""
    if pods["succeeded"] >= minimum:
        return "Finished"
    if pods["failed"] and pods.total() >= minimum:
        return "Failed"
    if pods["running"] + pods["succeeded"] >= minimum:
        return "Running"
    return "Scheduling" if before == "Running" else before


def _volcano_phase(pods: Counter[str], minimum: int, before: str, total: int) -> str:
    """Completed once all have succeeded; before that it is the scheduler's."""
    return "Completed" if pods["succeeded"] >= minimum and pods["succeeded"] == total else before


def _key(obj: Json) -> str:
    return f"{obj['metadata']['namespace']}/{obj['metadata']['name']}"
