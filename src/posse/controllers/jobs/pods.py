"""What the Job controller needs to know of a pod, read once from its JSON.

A pod carries the tracking finalizer until it has been counted, so none can vanish uncounted.
"""

from dataclasses import dataclass
from typing import Any

from posse.model.job import JobSpec
from posse.model.pod import ENDED_PHASES
from posse.model.timestamps import TimestampError, parse_timestamp

Json = dict[str, Any]

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"
COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
INDEX_IGNORED_FAILURE_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"


@dataclass(frozen=True, slots=True)
class JobPod:
    namespace: str
    name: str
    uid: str
    version: int
    job_uid: str
    index: int | None
    phase: str
    # Being deleted; and then, whether nothing of it runs any more, so that only finalizers hold it.
    is_deleting: bool
    is_stopped: bool
    is_tracked: bool
    is_ready: bool
    is_scheduled: bool
    restarts: int
    created: str
    # Neither ended nor being deleted.
    is_active: bool
    obj: Json

    @property
    def is_terminating(self) -> bool:
        return self.phase not in ENDED_PHASES and self.is_deleting and not self.is_stopped

    @property
    def failures(self) -> int:
        return _count(self.obj, INDEX_FAILURE_COUNT)

    @property
    def ignored_failures(self) -> int:
        return _count(self.obj, INDEX_IGNORED_FAILURE_COUNT)


def read_pod(pod: Json) -> JobPod:
    metadata, status = pod["metadata"], pod.get("status") or {}
    is_deleting = bool(metadata.get("deletionTimestamp"))
    phase = status.get("phase") or "Pending"
    return JobPod(
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        version=int(metadata["resourceVersion"]),
        job_uid=controlling_job(pod),
        index=_index_of(pod),
        phase=phase,
        is_deleting=is_deleting,
        is_stopped=is_deleting and not metadata.get("deletionGracePeriodSeconds"),
        is_tracked=TRACKING_FINALIZER in (metadata.get("finalizers") or ()),
        is_ready=_is_ready(status),
        is_scheduled=bool(pod["spec"].get("nodeName")),
        restarts=_restarts(status),
        created=metadata.get("creationTimestamp") or "",
        is_active=phase not in ENDED_PHASES and not is_deleting,
        obj=pod,
    )


def concerns_jobs(pod: Json) -> bool:
    """Whether the pod belongs to a Job, or did so and is still to be counted."""
    return bool(controlling_job(pod)) or TRACKING_FINALIZER in (pod["metadata"].get("finalizers") or ())


def controlling_job(pod: Json) -> str:
    """Return the uid of the Job that the pod belongs to, empty when there is none."""
    for owner in pod["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            is_job = owner.get("kind") == "Job" and owner.get("apiVersion", "").startswith("batch/")
            return owner.get("uid") or "" if is_job else ""
    return ""


def has_failed(pod: JobPod, spec: JobSpec) -> bool:
    """A pod that is being deleted has failed at once, unless the Job waits to see how its pods end."""
    if pod.phase in ENDED_PHASES:
        return pod.phase == "Failed"
    return pod.is_deleting and (pod.is_stopped or not waits_for_the_end(spec))


def waits_for_the_end(spec: JobSpec) -> bool:
    return spec.pod_replacement_policy == "Failed"


def ended_at(pod: JobPod) -> float:
    """Return when the pod ended, as far as it tells; 0 when it does not."""
    status = pod.obj.get("status") or {}
    exits = [
        ((item.get("state") or {}).get("terminated") or {}).get("finishedAt")
        for item in status.get("containerStatuses") or ()
    ]
    times = [_seconds(text) for text in exits if text]
    return max(times) if times else _seconds(pod.obj["metadata"].get("deletionTimestamp"))


def _seconds(text: str | None) -> float:
    try:
        return parse_timestamp(text or "")
    except TimestampError:
        return 0.0


def _index_of(pod: Json) -> int | None:
    text = (pod["metadata"].get("annotations") or {}).get(COMPLETION_INDEX, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else None


def _count(pod: Json, annotation: str) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(annotation, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else 0


def _is_ready(status: Json) -> bool:
    conditions = status.get("conditions") or ()
    return any(item.get("type") == "Ready" and item.get("status") == "True" for item in conditions)


def _restarts(status: Json) -> int:
    statuses = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    return sum(item.get("restartCount") or 0 for item in statuses)
