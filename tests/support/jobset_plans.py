"""JobSets with their Jobs as a controller is shown them, and what is in the plans that it makes."""

import copy

from posse.controllers.jobsets.controller import JobSetController
from posse.controllers.steps import Create, Delete, Write
from posse.kinds.registry import JOB, JOB_SET, POD_GROUP
from posse.model.decoding import decode
from posse.model.timestamps import format_timestamp

NOW = 1_800_000_000.0
PREFIX = "jobset.sigs.k8s.io/"
GANG = {"gangMode": "Gang"}


def replicated_job(name, replicas=1, pods=2, **fields):
    pod = {"spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    spec = {"parallelism": pods, "completions": pods, "template": pod}
    template = {"metadata": fields.pop("metadata", {}), "spec": spec}
    return {"name": name, "replicas": replicas, "template": template, **fields}


def jobset(*jobs, status=None, annotations=None, **spec):
    metadata = {"name": "js", "namespace": "default", "uid": "u", "resourceVersion": "1"}
    obj = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata | ({"annotations": annotations} if annotations else {}),
        "spec": {
            "replicatedJobs": list(jobs or [replicated_job("driver"), replicated_job("workers", 2)]),
            **spec,
        },
        "status": status or {},
    }
    JOB_SET.rules.default(obj)
    assert JOB_SET.rules.validate(decode(JOB_SET.struct, obj)) == []
    return obj


def steps(result):
    return [step for stage in result.stages for step in stage]


def made(result, kind=JOB):
    return [step.obj for step in steps(result) if isinstance(step, Create) and step.kind is kind]


def written(result, kind=JOB):
    return [step.obj for step in steps(result) if isinstance(step, Write) and step.kind is kind]


def deleted(result, kind=JOB):
    found = [step for step in steps(result) if isinstance(step, Delete) and step.kind is kind]
    return [step.obj["metadata"]["name"] for step in found]


def status(result):
    (obj,) = written(result, JOB_SET)
    return obj["status"]


def conditions(result, value="True"):
    found = status(result).get("conditions", [])
    return {item["type"]: item["reason"] for item in found if item["status"] == value}


def names(objects):
    return [obj["metadata"]["name"] for obj in objects]


def condition(kind, reason="", message="", at=NOW - 10, value="True"):
    return {
        "type": kind,
        "status": value,
        "reason": reason,
        "message": message,
        "lastTransitionTime": format_timestamp(at),
    }


COMPLETE = {"succeeded": 2, "conditions": [condition("Complete")]}
READY = {"active": 2, "ready": 2}


def failed(reason="BackoffLimitError", message="", at=NOW - 10):
    return {"conditions": [condition("Failed", reason, message, at)]}


def as_seen(obj, **more):
    """The object as the API gives it back."""
    name = obj["metadata"]["name"]
    metadata = {**obj["metadata"], "uid": f"uid-{name}", "resourceVersion": "5", **more.pop("metadata", {})}
    return {**copy.deepcopy(obj), "metadata": metadata, **more}


def children(obj, **statuses):
    """All Jobs of a JobSet, with their status by name; dashes are written as underscores."""
    first = {**obj, "status": {"restarts": obj["status"].get("restarts", 0)}}
    spec = {**obj["spec"], "gangConfig": None, "startupPolicy": None}
    spec["replicatedJobs"] = [{**job, "dependsOn": []} for job in spec["replicatedJobs"]]
    jobs = made(plan({**first, "spec": spec}))
    return [as_seen(job, status=statuses.get(job["metadata"]["name"].replace("-", "_"), {})) for job in jobs]


def controller_of(obj, jobs=(), groups=()):
    controller = JobSetController()
    controller.see(JOB_SET, obj)
    for job in jobs:
        controller.see(JOB, job)
    for group in groups:
        controller.see(POD_GROUP, group)
    return controller


def plan(obj, jobs=(), groups=(), now=NOW):
    return controller_of(obj, jobs, groups).plan("u", now)
