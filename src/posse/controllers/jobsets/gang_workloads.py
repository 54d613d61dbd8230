"""The Workloads that describe the gangs of a JobSet: found, to be created, or not fitting.

A Workload has room for a few templates, so that many gangs take several. A Workload that the user has made is
taken as it is; one that does not fit the JobSet is a problem that is told.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from posse.controllers.jobsets.gang_objects import (
    Gang,
    WorkloadPart,
    at_size,
    controller_reference,
    gangs_of,
    minimum_of,
    new_workload,
    templates_of,
    workload_parts,
)
from posse.controllers.steps import Create, Write, controller_of, is_deleting
from posse.kinds.registry import POD_GROUP, WORKLOAD
from posse.kinds.sets.jobset_gangs import asked_root
from posse.model.jobset import JobSet

Json = dict[str, Any]


@dataclass(slots=True)
class GangWorkloads:
    # The Workload that each template is in. While one is being deleted there is none.
    by_template: dict[str, Json] = field(default_factory=dict)
    missing: list[Create] = field(default_factory=list)
    # Workloads of another size than they should have; one that the user has made is never touched.
    outgrown: list[Write] = field(default_factory=list)
    # Why no groups can be made, if that is so.
    problem: str = ""


def find_workloads(obj: Json, jobset: JobSet, workloads: Sequence[Json]) -> GangWorkloads:
    found = GangWorkloads()
    parts = workload_parts(jobset)
    for part in parts:
        candidates = _candidates(part, parts, workloads)
        chosen = _choice(jobset, part.name, candidates)
        problem = _ambiguity(candidates) if chosen is None else _mismatch(jobset, chosen, part)
        found.problem = found.problem or problem
        if chosen is None:
            chosen = new_workload(obj, jobset, part)
            found.missing.append(Create(WORKLOAD, chosen))
        elif is_mine(chosen, jobset) and not problem and not is_deleting(chosen):
            sized = at_size(chosen, part.gangs)
            found.outgrown += [Write(WORKLOAD, sized)] if sized != chosen else []
            chosen = sized
        if not is_deleting(chosen):
            found.by_template |= dict.fromkeys(templates_of(chosen), chosen)
    return found


def is_mine(obj: Json, jobset: JobSet) -> bool:
    return controller_of(obj).get("uid") == jobset.metadata.uid


def _candidates(part: WorkloadPart, parts: Sequence[WorkloadPart], workloads: Sequence[Json]) -> list[Json]:
    """The first one may be called as the user likes; the others are known by their names."""
    if part is not parts[0]:
        return [item for item in workloads if item["metadata"]["name"] == part.name]
    taken = {other.name for other in parts[1:]}
    return [item for item in workloads if item["metadata"]["name"] not in taken]


def _choice(jobset: JobSet, name: str, workloads: Sequence[Json]) -> Json | None:
    """Prefer its own Workload, then one of its name, then the only one that refers to the JobSet."""
    ranked = sorted(workloads, key=lambda item: (not is_mine(item, jobset), item["metadata"]["name"] != name))
    if not ranked:
        return None
    is_clear = is_mine(ranked[0], jobset) or ranked[0]["metadata"]["name"] == name or len(ranked) == 1
    return ranked[0] if is_clear else None


def _ambiguity(workloads: Sequence[Json]) -> str:
    if not workloads:
        return ""
    names = ", ".join(sorted(workload["metadata"]["name"] for workload in workloads))
    return f"Workloads {names} all say that they are for this JobSet; only one can be"


def _mismatch(jobset: JobSet, workload: Json, part: WorkloadPart) -> str:
    """Return why a Workload does not fit the JobSet, empty if it does."""
    if is_mine(workload, jobset):
        return _layout_mismatch(jobset, workload, part)
    name = f"Workload {workload['metadata']['name']}"
    reference = workload["spec"].get("controllerRef")
    if reference is not None and reference != controller_reference(jobset.metadata.name):
        return f"{name} is for {reference.get('kind')} {reference.get('name')}"
    owner = controller_of(workload)
    if owner:
        return f"{name} belongs to {owner['kind']} {owner['name']}, uid {owner['uid']}"
    return _layout_mismatch(jobset, workload, part) or _size_mismatch(jobset, workload, part)


def _layout_mismatch(jobset: JobSet, workload: Json, part: WorkloadPart) -> str:
    """The templates must be where the groups of the JobSet are: alone or below the root."""
    name = f"Workload {workload['metadata']['name']}"
    holder, where = workload["spec"], ""
    root = asked_root(jobset.metadata.name, jobset.spec)
    if root is not None:
        composites = {item["name"]: item for item in holder.get("compositePodGroupTemplates") or ()}
        if root.template not in composites:
            return f"{name} has no compositePodGroupTemplate {root.template}"
        holder, where = composites[root.template], f" in {root.template}"
    present = {item["name"] for item in holder.get("podGroupTemplates") or ()}
    for asked in part.gangs:
        if asked.template not in present:
            return f"{name} has no podGroupTemplate {asked.template}{where}"
    return ""


def _size_mismatch(jobset: JobSet, workload: Json, part: WorkloadPart) -> str:
    name, templates = f"Workload {workload['metadata']['name']}", templates_of(workload)
    for asked in part.gangs:
        minimum = minimum_of(templates[asked.template])
        if minimum is not None and minimum > asked.minimum:
            return f"{name} wants {minimum} pods in {asked.template}, but there will be {asked.minimum}"
    root = asked_root(jobset.metadata.name, jobset.spec)
    if root is not None:
        policy = templates[root.template].get("schedulingPolicy") or {}
        minimum, groups = (policy.get("gang") or {}).get("minGroupCount") or 0, len(_groups(jobset))
        if minimum > groups:
            return f"{name} wants {minimum} groups in {root.template}, but there will be {groups}"
    return ""


def _groups(jobset: JobSet) -> list[Gang]:
    return [gang for gang in gangs_of(jobset) if gang.kind is POD_GROUP]
