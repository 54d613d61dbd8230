"""The Workload of a JobSet and the groups that are made from it, as objects. Whether they are needed is decided elsewhere."""

from dataclasses import dataclass
from typing import Any

import msgspec

from posse.controllers.jobsets.names import (
    JOBSET_NAME,
    RESTART_ATTEMPT,
    job_name,
    pod_group_name,
    workload_name,
)
from posse.controllers.steps import owner_reference
from posse.kinds.jobset_gangs import AskedGang, asked_gangs, replicas
from posse.kinds.registry import JOB_SET, POD_GROUP, WORKLOAD
from posse.model.jobset import JobSet
from posse.model.meta import Shape

Json = dict[str, Any]

# What a group takes over from its template.
COPIED_FIELDS = (
    "schedulingPolicy",
    "schedulingConstraints",
    "resourceClaims",
    "disruptionMode",
    "priorityClassName",
    "priority",
)


@dataclass(frozen=True, slots=True)
class Gang:
    """One group: its name, the template it is made from, and the Jobs whose pods it consists of."""

    name: str
    template: str
    jobs: tuple[str, ...]


def gangs_of(jobset: JobSet) -> list[Gang]:
    found = []
    name = jobset.metadata.name
    for asked in asked_gangs(name, jobset.spec):
        jobs = [job_name(name, job.name, index) for job in asked.members for index in range(replicas(job))]
        if asked.per_job:
            found += [
                Gang(pod_group_name(name, asked.template, index), asked.template, (job,))
                for index, job in enumerate(jobs)
            ]
        else:
            found.append(Gang(pod_group_name(name, asked.template), asked.template, tuple(jobs)))
    return found


def new_workload(obj: Json, jobset: JobSet) -> Json:
    metadata = obj["metadata"]
    asked = asked_gangs(metadata["name"], jobset.spec)
    return {
        "apiVersion": WORKLOAD.api_version,
        "kind": WORKLOAD.name,
        "metadata": {
            "name": workload_name(metadata["name"]),
            "namespace": metadata["namespace"],
            "labels": {JOBSET_NAME: metadata["name"]},
            "ownerReferences": [owner_reference(JOB_SET, obj)],
        },
        "spec": {
            "controllerRef": controller_reference(metadata["name"]),
            "podGroupTemplates": [_template(gang) for gang in asked],
        },
    }


def controller_reference(name: str) -> Json:
    return {"apiGroup": JOB_SET.group, "kind": JOB_SET.name, "name": name}


def _template(asked: AskedGang) -> Json:
    template: Json = {
        "name": asked.template,
        "schedulingPolicy": {"gang": {"minCount": asked.minimum}},
    }
    settings = {
        "schedulingConstraints": asked.config.scheduling_constraints,
        "disruptionMode": asked.config.disruption_mode,
    }
    template |= {name: _as_json(value) for name, value in settings.items() if value is not None}
    priority_class = asked.members[0].template.spec.template.spec.priority_class_name
    return template | ({"priorityClassName": priority_class} if priority_class else {})


def _as_json(shape: Shape) -> Json:
    obj: Json = msgspec.json.decode(msgspec.json.encode(shape))
    return obj


def new_pod_group(obj: Json, jobset: JobSet, gang: Gang, workload: Json) -> Json:
    metadata = obj["metadata"]
    template = templates_of(workload)[gang.template]
    spec = {name: template[name] for name in COPIED_FIELDS if name in template}
    return {
        "apiVersion": POD_GROUP.api_version,
        "kind": POD_GROUP.name,
        "metadata": {
            "name": gang.name,
            "namespace": metadata["namespace"],
            "labels": {JOBSET_NAME: metadata["name"], RESTART_ATTEMPT: str(jobset.status.restarts)},
            "ownerReferences": [owner_reference(JOB_SET, obj)],
        },
        "spec": {
            "workloadRef": {"workloadName": workload["metadata"]["name"], "templateName": gang.template},
            **spec,
        },
    }


def templates_of(workload: Json) -> dict[str, Json]:
    return {template["name"]: template for template in workload["spec"].get("podGroupTemplates") or ()}


def minimum_of(obj: Json) -> int | None:
    """Return how many pods a group or a template wants to start together; None when it is no gang."""
    gang = (obj.get("schedulingPolicy") or {}).get("gang")
    return None if gang is None else int(gang.get("minCount") or 0)
