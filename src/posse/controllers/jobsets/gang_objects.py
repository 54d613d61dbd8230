"""The Workload of a JobSet and its groups, as objects. `gang_state` decides whether they are needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from posse.controllers.group_templates import group_spec
from posse.controllers.jobsets.names import (
    JOBSET_NAME,
    RESTART_ATTEMPT,
    job_name,
    pod_group_name,
    workload_name,
)
from posse.controllers.steps import owner_reference
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import COMPOSITE_POD_GROUP, JOB_SET, POD_GROUP, WORKLOAD
from posse.kinds.sets.jobset_gangs import AskedGang, asked_gangs, asked_root, replicas
from posse.model.jobset import GangConfig, JobSet
from posse.model.workload import MAX_TEMPLATES, TEMPLATE_FIELDS

Json = dict[str, Any]
GroupKey = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class Gang:
    """One group: its name, its template, and the Jobs whose pods are its members.

    A CompositePodGroup is the root of a tree; its groups name it as their parent.
    """

    kind: Kind
    name: str
    template: str
    jobs: tuple[str, ...]
    parent: str = ""

    @property
    def key(self) -> GroupKey:
        return self.kind, self.name


class WorkloadPart(NamedTuple):
    """One of the Workloads that describe the gangs of a JobSet: each has room for so many templates."""

    name: str
    gangs: tuple[AskedGang, ...]


def workload_parts(jobset: JobSet) -> list[WorkloadPart]:
    name = jobset.metadata.name
    gangs = asked_gangs(name, jobset.spec)
    return [
        WorkloadPart(workload_name(name, part), gangs[start : start + MAX_TEMPLATES])
        for part, start in enumerate(range(0, max(1, len(gangs)), MAX_TEMPLATES))
    ]


def gangs_of(jobset: JobSet) -> list[Gang]:
    """Return the groups of a JobSet, the root of a tree before the others."""
    name = jobset.metadata.name
    root = asked_root(name, jobset.spec)
    parent = root.template if root is not None else ""
    found = [gang for asked in asked_gangs(name, jobset.spec) for gang in _groups_of(name, asked, parent)]
    if root is None:
        return found
    jobs = tuple(job for gang in found for job in gang.jobs)
    return [Gang(COMPOSITE_POD_GROUP, root.template, root.template, jobs), *found]


def _groups_of(name: str, asked: AskedGang, parent: str) -> list[Gang]:
    jobs = [job_name(name, job.name, index) for job in asked.members for index in range(replicas(job))]
    if asked.per_job:
        return [
            Gang(POD_GROUP, pod_group_name(name, asked.template, index), asked.template, (job,), parent)
            for index, job in enumerate(jobs)
        ]
    group = asked.template if asked.is_whole else pod_group_name(name, asked.template)
    return [Gang(POD_GROUP, group, asked.template, tuple(jobs), parent)]


def new_workload(obj: Json, jobset: JobSet, part: WorkloadPart) -> Json:
    metadata = obj["metadata"]
    return {
        "apiVersion": WORKLOAD.api_version,
        "kind": WORKLOAD.name,
        "metadata": {
            "name": part.name,
            "namespace": metadata["namespace"],
            "labels": {JOBSET_NAME: metadata["name"]},
            "ownerReferences": [owner_reference(JOB_SET, obj)],
        },
        "spec": {
            "controllerRef": controller_reference(metadata["name"]),
            **_templates(jobset, part.gangs),
        },
    }


def controller_reference(name: str) -> Json:
    return {"apiGroup": JOB_SET.group, "kind": JOB_SET.name, "name": name}


def _templates(jobset: JobSet, gangs: Sequence[AskedGang]) -> Json:
    templates = [_template(asked) for asked in gangs]
    root = asked_root(jobset.metadata.name, jobset.spec)
    if root is None:
        return {"podGroupTemplates": templates}
    policy = {"gang": {"minGroupCount": len(templates)}}
    composite: Json = {"name": root.template, "schedulingPolicy": policy}
    composite |= _settings(root.config, root.gangs[0]) if root.gangs else {}
    return {"compositePodGroupTemplates": [composite | {"podGroupTemplates": templates}]}


def _template(asked: AskedGang) -> Json:
    policy = {"gang": {"minCount": asked.minimum}}
    return {"name": asked.template, "schedulingPolicy": policy, **_settings(asked.config, asked)}


def _settings(config: GangConfig, asked: AskedGang) -> Json:
    stated: Json = msgspec.json.decode(msgspec.json.encode(config))
    found = {name: value for name, value in stated.items() if name in TEMPLATE_FIELDS.values()}
    priority_class = asked.members[0].template.spec.template.spec.priority_class_name
    return found | ({"priorityClassName": priority_class} if priority_class else {})


def new_group(obj: Json, jobset: JobSet, gang: Gang, workload: Json) -> Json:
    metadata = obj["metadata"]
    spec = group_spec(workload["metadata"]["name"], templates_of(workload)[gang.template])
    if gang.parent:
        spec["parentCompositePodGroupName"] = gang.parent
    return {
        "apiVersion": gang.kind.api_version,
        "kind": gang.kind.name,
        "metadata": {
            "name": gang.name,
            "namespace": metadata["namespace"],
            "labels": {JOBSET_NAME: metadata["name"], RESTART_ATTEMPT: str(jobset.status.restarts)},
            "ownerReferences": [owner_reference(JOB_SET, obj)],
        },
        "spec": spec,
    }


def templates_of(workload: Json) -> dict[str, Json]:
    """All templates of a Workload by name, at whatever depth."""
    found: dict[str, Json] = {}
    waiting = [workload["spec"]]
    while waiting:
        holder = waiting.pop()
        composites = holder.get("compositePodGroupTemplates") or ()
        for template in (*(holder.get("podGroupTemplates") or ()), *composites):
            found[template["name"]] = template
        waiting += composites
    return found


def at_size(workload: Json, gangs: Sequence[AskedGang]) -> Json:
    """Return a Workload of the JobSet at its current size; nothing else of it changes."""
    spec = _with_minimums(workload["spec"], {gang.template: gang.minimum for gang in gangs})
    return {**workload, "spec": spec}


def _with_minimums(holder: Json, minimums: dict[str, int]) -> Json:
    holder = dict(holder)
    if "podGroupTemplates" in holder:
        holder["podGroupTemplates"] = [
            {**template, "schedulingPolicy": {"gang": {"minCount": minimums[template["name"]]}}}
            if template["name"] in minimums
            else template
            for template in holder["podGroupTemplates"]
        ]
    if "compositePodGroupTemplates" in holder:
        parts = holder["compositePodGroupTemplates"]
        holder["compositePodGroupTemplates"] = [_with_minimums(part, minimums) for part in parts]
    return holder


def minimum_of(obj: Json) -> int | None:
    """Return how many pods a group or template starts together; None if it is no gang."""
    gang = (obj.get("schedulingPolicy") or {}).get("gang")
    return None if gang is None else int(gang.get("minCount") or 0)
