"""Builds the Jobs and the Service of a JobSet: names, labels, group, exclusive placement and hostnames."""

import hashlib
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from posse.controllers.jobsets.claims import shared_volumes
from posse.controllers.jobsets.names import (
    COORDINATOR,
    EXCLUSIVE_TOPOLOGY,
    GLOBAL_REPLICAS,
    GROUP_NAME,
    GROUP_REPLICAS,
    JOB_GLOBAL_INDEX,
    JOB_GROUP_INDEX,
    JOB_INDEX,
    JOB_KEY,
    JOB_RESTART_ATTEMPT,
    JOBSET_NAME,
    JOBSET_UID,
    NAMESPACED_JOB,
    NO_SCHEDULE,
    NODE_SELECTOR_STRATEGY,
    REPLICATED_JOB_NAME,
    REPLICATED_JOB_REPLICAS,
    RESTART_ATTEMPT,
    job_name,
)
from posse.controllers.steps import owner_reference
from posse.kinds.registry import JOB, JOB_SET, SERVICE
from posse.kinds.sets.jobset_gangs import replicas
from posse.kinds.sets.jobset_policies import may_restart_alone
from posse.kinds.sets.jobsets import coordinator_endpoint, subdomain
from posse.model.jobset import JobSet, ReplicatedJob

Json = dict[str, Any]


def new_job(obj: Json, jobset: JobSet, position: int, index: int, group: str) -> Json:
    """Return a Job of the replicatedJob at `position`; its pods join `group`, unless that is empty."""
    replicated_job = jobset.spec.replicated_jobs[position]
    template = deepcopy(obj["spec"]["replicatedJobs"][position]["template"])
    given = template.get("metadata") or {}
    name = job_name(jobset.metadata.name, replicated_job.name, index)
    marks = dict(_marks(jobset, position, index, name))
    passed_on = _passed_on(obj["metadata"], given)
    spec = template["spec"]
    spec["suspend"] = bool(jobset.spec.suspend)
    _mark_pods(spec["template"], marks, passed_on)
    _connect(spec["template"]["spec"], jobset, group)
    shared = shared_volumes(jobset, replicated_job)
    if shared:
        pod = spec["template"]["spec"]
        pod["volumes"] = [*(pod.get("volumes") or ()), *shared]
    job = {
        "apiVersion": JOB.api_version,
        "kind": JOB.name,
        "metadata": {
            "name": name,
            "namespace": jobset.metadata.namespace,
            "labels": (given.get("labels") or {}) | marks,
            "annotations": (given.get("annotations") or {}) | marks | passed_on,
            "ownerReferences": [owner_reference(JOB_SET, obj)],
        },
        "spec": spec,
    }
    place_exclusively(job)
    return job


def _marks(jobset: JobSet, position: int, index: int, name: str) -> Iterator[tuple[str, str]]:
    """What is written on a Job and on its pods, as labels and as annotations."""
    jobs = jobset.spec.replicated_jobs
    replicated_job = jobs[position]
    group = [job for job in jobs if job.group_name == replicated_job.group_name]
    earlier = jobs[:position]
    group_earlier = [job for job in earlier if job.group_name == replicated_job.group_name]
    key = hashlib.sha1(f"{jobset.metadata.namespace}/{name}".encode(), usedforsecurity=False).hexdigest()
    yield JOBSET_NAME, jobset.metadata.name
    yield JOBSET_UID, jobset.metadata.uid
    yield REPLICATED_JOB_NAME, replicated_job.name
    yield REPLICATED_JOB_REPLICAS, str(replicas(replicated_job))
    yield GLOBAL_REPLICAS, str(_total(jobs))
    yield JOB_INDEX, str(index)
    yield JOB_GLOBAL_INDEX, str(_total(earlier) + index)
    yield JOB_KEY, key
    yield RESTART_ATTEMPT, str(jobset.status.restarts)
    if may_restart_alone(jobset.spec):
        yield JOB_RESTART_ATTEMPT, str(jobset.status.job_restarts(replicated_job.name, index))
    yield GROUP_NAME, replicated_job.group_name
    yield GROUP_REPLICAS, str(_total(group))
    yield JOB_GROUP_INDEX, str(_total(group_earlier) + index)
    if jobset.spec.coordinator is not None:
        yield COORDINATOR, coordinator_endpoint(jobset.metadata.name, jobset.spec, jobset.spec.coordinator)


