"""The Jobs of a JobSet as they stand: which run they are of, and how far each has come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from posse.controllers.jobsets.names import (
    JOB_INDEX,
    JOB_RESTART_ATTEMPT,
    REPLICATED_JOB_NAME,
    attempt_of,
    number_in_label,
)
from posse.model.decoding import decode
from posse.model.indexes import known_indexes
from posse.model.job import COMPLETE, FAILED, Job, JobCondition, JobSpec
from posse.model.jobset import JobSetStatus

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChildJob:
    obj: Json
    job: Job
    replicated_job: str
    index: int
    attempt: int
    job_attempt: int

    @property
    def name(self) -> str:
        return self.job.metadata.name

    @property
    def uid(self) -> str:
        return self.job.metadata.uid

    @property
    def is_deleting(self) -> bool:
        return bool(self.job.metadata.deletion_timestamp)

    @property
    def is_complete(self) -> bool:
        return self.job.status.condition(COMPLETE) is not None

    @property
    def failure(self) -> JobCondition | None:
        return self.job.status.condition(FAILED)

    @property
    def is_suspended(self) -> bool:
        return bool(self.job.spec.suspend)

    @property
    def wanted_pods(self) -> int:
        """How many pods run at once, as long as there is work for all of them."""
        parallelism = 1 if self.job.spec.parallelism is None else self.job.spec.parallelism
        completions = self.job.spec.completions
        return parallelism if completions is None else min(parallelism, completions)

    @property
    def pods_left(self) -> int:
        """How many of its pods run at once from now on."""
        completions, ended = self.job.spec.completions, self.ended_pods
        if self.is_complete or self.failure is not None:
            return 0
        if completions is None:
            return self.job.status.active if ended else self.wanted_pods
        return max(0, min(self.wanted_pods, completions - ended))

    @property
    def ended_pods(self) -> int:
        """How many pods have succeeded, or failed without a retry."""
        status = self.job.status
        given_up = known_indexes(status.failed_indexes or "", self.job.spec.completions or 0)
        return status.succeeded + len(given_up)

    def has_size(self, template: JobSpec) -> bool:
        """Whether it has as many pods as the template wants now; one that is over has no size any more."""
        is_fixed = template.completions is None or template.parallelism != template.completions
        if is_fixed or self.is_complete or self.failure is not None:
            return True
        return self.job.spec.parallelism == self.job.spec.completions == template.completions

    @property
    def is_short_of_pods(self) -> bool:
        return (self.job.status.ready or 0) < self.pods_left

    @property
    def is_ready(self) -> bool:
        """All its pods run or have succeeded."""
        if self.is_complete or self.failure is not None:
            return False
        status = self.job.status
        return status.succeeded + (status.ready or 0) >= self.wanted_pods


def read_job(obj: Json) -> ChildJob:
    return ChildJob(
        obj=obj,
        job=decode(Job, obj),
        replicated_job=(obj["metadata"].get("labels") or {}).get(REPLICATED_JOB_NAME, ""),
        index=number_in_label(obj, JOB_INDEX),
        attempt=attempt_of(obj),
        job_attempt=number_in_label(obj, JOB_RESTART_ATTEMPT),
    )


@dataclass
class Children:
    """The Jobs of a JobSet: to be replaced by later ones, or unfinished, succeeded or failed in this one.

    They are sorted once; a JobSet may have a thousand replicatedJobs, each with many Jobs.
    """

    previous: list[ChildJob] = field(default_factory=list)
    active: list[ChildJob] = field(default_factory=list)
    successful: list[ChildJob] = field(default_factory=list)
    failed: list[ChildJob] = field(default_factory=list)

    @property
    def current(self) -> list[ChildJob]:
        return [*self.active, *self.successful, *self.failed]

    @cached_property
    def names(self) -> set[str]:
        return {job.name for job in (*self.previous, *self.current)}

    @cached_property
    def current_of(self) -> Mapping[str, Sequence[ChildJob]]:
        """Those of this run by their replicatedJob."""
        return _by_replicated_job(self.current)

    @cached_property
    def active_of(self) -> Mapping[str, Sequence[ChildJob]]:
        return _by_replicated_job(self.active)


def sort_children(jobs: Sequence[ChildJob], status: JobSetStatus) -> Children:
    children, restarts = Children(), status.restarts_by_job
    for job in jobs:
        alone = restarts.get(job.replicated_job, ())
        replaced = alone[job.index] if job.index < len(alone) else 0
        if job.attempt < status.restarts or job.job_attempt < replaced:
            children.previous.append(job)
        elif job.is_complete:
            children.successful.append(job)
        elif job.failure is not None:
            children.failed.append(job)
        else:
            children.active.append(job)
    return children


def _by_replicated_job(jobs: Sequence[ChildJob]) -> Mapping[str, Sequence[ChildJob]]:
    found: dict[str, list[ChildJob]] = {}
    for job in jobs:
        found.setdefault(job.replicated_job, []).append(job)
    return found
