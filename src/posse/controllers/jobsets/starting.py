"""Which Jobs of a JobSet are created or resumed now; with a startup order, one replicatedJob at a time."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from posse.controllers.jobsets.children import ChildJob, Children
from posse.controllers.jobsets.construction import new_job
from posse.controllers.jobsets.gang_state import GangState
from posse.controllers.jobsets.names import job_name
from posse.controllers.jobsets.statuses import Count, StatusDraft, has_completed, has_started
from posse.controllers.steps import News
from posse.kinds.sets.jobset_gangs import replicas
from posse.model.jobset import (
    BLOCKING_RECREATE,
    COMPLETE,
    IN_ORDER,
    STARTUP_COMPLETED,
    STARTUP_IN_PROGRESS,
    JobSet,
    ReplicatedJob,
)

Json = dict[str, Any]

# Jobs made by one plan; the next one is made when these are seen.
MAX_CHANGES = 500
IN_PROGRESS = News("InOrderStartupPolicyInProgress", "in order startup policy is in progress")
IN_ORDER_COMPLETED = News("InOrderStartupPolicyCompleted", "in order startup policy has completed")


@dataclass(slots=True)
class Start:
    """Jobs to make, and Jobs as they are to be so that they go on."""

    create: list[Json] = field(default_factory=list)
    resume: list[Json] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ObservedJobSet:
    """A JobSet with all that is known of it."""

    obj: Json
    jobset: JobSet
    children: Children
    counts: dict[str, Count]
    gangs: GangState


def start(observed: ObservedJobSet, draft: StatusDraft) -> Start:
    result = Start()
    spec = observed.jobset.spec
    for position in _positions(observed, draft):
        result.create += islice(_missing_jobs(observed, position), MAX_CHANGES - len(result.create))
        if not spec.suspend:
            result.resume += _resumed_jobs(observed, position)
    return result


def _positions(observed: ObservedJobSet, draft: StatusDraft) -> Iterator[int]:
    """Yield the replicatedJobs that may start. A suspended JobSet has all its Jobs, suspended."""
    spec = observed.jobset.spec
    is_in_order = spec.startup_policy is not None and spec.startup_policy.startup_policy_order == IN_ORDER
    for position, job in enumerate(spec.replicated_jobs):
        if not spec.suspend and not _are_dependencies_met(observed, job):
            continue
        yield position
        if is_in_order and not spec.suspend and not has_started(job, observed.counts):
            draft.lift(STARTUP_COMPLETED, IN_PROGRESS.reason, IN_PROGRESS.message)
            draft.hold(STARTUP_IN_PROGRESS, IN_PROGRESS)
            return
    if is_in_order and not spec.suspend:
        draft.lift(STARTUP_IN_PROGRESS, IN_ORDER_COMPLETED.reason, IN_ORDER_COMPLETED.message)
        draft.hold(STARTUP_COMPLETED, IN_ORDER_COMPLETED)


def _are_dependencies_met(observed: ObservedJobSet, job: ReplicatedJob) -> bool:
    if not job.depends_on:
        return True
    by_name = {other.name: other for other in observed.jobset.spec.replicated_jobs}
    return all(
        (has_completed if dependency.status == COMPLETE else has_started)(
            by_name[dependency.name], observed.counts
        )
        for dependency in job.depends_on
    )


def _missing_jobs(observed: ObservedJobSet, position: int) -> Iterator[Json]:
    jobset, existing = observed.jobset, observed.children.names
    policy = jobset.spec.failure_policy
    if policy is not None and policy.restart_strategy == BLOCKING_RECREATE and observed.children.previous:
        return
    replicated_job = jobset.spec.replicated_jobs[position]
    for index in range(replicas(replicated_job)):
        name = job_name(jobset.metadata.name, replicated_job.name, index)
        if name not in existing and (jobset.spec.suspend or observed.gangs.may_start(name)):
            yield new_job(observed.obj, jobset, position, index, observed.gangs.group_of(name))


def _resumed_jobs(observed: ObservedJobSet, position: int) -> Iterator[Json]:
    replicated_job = observed.jobset.spec.replicated_jobs[position]
    for child in observed.children.active_of.get(replicated_job.name, ()):
        is_asleep = child.is_suspended and not child.is_deleting
        if is_asleep and observed.gangs.may_start(child.name):
            yield _resumed(child, observed.obj["spec"]["replicatedJobs"][position]["template"])


def _resumed(child: ChildJob, template: Json) -> Json:
    """Return the Job as it goes on, with what may have been changed in the JobSet while it was suspended."""
    obj = deepcopy(child.obj)
    obj["spec"]["suspend"] = False
    pods, given = obj["spec"]["template"], template["spec"]["template"]
    metadata, given_metadata = pods.setdefault("metadata", {}), given.get("metadata") or {}
    for name in ("labels", "annotations"):
        if given_metadata.get(name):
            metadata[name] = (metadata.get(name) or {}) | given_metadata[name]
    spec, given_spec = pods["spec"], given["spec"]
    if given_spec.get("nodeSelector"):
        spec["nodeSelector"] = (spec.get("nodeSelector") or {}) | given_spec["nodeSelector"]
    for name in ("tolerations", "schedulingGates"):
        present = spec.get(name) or []
        added = [item for item in given_spec.get(name) or () if item not in present]
        if added:
            spec[name] = [*present, *added]
    return obj


def suspended_jobs(children: Children) -> list[Json]:
    """Return the Jobs that still run as they are when they do not."""
    return [
        {**child.obj, "spec": {**child.obj["spec"], "suspend": True}}
        for child in children.active
        if not child.is_suspended and not child.is_deleting
    ]
