"""Which pods of a Job are created or withdrawn next; a plan never does both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from posse.controllers.jobs.failures import IGNORE, backoff_seconds, judge, next_start
from posse.controllers.jobs.pods import JobPod, ended_at, waits_for_the_end
from posse.controllers.jobs.tally import Tally, has_index, succeeded
from posse.controllers.jobs.templates import count_failures, new_indexed_pod, new_pod
from posse.model.job import Job, JobSpec

Json = dict[str, Any]

MAX_CHANGES = 500


@dataclass(slots=True)
class JobPodChanges:
    """Pods to create, to withdraw and to delete, and when to plan again if some may only be created later."""

    create: list[Json] = field(default_factory=list)
    # Deleted without counting as failed.
    withdraw: Sequence[JobPod] = ()
    delete: Sequence[JobPod] = ()
    wake_at: float | None = None


def scale(obj: Json, job: Job, tally: Tally, now: float) -> JobPodChanges:
    spec = job.spec
    if spec.suspend:
        return JobPodChanges(withdraw=tally.active[:MAX_CHANGES])
    wanted = wanted_active(spec, tally)
    surplus = _surplus(spec, tally.active, wanted)
    if surplus:
        return JobPodChanges(withdraw=surplus[:MAX_CHANGES])
    leaving = len(tally.terminating) if waits_for_the_end(spec) else 0
    missing = min(wanted - len(tally.active) - leaving, MAX_CHANGES)
    if missing <= 0:
        return JobPodChanges()
    if spec.backoff_limit_per_index is not None:
        return _scale_by_index(obj, spec, tally, missing, now)
    starts_at = next_start(tally.others, spec)
    return JobPodChanges(wake_at=starts_at) if starts_at > now else _scale_at_once(obj, spec, tally, missing)


def _scale_at_once(obj: Json, spec: JobSpec, tally: Tally, missing: int) -> JobPodChanges:
    if not spec.is_indexed:
        return JobPodChanges(create=[new_pod(obj) for _ in range(missing)])
    free = islice(_free_indexes(spec, tally), missing)
    return JobPodChanges(create=[new_indexed_pod(obj, index) for index in free])


def pods_at_once(spec: JobSpec) -> int:
    """How many pods run side by side while all of the work is left."""
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    return parallelism if spec.completions is None else min(parallelism, spec.completions)


def wanted_active(spec: JobSpec, tally: Tally) -> int:
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    count = succeeded(tally, spec)
    if spec.completions is None:
        return min(len(tally.active), parallelism) if count else parallelism
    return max(0, min(parallelism, spec.completions - count - len(tally.failed_indexes)))


def _surplus(spec: JobSpec, active: Sequence[JobPod], wanted: int) -> list[JobPod]:
    useless = _useless(spec, active) if spec.is_indexed else []
    excess = len(active) - len(useless) - wanted
    if excess <= 0:
        return useless
    useless_uids = {pod.uid for pod in useless}
    useful = sorted((pod for pod in active if pod.uid not in useless_uids), key=_dispensability)
    return useless + useful[:excess]


def _useless(spec: JobSpec, active: Sequence[JobPod]) -> list[JobPod]:
    """Return pods without an index of their own: it is out of range, or another pod has it."""
    indexes = {pod.index for pod in active if pod.index is not None}
    if len(indexes) == len(active) and max(indexes, default=0) < (spec.completions or 0):
        return []
    useless = []
    taken: set[int] = set()
    for pod in sorted(active, key=_dispensability, reverse=True):
        if pod.index is None or not has_index(pod, spec) or pod.index in taken:
            useless.append(pod)
        else:
            taken.add(pod.index)
    return useless


def _dispensability(pod: JobPod) -> tuple[object, ...]:
    """Order pods by how little is lost with them: what has not started goes before what runs."""
    is_running = pod.phase == "Running"
    return pod.is_scheduled, is_running, pod.is_ready, -pod.restarts, _newest_first(pod.created), pod.uid


def _newest_first(created: str) -> tuple[int, ...]:
    return tuple(-ord(character) for character in created)


def _free_indexes(spec: JobSpec, tally: Tally) -> Iterator[int]:
    """Only as many as are asked for are looked for: a Job may have thousands of millions."""
    present = [*tally.active, *(tally.terminating if waits_for_the_end(spec) else ())]
    taken = (pod.index for pod in present if pod.index is not None)
    return (tally.completed_indexes | tally.failed_indexes).with_all(taken).missing(spec.completions or 0)


def _scale_by_index(obj: Json, spec: JobSpec, tally: Tally, missing: int, now: float) -> JobPodChanges:
    """Each index waits for itself after it has failed; the others go ahead."""
    changes = JobPodChanges()
    for index in _free_indexes(spec, tally):
        if len(changes.create) >= missing:
            break
        before = tally.to_replace.get(index)
        starts_at = _next_start_after(before) if before is not None else 0.0
        if starts_at > now:
            changes.wake_at = min(starts_at, changes.wake_at or starts_at)
            continue
        pod = new_indexed_pod(obj, index)
        count_failures(pod, *_failures_with(before, spec))
        changes.create.append(pod)
    return changes


def _next_start_after(pod: JobPod) -> float:
    return ended_at(pod) + backoff_seconds(pod.failures + pod.ignored_failures + 1)


def _failures_with(pod: JobPod | None, spec: JobSpec) -> tuple[int, int]:
    if pod is None:
        return 0, 0
    if judge(pod, spec).action == IGNORE:
        return pod.failures, pod.ignored_failures + 1
    return pod.failures + 1, pod.ignored_failures
