"""When a replica is to be made anew as a whole, because one of its pods was restarted, is going, or is gone."""

from enum import Enum, auto
from typing import Any

from posse.controllers.leader_worker_sets.keys import REVISION, STARTUP, annotations_of, labels_of
from posse.controllers.leader_worker_sets.scene import Group
from posse.controllers.steps import is_deleting
from posse.model.leader_worker_set import (
    LEADER_READY,
    NO_RECREATION,
    RECREATE_AFTER_START,
    RECREATE_AFTER_START_ANNOTATION,
    RECREATE_ON_POD_RESTART,
    LeaderWorkerSetSpec,
)

Json = dict[str, Any]


class Loss(Enum):
    """Whether a pod that was on a node is gone, and how far the replica had come by then."""

    NONE = auto()
    BEFORE_START = auto()
    AFTER_START = auto()


def reason_to_restart(
    lws: Json, spec: LeaderWorkerSetSpec, group: Group, *, loss: Loss, is_gang: bool
) -> str:
    """Return in words why the replica is made anew, nothing if it may stay.

    Workers of another revision than their leader are being replaced anyway.
    """
    policy = spec.leader_worker_template.restart_policy
    if policy == NO_RECREATION or is_deleting(group.leader):
        return ""
    waits_for_start = _waits_for_start(lws, policy)
    if loss is Loss.AFTER_START or (loss is Loss.BEFORE_START and not waits_for_start):
        return "Pod of the replica is gone"
    if waits_for_start and not has_started(group):
        return ""
    if is_gang and not waits_for_start and (reason := _replacement(group)):
        return reason
    for pod in group.pods:
        if labels_of(pod).get(REVISION) == group.revision and (is_deleting(pod) or _was_restarted(pod)):
            return f"Pod {pod['metadata']['name']} {'is deleted' if is_deleting(pod) else 'was restarted'}"
    return ""


def _replacement(group: Group) -> str:
    """Find a pod that was made when others had their nodes already: a gang has all its pods before that.

    So a loss is noticed even if nobody was there to see it. Workers that were made for a leader that was ready, before the
    set came to ask for something else, are no replacement.
    """
    if group.worker_set is not None and annotations_of(group.worker_set).get(STARTUP) == LEADER_READY:
        return ""
    times = [time for pod in group.pods if (time := _scheduled_at(pod))]
    first = min(times, default=None)
    for pod in group.pods:
        if first is not None and pod["metadata"].get("creationTimestamp", "") > first:
            return f"Pod {pod['metadata']['name']} has replaced another"
    return ""


def _scheduled_at(pod: Json) -> str:
    """Return when the pod got its node; times of this form are in the order of their text."""
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "True":
            return condition.get("lastTransitionTime") or ""
    return ""


def _waits_for_start(lws: Json, policy: str) -> bool:
    is_annotated = RECREATE_AFTER_START_ANNOTATION in annotations_of(lws)
    return policy == RECREATE_AFTER_START or (policy == RECREATE_ON_POD_RESTART and is_annotated)


def has_started(group: Group) -> bool:
    phases = [(pod.get("status") or {}).get("phase") or "Pending" for pod in group.pods]
    return len(phases) >= group.size and "Pending" not in phases


def _was_restarted(pod: Json) -> bool:
    status = pod.get("status") or {}
    if status.get("phase") not in {"Running", "Pending"}:
        return False
    containers = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    return any((item.get("restartCount") or 0) > 0 for item in containers)
