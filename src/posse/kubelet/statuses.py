"""What a pod's status says after each move of its simulated containers.

The result is the changed part of the status, JSON-ready: lists are whole, because a merge patch replaces
them. When a move happens is decided in lifecycle.py.
"""

from dataclasses import dataclass
from typing import Any

from posse.kubelet.lifecycle import Move, plan_of, restarts_after
from posse.model.timestamps import format_timestamp

Json = dict[str, Any]

# What a process that heeds SIGTERM without handling it exits with.
EXIT_CODE_STOPPED = 143
# What the kubelet says of a container whose end it did not see.
EXIT_CODE_UNKNOWN = 255

COMPLETED = "PodCompleted"
FAILED = "PodFailed"
NOT_READY = "ContainersNotReady"
# Word for word as the kubelet: clients compare it.
DEADLINE_EXCEEDED = {
    "reason": "DeadlineExceeded",
    "message": "Pod was active on the node longer than the specified deadline",
}


@dataclass(frozen=True, slots=True)
class PodAddresses:
    """Where a pod runs, as its status tells it."""

    host_address: str
    pod_address: str


def status_after(move: Move, pod: Json, place: PodAddresses, now: float) -> Json:
    time = format_timestamp(now)
    match move:
        case Move.START:
            return _started(pod, place, time)
        case Move.RESTART:
            return _restarted(pod, time)
        case Move.EXIT | Move.CRASH:
            return _exited(pod, plan_of(pod).exit_code if move is Move.EXIT else EXIT_CODE_UNKNOWN, time)
        case Move.REPORT:
            return {"conditions": with_conditions(pod["status"], {"Ready": ("True", "")}, time)}
        case Move.JOIN:
            return {"ephemeralContainerStatuses": _joined(pod, time)}
        case _:
            why = DEADLINE_EXCEEDED if move is Move.EXPIRE else {}
            return _ended(pod, EXIT_CODE_STOPPED, time) | why


def rejected_status(reason: str, message: str, now: float) -> Json:
    """The status of a pod that its node does not take; none of its containers has ever run."""
    return {"phase": "Failed", "reason": reason, "message": message, "startTime": format_timestamp(now)}


def with_conditions(status: Json, changes: dict[str, tuple[str, str]], time: str) -> list[Json]:
    """Return the conditions after setting `type: (status, reason)`, keeping all others and their times."""
    conditions = {condition.get("type", ""): condition for condition in status.get("conditions") or []}
    for kind, (value, reason) in changes.items():
        old = conditions.get(kind, {})
        changed_at = old.get("lastTransitionTime", time) if old.get("status") == value else time
        condition = {"type": kind, "status": value, "lastTransitionTime": changed_at}
        conditions[kind] = condition | ({"reason": reason} if reason else {})
    return list(conditions.values())


def _started(pod: Json, place: PodAddresses, time: str) -> Json:
    status = pod.get("status") or {}
    address = place.host_address if pod["spec"].get("hostNetwork") else place.pod_address
    true = ("True", "")
    changes = dict.fromkeys(("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"), true)
    return {
        "phase": "Running",
        "conditions": with_conditions(status, changes, time),
        "hostIP": place.host_address,
        "hostIPs": [{"ip": place.host_address}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "startTime": status.get("startTime") or time,
        "initContainerStatuses": [_init_status(pod, init, time) for init in _init_containers(pod)],
        "containerStatuses": [_running(pod, container, {}, time) for container in pod["spec"]["containers"]],
    }


def _restarted(pod: Json, time: str) -> Json:
    before = _statuses_by_name(pod)
    containers = pod["spec"]["containers"]
    return {
        "conditions": with_conditions(pod["status"], _readiness("True", ""), time),
        "containerStatuses": [_running(pod, item, before.get(item["name"], {}), time) for item in containers],
    }


def _exited(pod: Json, exit_code: int, time: str) -> Json:
    if not restarts_after(pod, exit_code):
        return _ended(pod, exit_code, time)
    waiting = {
        "waiting": {"reason": "CrashLoopBackOff", "message": "the container starts again after a pause"}
    }
    exits = [_terminated(status, exit_code, time) for status in _statuses(pod)]
    return {
        "conditions": with_conditions(pod["status"], _readiness("False", NOT_READY), time),
        "containerStatuses": [status | {"state": waiting, "lastState": status["state"]} for status in exits],
    }


def _ended(pod: Json, exit_code: int, time: str) -> Json:
    reason = FAILED if exit_code else COMPLETED
    ephemeral = [_terminated(status, exit_code, time) for status in _ephemeral_statuses(pod)]
    return ({"ephemeralContainerStatuses": ephemeral} if ephemeral else {}) | {
        "phase": "Failed" if exit_code else "Succeeded",
        "conditions": with_conditions(pod["status"], _readiness("False", reason), time),
        "containerStatuses": [_terminated(status, exit_code, time) for status in _statuses(pod)],
    }


def _readiness(value: str, reason: str) -> dict[str, tuple[str, str]]:
    return {"Ready": (value, reason), "ContainersReady": (value, reason)}


def _statuses(pod: Json) -> list[Json]:
    return (pod.get("status") or {}).get("containerStatuses") or []


def _ephemeral_statuses(pod: Json) -> list[Json]:
    return (pod.get("status") or {}).get("ephemeralContainerStatuses") or []


def _joined(pod: Json, time: str) -> list[Json]:
    """Return the ephemeral containers with all of them started; they are never ready."""
    before = {status.get("name", ""): status for status in _ephemeral_statuses(pod)}
    not_started = {"ready": False, "started": False}
    return [
        before.get(container["name"]) or _running(pod, container, {}, time) | not_started
        for container in pod["spec"]["ephemeralContainers"]
    ]


def _statuses_by_name(pod: Json) -> dict[str, Json]:
    return {status.get("name", ""): status for status in _statuses(pod)}


def _init_containers(pod: Json) -> list[Json]:
    return pod["spec"].get("initContainers") or []


def _running(pod: Json, container: Json, before: Json, time: str) -> Json:
    restarts = before.get("restartCount", 0) + 1 if before else 0
    return {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "containerID": f"posse://{pod['metadata']['uid']}/{container['name']}/{restarts}",
        "ready": True,
        "started": True,
        "restartCount": restarts,
        "state": {"running": {"startedAt": time}},
        "lastState": before.get("lastState", {}),
    }


def _init_status(pod: Json, container: Json, time: str) -> Json:
    """Return how an init container stands once the others run: done, unless it is a sidecar."""
    status = _running(pod, container, {}, time)
    if container.get("restartPolicy") == "Always":
        return status
    return _terminated(status, 0, time) | {"ready": True}


def _terminated(status: Json, exit_code: int, time: str) -> Json:
    started_at = ((status.get("state") or {}).get("running") or {}).get("startedAt", time)
    end = {
        "exitCode": exit_code,
        "reason": "Error" if exit_code else "Completed",
        "startedAt": started_at,
        "finishedAt": time,
        "containerID": status.get("containerID", ""),
    }
    return status | {"ready": False, "started": False, "state": {"terminated": end}}
