"""How a Job stands by its pods and by what has been counted before. Each pod is counted exactly once.

A pod that has ended is first named in the status as uncounted, then loses its tracking finalizer, and is then
moved from the names to the counters; whenever the controller is interrupted, it goes on from there. Succeeded
pods of an Indexed Job need no names: their index says it all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from posse.controllers.jobs.failures import FAIL_INDEX, FAIL_JOB, IGNORE, judge
from posse.controllers.jobs.pods import JobPod, has_failed
from posse.model.indexes import Indexes, known_indexes
from posse.model.job import JobSpec, JobStatus, UncountedTerminatedPods

# The status would grow too large if more were named at once; the others have their turn afterwards.
UNCOUNTED_MAX = 500


@dataclass(slots=True)
class Tally:
    active: list[JobPod] = field(default_factory=list)
    # All that are not active; those that are terminating are among them.
    others: list[JobPod] = field(default_factory=list)
    terminating: list[JobPod] = field(default_factory=list)
    # What the counters in the status say, once this tally has been written.
    succeeded_counted: int = 0
    failed_counted: int = 0
    uncounted_succeeded: list[str] = field(default_factory=list)
    uncounted_failed: list[str] = field(default_factory=list)
    completed_indexes: Indexes = field(default_factory=Indexes)
    failed_indexes: Indexes = field(default_factory=Indexes)
    # The last failed pod of each index that is to be tried again; it keeps the number of failures until then.
    to_replace: dict[int, JobPod] = field(default_factory=dict)
    # May lose their finalizer as soon as this tally has been written.
    releasable: list[JobPod] = field(default_factory=list)
    # Why the failure policy wants the Job to fail, if it does.
    fail_job_message: str = ""

    @property
    def failed(self) -> int:
        return self.failed_counted + len(self.uncounted_failed) + len(self.to_replace)

    @property
    def is_settled(self) -> bool:
        """Whether every pod has ended and been counted."""
        return not (
            self.active
            or self.terminating
            or self.uncounted_succeeded
            or self.uncounted_failed
            or self.to_replace
        )


def take_tally(spec: JobSpec, status: JobStatus, pods: Sequence[JobPod], *, is_ending: bool) -> Tally:
    """Count the pods. When the Job `is_ending`, no failed pod waits to be replaced."""
    tally = _carried_over(spec, status, pods)
    # A Job may have 50,000 pods: of those that are active nothing else is asked.
    tally.active = [pod for pod in pods if pod.is_active]
    tally.others = [pod for pod in pods if not pod.is_active]
    tally.terminating = [pod for pod in tally.others if pod.is_terminating]
    named = {*tally.uncounted_succeeded, *tally.uncounted_failed}
    ended = [pod for pod in tally.others if pod.is_tracked and pod.uid not in named]
    _count_successes(tally, [pod for pod in ended if pod.phase == "Succeeded"], spec)
    failed = [pod for pod in ended if has_failed(pod, spec)]
    if spec.backoff_limit_per_index is not None:
        failed = _by_index(tally, failed, spec, is_ending=is_ending)
    for pod in failed:
        _count_failure(tally, pod, spec)
    if named:
        tally.releasable += [pod for pod in pods if pod.is_tracked and pod.uid in named]
    return tally


def _carried_over(spec: JobSpec, status: JobStatus, pods: Sequence[JobPod]) -> Tally:
    names = status.uncounted_terminated_pods or UncountedTerminatedPods()
    by_uid = {pod.uid: pod for pod in pods} if names.succeeded or names.failed else {}
    succeeded, failed = _tracked(names.succeeded, by_uid), _tracked(names.failed, by_uid)
    completions = spec.completions or 0
    return Tally(
        succeeded_counted=status.succeeded + len(names.succeeded) - len(succeeded),
        failed_counted=status.failed + len(names.failed) - len(failed),
        uncounted_succeeded=succeeded,
        uncounted_failed=failed,
        completed_indexes=known_indexes(status.completed_indexes, completions if spec.is_indexed else 0),
        failed_indexes=known_indexes(status.failed_indexes or "", completions),
    )


def _tracked(uids: Iterable[str], by_uid: dict[str, JobPod]) -> list[str]:
    return [uid for uid in uids if uid in by_uid and by_uid[uid].is_tracked]


def succeeded(tally: Tally, spec: JobSpec) -> int:
    if spec.is_indexed:
        return len(tally.completed_indexes)
    return tally.succeeded_counted + len(tally.uncounted_succeeded)


def has_index(pod: JobPod, spec: JobSpec) -> bool:
    return pod.index is not None and pod.index < (spec.completions or 0)


def _count_successes(tally: Tally, pods: Sequence[JobPod], spec: JobSpec) -> None:
    if spec.is_indexed:
        indexes = [pod.index for pod in pods if pod.index is not None and has_index(pod, spec)]
        tally.completed_indexes = tally.completed_indexes.with_all(indexes)
        tally.releasable += pods
        return
    for pod in pods:
        if not _has_room(tally):
            break
        tally.uncounted_succeeded.append(pod.uid)
        tally.releasable.append(pod)


def _count_failure(tally: Tally, pod: JobPod, spec: JobSpec) -> None:
    match = judge(pod, spec)
    if match.action == FAIL_JOB and not tally.fail_job_message:
        tally.fail_job_message = match.message
    if match.action == IGNORE or (spec.is_indexed and not has_index(pod, spec)):
        tally.releasable.append(pod)
    elif _has_room(tally):
        tally.uncounted_failed.append(pod.uid)
        tally.releasable.append(pod)


def _has_room(tally: Tally) -> bool:
    return len(tally.uncounted_succeeded) + len(tally.uncounted_failed) < UNCOUNTED_MAX


def _by_index(tally: Tally, failed: Iterable[JobPod], spec: JobSpec, *, is_ending: bool) -> list[JobPod]:
    """Find the indexes that have failed for good, and keep the pods whose index is to be tried again."""
    failed = list(failed)
    over = [pod.index for pod in failed if pod.index is not None and _fails_index(pod, spec)]
    tally.failed_indexes = tally.failed_indexes.with_all(over) - tally.completed_indexes
    ended, latest = tally.completed_indexes | tally.failed_indexes, _latest_attempts(tally.active)
    for pod in () if is_ending else failed:
        if pod.index is None or not has_index(pod, spec) or pod.index in ended:
            continue
        kept = tally.to_replace.get(pod.index)
        is_latest = latest.get(pod.index, 0) <= _attempts(pod)
        if is_latest and (kept is None or _attempts(kept) < _attempts(pod)):
            tally.to_replace[pod.index] = pod
    kept_uids = {pod.uid for pod in tally.to_replace.values()}
    return [pod for pod in failed if pod.uid not in kept_uids]


def _fails_index(pod: JobPod, spec: JobSpec) -> bool:
    if not has_index(pod, spec):
        return False
    action = judge(pod, spec).action
    if action in {FAIL_INDEX, IGNORE}:
        return action == FAIL_INDEX
    return pod.failures >= (spec.backoff_limit_per_index or 0)


def _latest_attempts(active: Iterable[JobPod]) -> dict[int, int]:
    """Find the most attempts that an active pod of each index has behind it."""
    latest: dict[int, int] = {}
    for pod in active:
        if pod.index is not None:
            latest[pod.index] = max(_attempts(pod), latest.get(pod.index, 0))
    return latest


def _attempts(pod: JobPod) -> int:
    return pod.failures + pod.ignored_failures
