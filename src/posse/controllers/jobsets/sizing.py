"""Resizes Jobs and groups to the size of the JobSet and to the work that is left.

A gang is told its new size before its Jobs are: pods that are added start together, and pods that are taken
away are not waited for.
"""

from collections.abc import Iterator
from typing import Any

from posse.controllers.jobsets.children import ChildJob
from posse.controllers.jobsets.gang_objects import Gang, minimum_of, templates_of
from posse.controllers.jobsets.names import job_name
from posse.controllers.jobsets.starting import ObservedJobSet
from posse.controllers.steps import Write, controller_of
from posse.kinds.registry import POD_GROUP
from posse.kinds.sets.jobset_gangs import asked_gangs, pods_per_job, replicas
from posse.model.job import JobSpec

Json = dict[str, Any]


def resized_jobs(observed: ObservedJobSet) -> list[ChildJob]:
    """Return the Jobs that have another size than the JobSet wants, and may have it now."""
    return [
        child
        for child in observed.children.active
        if not child.is_deleting
        and not child.has_size(_template_of(observed, child))
        and (
            child.is_suspended or (not observed.jobset.spec.suspend and observed.gangs.may_start(child.name))
        )
    ]


def resized(observed: ObservedJobSet, child: ChildJob) -> Json:
    template = _template_of(observed, child)
    sizes = {"parallelism": template.parallelism, "completions": template.completions}
    return {**child.obj, "spec": {**child.obj["spec"], **sizes}}


def _template_of(observed: ObservedJobSet, child: ChildJob) -> JobSpec:
    jobs = observed.jobset.spec.replicated_jobs
    return next((job.template.spec for job in jobs if job.name == child.replicated_job), JobSpec())


def adjusted_groups(observed: ObservedJobSet) -> Iterator[Write]:
    by_name = {child.name: child for child in observed.children.current}
    for gang in dict.fromkeys(observed.gangs.gang_of.values()):
        group = observed.gangs.existing.get(gang.key)
        minimum = minimum_of(group["spec"]) if group is not None else None
        if group is None or minimum is None:
            continue
        wanted = _wanted_minimum(observed, gang, minimum, by_name)
        if wanted != minimum:
            spec = {**group["spec"], "schedulingPolicy": {"gang": {"minCount": wanted}}}
            yield Write(POD_GROUP, {**group, "spec": spec})


def _wanted_minimum(observed: ObservedJobSet, gang: Gang, minimum: int, by_name: dict[str, ChildJob]) -> int:
    """Pods that have ended for good do not count, so a late replacement does not wait for them."""
    full = _full_size(observed, gang)
    jobs = [by_name[name] for name in gang.jobs if name in by_name]
    # A Job that is restarted alone comes back with all its pods.
    absent = [size for name, size in _sizes(observed, gang).items() if name not in by_name]
    left = sum(_pods_left(observed, job) for job in jobs) + sum(absent)
    is_resized = not all(_has_size(observed, job) for job in jobs)
    if not any(job.ended_pods for job in jobs) and (absent or not is_resized):
        return full
    if absent or is_resized:
        return max(1, min(full, left))
    if 0 < left < minimum and any(job.is_short_of_pods for job in jobs):
        return left
    return min(minimum, full)


def _sizes(observed: ObservedJobSet, gang: Gang) -> dict[str, int]:
    """How many pods each Job of the gang begins with."""
    name = observed.jobset.metadata.name
    return {
        job_name(name, job.name, index): pods_per_job(job)
        for job in observed.jobset.spec.replicated_jobs
        for index in range(replicas(job))
        if job_name(name, job.name, index) in gang.jobs
    }


def _has_size(observed: ObservedJobSet, job: ChildJob) -> bool:
    return job.has_size(_template_of(observed, job))


def _pods_left(observed: ObservedJobSet, job: ChildJob) -> int:
    template = _template_of(observed, job)
    if job.has_size(template):
        return job.pods_left
    return max(0, (template.completions or 0) - job.ended_pods)


def _full_size(observed: ObservedJobSet, gang: Gang) -> int:
    """How many pods the gang has in all, or as many of them as the Workload of the user wants together."""
    asked = asked_gangs(observed.jobset.metadata.name, observed.jobset.spec)
    size = next(item.minimum for item in asked if item.template == gang.template)
    workload = observed.gangs.workload_of.get(gang.template)
    if workload is None or controller_of(workload).get("uid") == observed.jobset.metadata.uid:
        return size
    minimum = minimum_of(templates_of(workload)[gang.template])
    return size if minimum is None else min(size, minimum)
