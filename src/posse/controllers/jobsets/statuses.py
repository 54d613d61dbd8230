"""The status of a JobSet: counts of Jobs, restarts and conditions, and the events about changes."""

from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any, NamedTuple

from posse.controllers.jobsets.children import ChildJob, Children
from posse.controllers.steps import News
from posse.kinds.sets.jobset_gangs import replicas
from posse.model.jobset import JobSet, ReplicatedJob
from posse.model.timestamps import format_timestamp

Json = dict[str, Any]


class Count(NamedTuple):
    """How many Jobs of a replicatedJob are in which state; one may be in several."""

    ready: int
    succeeded: int
    failed: int
    active: int
    suspended: int

    @property
    def started(self) -> int:
        return self.ready + self.succeeded + self.failed


class StatusDraft:
    def __init__(self, obj: Json, now: float) -> None:
        self.status: Json = deepcopy(obj.get("status") or {})
        self.news: list[News] = []
        self._time = format_timestamp(now)

    def count(self, jobset: JobSet, children: Children) -> dict[str, Count]:
        """Note how the Jobs stand, and return it by the name of their replicatedJob."""
        counts = {
            job.name: _count(children.current_of.get(job.name, ())) for job in jobset.spec.replicated_jobs
        }
        if counts:
            known = {item.get("name"): item for item in self.status.get("replicatedJobsStatus") or ()}
            self.status["replicatedJobsStatus"] = [
                _restart_counts(known.get(name) or {}) | {"name": name, **count._asdict()}
                for name, count in counts.items()
            ]
        return counts

    def restart(self, *, counts_towards_max: bool) -> None:
        self.status["restarts"] = self.status.get("restarts", 0) + 1
        if counts_towards_max:
            self.status["restartsCountTowardsMax"] = self.status.get("restartsCountTowardsMax", 0) + 1

    def restart_job(self, job: ChildJob, *, counts_towards_max: bool) -> None:
        """Note that a Job is to be replaced while the others go on."""
        entries = self.status["replicatedJobsStatus"]
        entry = next(item for item in entries if item["name"] == job.replicated_job)
        entry["jobRestarts"] = _raised(entry.get("jobRestarts"), job.index)
        if counts_towards_max:
            name = "jobRestartsCountTowardsMax"
            entry[name] = _raised(entry.get(name), job.index)

    def hold(self, kind: str, news: News) -> None:
        """The condition is True from now on, and that is news unless it was before."""
        known = self._condition(kind)
        if known is not None and known.get("status") == "True":
            known["reason"], known["message"] = news.reason, news.message
            return
        self._set(kind, "True", news)

    def holding(self, kind: str, news: News) -> Json:
        """Return what the status would be if the condition were True as well."""
        other = copy(self)
        other.news, conditions = [], deepcopy(self.status.get("conditions") or [])
        # The counts are shared: there may be as many statuses as Jobs, and as many counts in each.
        other.status = self.status | {"conditions": conditions}
        other.hold(kind, news)
        return other.status

    def lift(self, kind: str, reason: str, message: str) -> None:
        """The condition holds no longer; one that never held is not mentioned."""
        known = self._condition(kind)
        if known is not None and known.get("status") == "True":
            self._set(kind, "False", News(reason, message))

    def _condition(self, kind: str) -> Json | None:
        conditions = self.status.get("conditions") or []
        return next((item for item in conditions if item.get("type") == kind), None)

    def _set(self, kind: str, value: str, news: News) -> None:
        others = [item for item in self.status.get("conditions") or [] if item.get("type") != kind]
        condition = {
            "type": kind,
            "status": value,
            "lastTransitionTime": self._time,
            "reason": news.reason,
            "message": news.message,
        }
        self.status["conditions"] = [*others, condition]
        self.news.append(news)


def _restart_counts(entry: Json) -> Json:
    names = ("jobRestarts", "jobRestartsCountTowardsMax")
    return {name: entry[name] for name in names if entry.get(name)}


def _raised(counts: list[int] | None, index: int) -> list[int]:
    counts = [*(counts or ()), *(0 for _ in range(index + 1 - len(counts or ())))]
    counts[index] += 1
    return counts


def _count(jobs: Sequence[ChildJob]) -> Count:
    return Count(
        ready=sum(job.is_ready for job in jobs),
        succeeded=sum(job.is_complete for job in jobs),
        failed=sum(job.failure is not None for job in jobs),
        active=sum(job.job.status.active > 0 for job in jobs),
        suspended=sum(job.is_suspended for job in jobs),
    )


def has_started(job: ReplicatedJob, counts: dict[str, Count]) -> bool:
    return counts[job.name].started == replicas(job)


def has_completed(job: ReplicatedJob, counts: dict[str, Count]) -> bool:
    return counts[job.name].succeeded == replicas(job)
