"""The plan for one JobSet, given its Jobs, groups, Service and claims.

A plan first takes back what is of an earlier run, then makes what Jobs need, then the Jobs, and writes the
status last: a step that is refused ends it, and nothing is built or told upon what is not there.
"""

from collections.abc import Sequence

from posse.controllers.jobsets.adoptions import adoptions
from posse.controllers.jobsets.children import ChildJob, Children, sort_children
from posse.controllers.jobsets.claims import new_claims
from posse.controllers.jobsets.construction import has_hostnames, new_service
from posse.controllers.jobsets.gang_state import GangState, GangSurroundings, belated_groups, observe_gangs
from posse.controllers.jobsets.outcomes import after_failure, complete, has_succeeded
from posse.controllers.jobsets.sizing import adjusted_groups, resized, resized_jobs
from posse.controllers.jobsets.starting import ObservedJobSet, start, suspended_jobs
from posse.controllers.jobsets.statuses import Count, StatusDraft
from posse.controllers.steps import Create, Delete, News, Plan, Write
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import (
    COMPOSITE_POD_GROUP,
    JOB,
    JOB_SET,
    PERSISTENT_VOLUME_CLAIM,
    POD_GROUP,
    SERVICE,
    WORKLOAD,
)
from posse.kinds.sets.jobset_gangs import replicas
from posse.model.jobset import COMPLETED, FAILED, GANG_BLOCKED, JOBS_BLOCKED, RESTARTING, SUSPENDED, JobSet
from posse.model.timestamps import TimestampError, parse_timestamp

FOREGROUND = "Foreground"


def plan(obj: Json, jobset: JobSet, jobs: Sequence[ChildJob], around: GangSurroundings, now: float) -> Plan:
    """Return what is to be done about a JobSet that is there to stay."""
    found = list(adoptions(obj, jobset, around))
    if found:
        # What follows rests on whose they are.
        return Plan(stages=[[*found]])
    draft = StatusDraft(obj, now)
    children = sort_children(jobs, jobset.status)
    counts = draft.count(jobset, children)
    if _finished_at(jobset) is not None:
        result = _after_the_end(obj, jobset, children, now)
        result.then(*belated_groups(jobset, children, around))
    else:
        result = Plan()
        observed = ObservedJobSet(obj, jobset, children, counts, observe_gangs(obj, jobset, children, around))
        _go_on(observed, around, draft, result)
    if draft.status != (obj.get("status") or {}):
        result.then(Write(JOB_SET, obj | {"status": draft.status}, "status"))
        result.news = draft.news
    return result


def _go_on(observed: ObservedJobSet, around: GangSurroundings, draft: StatusDraft, result: Plan) -> None:
    jobset, children = observed.jobset, observed.children
    if jobset.spec.suspend:
        # Before groups go: what is to go must not be created again meanwhile.
        result.then(*(Write(JOB, job) for job in suspended_jobs(children)))
    elif _are_all_up(jobset, observed.counts):
        draft.lift(RESTARTING, "JobsReady", "all jobs of the jobset are ready again")
    result.then(*_outdated(children, observed.gangs))
    if children.failed:
        after_failure(jobset, children.failed, draft)
    elif has_succeeded(jobset, children):
        complete(draft)
    elif observed.gangs.blocked is not None:
        draft.hold(GANG_BLOCKED, observed.gangs.blocked)
    else:
        draft.lift(GANG_BLOCKED, "GangPrepared", "nothing stands in the way of the gangs any more")
        _start(observed, around, draft, result)


def _start(observed: ObservedJobSet, around: GangSurroundings, draft: StatusDraft, result: Plan) -> None:
    jobset = observed.jobset
    if has_hostnames(jobset) and around.service is None:
        service = new_service(observed.obj, jobset)
        result.then(Create(SERVICE, service, unless_present=True, failure="HeadlessServiceCreationFailed"))
    missing = [claim for claim in new_claims(observed.obj) if claim["metadata"]["name"] not in around.claims]
    result.then(*(Create(PERSISTENT_VOLUME_CLAIM, claim, failure="PVCCreationFailed") for claim in missing))
    result.then(*observed.gangs.outgrown)
    for kind in (WORKLOAD, COMPOSITE_POD_GROUP, POD_GROUP):
        result.then(*(step for step in observed.gangs.missing if step.kind is kind))
    result.then(*adjusted_groups(observed))
    changing = resized_jobs(observed)
    result.then(*(Write(JOB, resized(observed, child)) for child in changing))
    begun = start(observed, draft)
    result.then(*(_creation(observed, job, draft) for job in begun.create))
    if not begun.create:
        draft.lift(JOBS_BLOCKED, "JobsMade", "nothing has the name of a Job of the jobset any more")
    # A Job that has just been written goes on when it is seen to have changed.
    written = {child.name for child in changing}
    result.then(*(Write(JOB, job) for job in begun.resume if job["metadata"]["name"] not in written))
    if jobset.spec.suspend:
        draft.lift(RESTARTING, "JobSetSuspended", "jobset was suspended while it was restarting")
        draft.hold(SUSPENDED, News("SuspendedJobs", "jobset is suspended"))
    else:
        draft.lift(SUSPENDED, "ResumeJobs", "jobset is resumed")


def _creation(observed: ObservedJobSet, job: Json, draft: StatusDraft) -> Create:
    text = f"Job {job['metadata']['name']} exists and is not of this JobSet"
    status = draft.holding(JOBS_BLOCKED, News("JobConflict", text))
    is_told = status == (observed.obj.get("status") or {})
    told = None if is_told else Write(JOB_SET, observed.obj | {"status": status}, "status")
    return Create(JOB, job, failure="JobCreationFailed", if_taken=told)


def _outdated(children: Children, gangs: GangState) -> list[Delete]:
    """A group that is being deleted stays until the last pod in it has ended, so it may go with its Jobs."""
    jobs = [Delete(JOB, job.obj, FOREGROUND) for job in children.previous if not job.is_deleting]
    return jobs + gangs.outdated


def _are_all_up(jobset: JobSet, counts: dict[str, Count]) -> bool:
    return all(
        counts[job.name].ready + counts[job.name].succeeded == replicas(job)
        for job in jobset.spec.replicated_jobs
    )


def _finished_at(jobset: JobSet) -> float | None:
    for kind in (COMPLETED, FAILED):
        condition = jobset.status.condition(kind)
        if condition is not None:
            try:
                return parse_timestamp(condition.last_transition_time)
            except TimestampError:
                return 0.0
    return None


def _after_the_end(obj: Json, jobset: JobSet, children: Children, now: float) -> Plan:
    """What has finished stays to be looked at; what still runs is of no use any more."""
    result = Plan()
    running = [job for job in (*children.active, *children.previous) if not job.is_deleting]
    result.then(*(Delete(JOB, job.obj, FOREGROUND) for job in running))
    if jobset.spec.ttl_seconds_after_finished is not None:
        expiry = (_finished_at(jobset) or 0.0) + jobset.spec.ttl_seconds_after_finished
        if expiry <= now:
            result.then(Delete(JOB_SET, obj, FOREGROUND))
        else:
            result.wake_at = expiry
    return result
