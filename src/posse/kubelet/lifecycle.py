"""What happens next to a pod that sits on a simulated node, and when.

Everything is read off the pod itself, so nothing is forgotten over a restart. This module does not know
nodes, addresses or how a status is written (statuses.py).
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from posse.kubelet.annotations import RunPlan, read_plan
from posse.model.timestamps import parse_timestamp

Json = dict[str, Any]

# The recorded times are whole seconds; what was recorded happened within the second that follows.
RECORDED_PRECISION_SECONDS = 1.0
FIRST_BACKOFF_SECONDS = 10.0
LONGEST_BACKOFF_SECONDS = 300.0
ALREADY_DUE = 0.0
# How long the pods of a Job run that do not say it.
JOB_RUN_SECONDS = 5.0


class Move(StrEnum):
    START = "start"
    EXIT = "exit"
    RESTART = "restart"
    STOP = "stop"
    REMOVE = "remove"
    EXPIRE = "expire"
    """Its activeDeadlineSeconds are over: it fails, whatever its restartPolicy."""
    CRASH = "crash"
    """The containers have ended with their node."""
    REPORT = "report"
    """The node reports again that the pod is ready."""
    JOIN = "join"
    """Ephemeral containers, as `kubectl debug` adds them, start beside the others."""


@dataclass(frozen=True, slots=True)
class Due:
    """A move and the time from which it may happen."""

    at: float
    move: Move


def next_move(pod: Json, now: float) -> Due | None:
    """Return what the pod's node does with it next, or None when it only has to wait for others."""
    plan = plan_of(pod)
    if pod["metadata"].get("deletionTimestamp"):
        return _termination(pod, plan, now)
    match phase_of(pod):
        case "Pending":
            return Due(ALREADY_DUE, Move.START)
        case "Running":
            return _sooner(_while_running(pod, plan, now), _deadline(pod, now))
        case _:
            return None


def plan_of(pod: Json) -> RunPlan:
    plan = read_plan(pod["metadata"].get("annotations") or {})
    if plan.run_seconds is None and _belongs_to_job(pod):
        return replace(plan, run_seconds=JOB_RUN_SECONDS)
    return plan


def _belongs_to_job(pod: Json) -> bool:
    """Pods of a Job are meant to end by themselves."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(owner.get("kind") == "Job" and owner.get("controller") for owner in owners)


def phase_of(pod: Json) -> str:
    phase: str = (pod.get("status") or {}).get("phase") or "Pending"
    return phase


def restarts_after(pod: Json, exit_code: int) -> bool:
    policy = pod["spec"].get("restartPolicy") or "Always"
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def backoff_seconds(restart_count: int) -> float:
    """Return the wait before the next start: none the first time, then doubling, as the kubelet does it."""
    if restart_count <= 0:
        return 0.0
    doublings = min(restart_count - 1, 10)
    return min(FIRST_BACKOFF_SECONDS * (1 << doublings), LONGEST_BACKOFF_SECONDS)


def _termination(pod: Json, plan: RunPlan, now: float) -> Due | None:
    metadata = pod["metadata"]
    grace = metadata.get("deletionGracePeriodSeconds") or 0
    if grace == 0:
        # The server has let go of the pod already; only finalizers of others still hold it.
        return None
    if phase_of(pod) != "Running":
        return Due(ALREADY_DUE, Move.REMOVE)
    asked_at = _moment(metadata["deletionTimestamp"], now + grace) - grace
    # The owner of a finalizer waits to see how the pod ended.
    move = Move.STOP if metadata.get("finalizers") else Move.REMOVE
    return Due(asked_at + min(float(grace), plan.stop_seconds), move)


def _while_running(pod: Json, plan: RunPlan, now: float) -> Due | None:
    container = _first_container_status(pod)
    state = container.get("state") or {}
    if "running" in state:
        if _is_thought_unready(pod):
            return Due(ALREADY_DUE, Move.REPORT)
        if _has_new_containers(pod):
            return Due(ALREADY_DUE, Move.JOIN)
        if plan.run_seconds is None:
            return None
        started_at = _moment((state["running"] or {}).get("startedAt"), now)
        return Due(started_at + plan.run_seconds, Move.EXIT)
    last_exit = (container.get("lastState") or {}).get("terminated")
    if last_exit is None:
        return None
    ended_at = _moment(last_exit.get("finishedAt"), now)
    return Due(ended_at + backoff_seconds(container.get("restartCount", 0)), Move.RESTART)


def _deadline(pod: Json, now: float) -> Due | None:
    limit = pod["spec"].get("activeDeadlineSeconds")
    if limit is None:
        return None
    return Due(_moment(pod["status"].get("startTime"), now) + limit, Move.EXPIRE)


def _sooner(one: Due | None, other: Due | None) -> Due | None:
    return min((due for due in (one, other) if due is not None), key=lambda due: due.at, default=None)


def _is_thought_unready(pod: Json) -> bool:
    """Whether others marked the pod while its node was away."""
    conditions = {each.get("type"): each.get("status") for each in pod["status"].get("conditions") or ()}
    return (conditions.get("Ready"), conditions.get("ContainersReady")) == ("False", "True")


def _has_new_containers(pod: Json) -> bool:
    """Whether the pod was given ephemeral containers that have not started."""
    given = {each.get("name") for each in pod["spec"].get("ephemeralContainers") or ()}
    return not given <= {each.get("name") for each in pod["status"].get("ephemeralContainerStatuses") or ()}


def _first_container_status(pod: Json) -> Json:
    # All containers of a simulated pod start and end together.
    statuses = pod["status"].get("containerStatuses") or [{}]
    first: Json = statuses[0]
    return first


def _moment(recorded: str | None, now: float) -> float:
    """Sharpen a recorded whole second: seen at once it is now, seen late it is the end of that second.

    One that is yet to come is now as well: the clock was set back since.
    """
    try:
        second = parse_timestamp(recorded or "")
    except ValueError:
        # Any client may write a status; a time that cannot be read starts counting when it is seen.
        return now
    return min(now, second + RECORDED_PRECISION_SECONDS)
