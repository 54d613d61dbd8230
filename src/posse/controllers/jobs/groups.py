"""The Workload and the PodGroup of a Job, and the group that its pods join.

A Job with `spec.scheduling` and without a controller gets both. One that asks for nothing gets neither, so
that
its pods are scheduled as on any cluster; one that has them from an earlier version keeps them. A Job whose
owner has made a Workload, and names a template of it, gets
a group made from that template. Pod templates that name a group, and Jobs of other owners, are left alone.
Objects are created only for a Job that has not started, so that a Job never changes its group while it runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from posse.controllers.group_templates import group_spec
from posse.controllers.jobs.pods import JobPod
from posse.controllers.jobs.scaling import pods_at_once, wanted_active
from posse.controllers.jobs.tally import Tally
from posse.controllers.revision_hash import name_hash
from posse.controllers.steps import Create, Write, controller_of, owner_reference
from posse.kinds.registry import JOB, POD_GROUP, WORKLOAD
from posse.model.job import SUSPENDED, Job, JobSchedulingSpec

Json = dict[str, Any]

TEMPLATE_NAME = "scheduling.k8s.io/group-template-name"


class SeenGroups(NamedTuple):
    """The Workloads and groups that belong to a Job."""

    workloads: Sequence[Json]
    groups: Sequence[Json]
    # Workloads whose controller is the owner of the Job.
    of_owner: Sequence[Json]


@dataclass(slots=True)
class Grouping:
    # To be created before anything else happens to the Job: first the Workload, then its group.
    create: list[Create] = field(default_factory=list)
    # To be updated, because their size has changed.
    amend: list[Write] = field(default_factory=list)
    # The group that pods join; empty for none.
    name: str = ""


def group_job(obj: Json, job: Job, pods: Sequence[JobPod], tally: Tally, seen: SeenGroups) -> Grouping:
    pod = job.spec.template.spec
    if pod.scheduling_group is not None or pod.workload_ref is not None:
        return Grouping()
    if controller_of(obj):
        return _delegated(obj, job, pods, seen)
    if len(seen.workloads) > 1 or (job.spec.scheduling is None and not seen.workloads):
        return Grouping()
    is_new = _is_new(job, pods)
    if not seen.workloads:
        create = Create(
            WORKLOAD, new_workload(obj, job), failure="FailedWorkloadCreate", success="WorkloadCreated"
        )
        return Grouping(create=[create]) if is_new else Grouping()
    return _with_group(obj, job, tally, seen, is_new=is_new)


def in_group(obj: Json, group: str) -> Json:
    """Return the Job as its pods are made from it: they join the group, if there is one."""
    if not group:
        return obj
    template = obj["spec"]["template"]
    pod = {**template["spec"], "schedulingGroup": {"podGroupName": group}}
    return {**obj, "spec": {**obj["spec"], "template": {**template, "spec": pod}}}


def _is_new(job: Job, pods: Sequence[JobPod]) -> bool:
    status = job.status
    is_untouched = not (pods or status.start_time or status.succeeded or status.failed)
    return is_untouched and all(condition.type != SUSPENDED for condition in status.conditions)


def _template_name(job: Job) -> str:
    return f"{job.metadata.name}-pgt-0"


def new_workload(obj: Json, job: Job) -> Json:
    metadata = job.metadata
    scheduling = job.spec.scheduling or JobSchedulingSpec()
    template: Json = {
        "name": _template_name(job),
        **{key: value for key, value in _as_json(scheduling).items() if key != "schedulingPolicy"},
        "schedulingPolicy": _policy(job),
    }
    if job.spec.template.spec.priority_class_name:
        template["priorityClassName"] = job.spec.template.spec.priority_class_name
    return {
        "apiVersion": WORKLOAD.api_version,
        "kind": WORKLOAD.name,
        "metadata": {
            "name": f"{metadata.name}-{name_hash(f'(types.UID){metadata.uid}')}",
            "namespace": metadata.namespace,
            "ownerReferences": [owner_reference(JOB, obj)],
        },
        "spec": {
            "controllerRef": {"apiGroup": JOB.group, "kind": JOB.name, "name": metadata.name},
            "podGroupTemplates": [template],
        },
    }


def _policy(job: Job) -> Json:
    policy = job.spec.scheduling.scheduling_policy if job.spec.scheduling is not None else None
    if policy is None or policy.gang is None:
        return {"basic": _as_json(policy.basic) if policy is not None and policy.basic is not None else {}}
    size = max(1, pods_at_once(job.spec))
    minimum = size if policy.gang.min_count is None else policy.gang.min_count
    return {"gang": {"minCount": min(minimum, size)}}


def _as_json(shape: msgspec.Struct) -> Json:
    obj: Json = msgspec.json.decode(msgspec.json.encode(shape))
    return obj


def new_pod_group(obj: Json, workload: Json, template: Json, owners: Sequence[Json]) -> Json:
    workload_name = workload["metadata"]["name"]
    suffix = name_hash(workload_name + template["name"])
    return {
        "apiVersion": POD_GROUP.api_version,
        "kind": POD_GROUP.name,
        "metadata": {
            "name": f"{workload_name}-{template['name']}-{suffix}",
            "namespace": obj["metadata"]["namespace"],
            "ownerReferences": list(owners),
        },
        "spec": group_spec(workload_name, template),
    }


def _with_group(obj: Json, job: Job, tally: Tally, seen: SeenGroups, *, is_new: bool) -> Grouping:
    (workload,) = seen.workloads
    templates: Sequence[Json] = workload["spec"].get("podGroupTemplates") or ()
    if len(templates) != 1 or len(seen.groups) > 1:
        return Grouping()
    template = templates[0]
    policy = _policy(job)
    if seen.groups:
        (group,) = seen.groups
        grouping = Grouping(name=group["metadata"]["name"])
        grouping.amend += _changed_workload(workload, template, policy)
        grouping.amend += _changed_group(group, policy, job, tally)
        return grouping
    if not is_new:
        return Grouping()
    owners = [owner_reference(JOB, obj), _plain_reference(workload)]
    made = new_pod_group(obj, workload, template, owners)
    return Grouping(create=[_group_creation(made)], name=made["metadata"]["name"])


def _group_creation(group: Json) -> Create:
    return Create(POD_GROUP, group, failure="FailedPodGroupCreate", success="PodGroupCreated")


def _plain_reference(workload: Json) -> Json:
    reference = owner_reference(WORKLOAD, workload)
    return {key: value for key, value in reference.items() if key not in {"controller", "blockOwnerDeletion"}}


def _changed_workload(workload: Json, template: Json, policy: Json) -> list[Write]:
    if not is_gang(policy) or template["schedulingPolicy"] == policy:
        return []
    spec = {**workload["spec"], "podGroupTemplates": [{**template, "schedulingPolicy": policy}]}
    return [Write(WORKLOAD, {**workload, "spec": spec})]


def _changed_group(group: Json, policy: Json, job: Job, tally: Tally) -> list[Write]:
    """The minimum excludes finished pods, so that a late pod does not wait for them."""
    known = group["spec"]["schedulingPolicy"]
    if not is_gang(policy) or not is_gang(known):
        return []
    left = max(1, wanted_active(job.spec, tally))
    minimum = min(policy["gang"]["minCount"], left)
    is_short = len([pod for pod in tally.active if pod.is_ready]) < left
    if minimum == known["gang"]["minCount"] or (minimum < known["gang"]["minCount"] and not is_short):
        return []
    spec = {**group["spec"], "schedulingPolicy": {"gang": {"minCount": minimum}}}
    return [Write(POD_GROUP, {**group, "spec": spec})]


def is_gang(policy: Json) -> bool:
    return policy.get("gang") is not None


def _delegated(obj: Json, job: Job, pods: Sequence[JobPod], seen: SeenGroups) -> Grouping:
    """Without the Workload or template that its owner names, the pods run without a group."""
    name = (obj["metadata"].get("annotations") or {}).get(TEMPLATE_NAME)
    if not name or len(seen.of_owner) != 1 or len(seen.groups) > 1:
        return Grouping()
    (workload,) = seen.of_owner
    templates = [item for item in workload["spec"].get("podGroupTemplates") or () if item["name"] == name]
    if seen.groups:
        return Grouping(name=seen.groups[0]["metadata"]["name"], amend=_followed(seen.groups[0], templates))
    if not templates or not _is_new(job, pods):
        return Grouping()
    made = new_pod_group(obj, workload, templates[0], [owner_reference(JOB, obj)])
    return Grouping(create=[_group_creation(made)], name=made["metadata"]["name"])


def _followed(group: Json, templates: Sequence[Json]) -> list[Write]:
    known = group["spec"]["schedulingPolicy"]
    if not templates or not is_gang(known) or templates[0]["schedulingPolicy"] == known:
        return []
    spec = {**group["spec"], "schedulingPolicy": templates[0]["schedulingPolicy"]}
    return [Write(POD_GROUP, {**group, "spec": spec})]
