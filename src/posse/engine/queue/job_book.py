"""What Jobs say about the run times of their pods, and when pods are ended at the latest.

`activeDeadlineSeconds` of a pod counts from the start of the pod. That of a Job counts from the start of the
Job, which its controller notes before any pod has a node: the time in which its pods wait counts as well.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from posse.engine.groups.annotations import (
    EXPECTED_DURATION,
    MAX_STATED_SECONDS,
    AnnotationFault,
    stated_seconds,
)
from posse.engine.state.pod_record import PodRecord
from posse.model.job import JobRunTime
from posse.model.meta import OwnerReference
from posse.model.pod import Pod
from posse.model.timestamps import TimestampError, parse_timestamp


@dataclass(frozen=True, slots=True)
class JobTimes:
    limit: float = math.inf
    """Seconds from the start of the Job."""
    deadline: float = math.inf
    """All its pods are ended then; infinite while the Job has not started."""
    stated: float | None = None
    """The expected duration in its annotation."""
    fault: AnnotationFault | None = None
    """What is wrong with that annotation."""
    owner: str = ""
    """The CronJob that creates such Jobs again and again, as in CronJob/nightly."""


_NOTHING = JobTimes()


class JobBook:
    def __init__(self) -> None:
        self._jobs: dict[str, JobTimes] = {}
        """By uid; only Jobs that say anything."""
        self._pods: dict[str, dict[str, None]] = {}
        """Uids of the pods of each Job, whether that is known or not."""
        self.changed: dict[str, None] = {}
        """Uids of Jobs with pods that have set another limit or expected duration since they were asked."""

    def put(self, job: JobRunTime) -> None:
        uid, now = job.metadata.uid, _times(job)
        before = self._jobs.get(uid, _NOTHING)
        if now == _NOTHING:
            self._jobs.pop(uid, None)
        else:
            self._jobs[uid] = now
        if (before.limit, before.stated) != (now.limit, now.stated) and uid in self._pods:
            self.changed[uid] = None

    def drop(self, job: JobRunTime) -> None:
        self._jobs.pop(job.metadata.uid, None)
        self.changed.pop(job.metadata.uid, None)

    def pod_came(self, pod: Pod) -> None:
        for one in pod.metadata.owner_references:
            if _is_job(one):
                self._pods.setdefault(one.uid, {})[pod.metadata.uid] = None

    def pod_went(self, pod: Pod) -> None:
        for one in pod.metadata.owner_references:
            pods = self._pods.get(one.uid, {})
            pods.pop(pod.metadata.uid, None)
            if not pods:
                self._pods.pop(one.uid, None)

    def take_changed_pods(self) -> list[str]:
        """Uids of the pods of Jobs that changed since the last call."""
        changed, self.changed = self.changed, {}
        return [uid for job in changed for uid in self._pods.get(job, ())]

    def of(self, record: PodRecord) -> JobTimes:
        """What the Job of the pod says; nothing without a Job, or while the Job is not known."""
        if not self._jobs:
            return _NOTHING
        found = (self._jobs.get(one.uid) for one in record.pod.metadata.owner_references if _is_job(one))
        return next(filter(None, found), _NOTHING)

    def nominal_limit(self, records: Sequence[PodRecord]) -> float:
        """The seconds that were set as a limit; infinite unless every pod has one."""
        limits = [min(_own_limit(one), self.of(one).limit) for one in records]
        return _latest(limits)

    def limit(self, records: Sequence[PodRecord], started: float) -> float:
        """Seconds after `started` at which all have ended at the latest; infinite unless all have a limit."""
        limits = []
        for one in records:
            job = self.of(one)
            limits.append(min(_own_limit(one), job.limit, max(0.0, job.deadline - started)))
        return _latest(limits)

    def deadline(self, records: Sequence[PodRecord]) -> float:
        """When the Jobs of all these pods are ended, whether the pods have started or not."""
        return _latest([self.of(one).deadline for one in records])


def _times(job: JobRunTime) -> JobTimes:
    seconds = job.spec.active_deadline_seconds
    # A limit of centuries says nothing about how long a run takes.
    limit = float(seconds) if seconds is not None and 0 <= seconds <= MAX_STATED_SECONDS else math.inf
    owners = [one.name for one in job.metadata.owner_references if one.kind == "CronJob"]
    return JobTimes(
        limit,
        _start(job) + limit,
        *stated_seconds(EXPECTED_DURATION, job.metadata.annotations.get(EXPECTED_DURATION)),
        f"CronJob/{owners[0]}" if owners else "",
    )


def _start(job: JobRunTime) -> float:
    """A suspended Job has no start time."""
    try:
        return parse_timestamp(job.status.start_time) if job.status.start_time else math.inf
    except TimestampError:
        return math.inf


def _is_job(reference: OwnerReference) -> bool:
    return reference.kind == "Job" and reference.api_version.startswith("batch/")


def _own_limit(record: PodRecord) -> float:
    seconds = record.pod.spec.active_deadline_seconds
    return float(seconds) if seconds is not None and seconds <= MAX_STATED_SECONDS else math.inf


def _latest(times: Sequence[float]) -> float:
    return max(times, default=math.inf)
