"""When a whole replica is recreated because one of its pods was restarted, deleted or lost."""

import math
from enum import Enum, auto
from typing import Any

from posse.controllers.leader_worker_sets.keys import REVISION, STARTUP, annotations_of, labels_of
from posse.controllers.leader_worker_sets.observed_set import Group, ObservedLeaderWorkerSet
from posse.controllers.steps import is_deleting
from posse.model.leader_worker_set import (
    LEADER_READY,
    NO_RECREATION,
    RECREATE_AFTER_START,
    RECREATE_AFTER_START_ANNOTATION,
    RECREATE_ON_POD_RESTART,
)
from posse.model.timestamps import TimestampError, parse_timestamp

Json = dict[str, Any]

CLOCKS_APART_SECONDS = 30.0
"""API servers of a real cluster have clocks of their own."""


class Loss(Enum):
    """Whether a pod that was on a node is gone, and how far the replica had come by then."""

    NONE = auto()
    BEFORE_START = auto()
    AFTER_START = auto()


def reason_to_restart(observed: ObservedLeaderWorkerSet, group: Group, *, loss: Loss, is_gang: bool) -> str:
    """Return in words why the replica is recreated, nothing if it may stay.

    Workers of another revision than their leader are being replaced anyway.
    """
    policy = observed.spec.leader_worker_template.restart_policy
    if policy == NO_RECREATION or is_deleting(group.leader):
        return ""
    waits_for_start = _waits_for_start(observed.lws, policy)
    if loss is Loss.AFTER_START or (loss is Loss.BEFORE_START and not waits_for_start):
        return "Pod of the replica is gone"
    if waits_for_start and not has_started(group):
        return ""
    doubt = CLOCKS_APART_SECONDS if observed.completes_pods else 0.0
    if is_gang and not waits_for_start and (reason := _replacement(group, doubt)):
        return reason
    for pod in group.pods:
        if labels_of(pod).get(REVISION) == group.revision and (is_deleting(pod) or _was_restarted(pod)):
            return f"Pod {pod['metadata']['name']} {'is deleted' if is_deleting(pod) else 'was restarted'}"
    return ""


def _replacement(group: Group, doubt_seconds: float) -> str:
    """Find a pod that was beyond doubt made when others had their nodes already: a gang has all its pods
    before that.

    So a loss is noticed even if no controller ran at that time. Workers that were made for a leader that was
    ready, before the set came to ask for something else, are no replacement.
    """
    if group.worker_set is not None and annotations_of(group.worker_set).get(STARTUP) == LEADER_READY:
        return ""
    times = [time for pod in group.pods if (time := _scheduled_at(pod)) is not None]
    latest = min(times, default=math.inf) + doubt_seconds
    for pod in group.pods:
        made_at = _time(pod["metadata"].get("creationTimestamp"))
        if made_at is not None and made_at > latest:
            return f"Pod {pod['metadata']['name']} has replaced another"
    return ""


def _scheduled_at(pod: Json) -> float | None:
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "True":
            return _time(condition.get("lastTransitionTime"))
    return None


def _time(text: str | None) -> float | None:
    try:
        return parse_timestamp(text or "")
    except TimestampError:
        return None


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
