"""Takes over what an earlier JobSet of the same name has left behind, deleted with its dependents orphaned.

Jobs and groups say which run they were made for. They become those of the present run: the new JobSet counts
its runs from the beginning.
"""

from collections.abc import Iterator
from typing import Any

from posse.controllers.jobsets.gang_state import GangSurroundings
from posse.controllers.jobsets.names import (
    JOB_INDEX,
    JOB_RESTART_ATTEMPT,
    JOBSET_NAME,
    JOBSET_UID,
    REPLICATED_JOB_NAME,
    RESTART_ATTEMPT,
    job_name,
    number_in_label,
)
from posse.controllers.steps import Write, adopted, controller_of, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import JOB, JOB_SET, SERVICE, WORKLOAD
from posse.kinds.sets.jobset_gangs import replicas
from posse.model.jobset import JobSet

Json = dict[str, Any]


def adoptions(obj: Json, jobset: JobSet, around: GangSurroundings) -> Iterator[Write]:
    name = jobset.metadata.name
    for workload in around.workloads:
        if _is_orphan(workload, name):
            yield Write(WORKLOAD, adopted(workload, JOB_SET, obj))
    if around.service is not None and _is_orphan(around.service, name):
        yield Write(SERVICE, adopted(around.service, JOB_SET, obj))
    for (kind, _), group in around.groups.items():
        if _is_orphan(group, name):
            yield _taken_over(kind, group, obj, {RESTART_ATTEMPT: str(jobset.status.restarts)})
    for job in around.orphans:
        if _is_orphan(job, name) and _has_place(job, jobset):
            yield _taken_over(JOB, job, obj, _marks(job, jobset))


def _is_orphan(obj: Json, jobset: str) -> bool:
    labels = obj["metadata"].get("labels") or {}
    return labels.get(JOBSET_NAME) == jobset and not controller_of(obj) and not is_deleting(obj)


def _has_place(job: Json, jobset: JobSet) -> bool:
    """Whether the JobSet would make a Job of this name, and for the same part."""
    part, index = _replicated_job(job), number_in_label(job, JOB_INDEX)
    is_named_so = job["metadata"]["name"] == job_name(jobset.metadata.name, part, index)
    return is_named_so and any(
        item.name == part and index < replicas(item) for item in jobset.spec.replicated_jobs
    )


def _replicated_job(job: Json) -> str:
    return str((job["metadata"].get("labels") or {}).get(REPLICATED_JOB_NAME, ""))


def _marks(job: Json, jobset: JobSet) -> dict[str, str]:
    marks = {JOBSET_UID: jobset.metadata.uid, RESTART_ATTEMPT: str(jobset.status.restarts)}
    if JOB_RESTART_ATTEMPT in job["metadata"]["labels"]:
        restarts = jobset.status.job_restarts(_replicated_job(job), number_in_label(job, JOB_INDEX))
        marks[JOB_RESTART_ATTEMPT] = str(restarts)
    return marks


def _taken_over(kind: Kind, orphan: Json, obj: Json, marks: dict[str, str]) -> Write:
    own = adopted(orphan, JOB_SET, obj)
    metadata = own["metadata"]
    marked = {"labels": (metadata.get("labels") or {}) | marks}
    if annotations := metadata.get("annotations"):
        known = {name: text for name, text in marks.items() if name in annotations}
        marked["annotations"] = annotations | known
    return Write(kind, own | {"metadata": metadata | marked})