def _total(jobs: list[ReplicatedJob] | tuple[ReplicatedJob, ...]) -> int:
    return sum(replicas(job) for job in jobs)


def _passed_on(jobset_metadata: Json, template_metadata: Json) -> dict[str, str]:
    """Annotations about placement hold for all Jobs, unless a template says otherwise."""
    passed_on = {}
    for key in (EXCLUSIVE_TOPOLOGY, NODE_SELECTOR_STRATEGY):
        for metadata in (jobset_metadata, template_metadata):
            value = (metadata.get("annotations") or {}).get(key)
            if value is not None:
                passed_on[key] = value
    return passed_on


def _mark_pods(template: Json, marks: dict[str, str], passed_on: dict[str, str]) -> None:
    metadata = dict(template.get("metadata") or {})
    metadata["labels"] = (metadata.get("labels") or {}) | marks
    metadata["annotations"] = (metadata.get("annotations") or {}) | marks | passed_on
    template["metadata"] = metadata


def _connect(pod: Json, jobset: JobSet, group: str) -> None:
    if has_hostnames(jobset):
        pod["subdomain"] = subdomain(jobset.metadata.name, jobset.spec)
    if group:
        pod["schedulingGroup"] = {"podGroupName": group}


def has_hostnames(jobset: JobSet) -> bool:
    return jobset.spec.network is not None and bool(jobset.spec.network.enable_dns_hostnames)


def new_service(obj: Json, jobset: JobSet) -> Json:
    """Return the headless Service by which the pods find each other."""
    network = jobset.spec.network
    return {
        "apiVersion": SERVICE.api_version,
        "kind": SERVICE.name,
        "metadata": {
            "name": subdomain(jobset.metadata.name, jobset.spec),
            "namespace": jobset.metadata.namespace,
            "labels": {JOBSET_NAME: jobset.metadata.name},
            "ownerReferences": [owner_reference(JOB_SET, obj)],
        },
        "spec": {
            "clusterIP": "None",
            "selector": {JOBSET_NAME: jobset.metadata.name},
            "publishNotReadyAddresses": network is None or network.publish_not_ready_addresses is not False,
        },
    }


def place_exclusively(job: Json) -> None:
    """Give a new Job the exclusive domain that its annotations ask for."""
    annotations = job["metadata"]["annotations"]
    if EXCLUSIVE_TOPOLOGY not in annotations:
        return
    spec = job["spec"]["template"]["spec"]
    if NODE_SELECTOR_STRATEGY in annotations:
        _select_nodes(job["metadata"], spec)
    else:
        _attract_and_repel(job["metadata"]["labels"][JOB_KEY], annotations[EXCLUSIVE_TOPOLOGY], spec)


def _select_nodes(metadata: Json, spec: Json) -> None:
    key = f"{metadata['namespace']}_{metadata['name']}"
    spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), NAMESPACED_JOB: key}
    toleration = {"key": NO_SCHEDULE, "operator": "Exists", "effect": "NoSchedule"}
    spec["tolerations"] = [*(spec.get("tolerations") or ()), toleration]


def _attract_and_repel(job_key: str, topology_key: str, spec: Json) -> None:
    own: Json = {"key": JOB_KEY, "operator": "In", "values": [job_key]}
    others: list[Json] = [
        {"key": JOB_KEY, "operator": "Exists"},
        {"key": JOB_KEY, "operator": "NotIn", "values": [job_key]},
    ]
    affinity = dict(spec.get("affinity") or {})
    affinity["podAffinity"] = _with_term(affinity.get("podAffinity"), topology_key, [own])
    affinity["podAntiAffinity"] = _with_term(affinity.get("podAntiAffinity"), topology_key, others)
    spec["affinity"] = affinity


def _with_term(affinity: Json | None, topology_key: str, expressions: list[Json]) -> Json:
    affinity = affinity or {}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    # An empty namespace selector means all namespaces: the domain is shared with no other Job.
    term = {
        "labelSelector": {"matchExpressions": expressions},
        "topologyKey": topology_key,
        "namespaceSelector": {},
    }
    return {**affinity, required: [*(affinity.get(required) or ()), term]}
