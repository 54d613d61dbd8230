"""The columns of `kubectl get pods`. The status cell tells the most telling of what phase, containers and
conditions say.
"""

from typing import NamedTuple

from posse.kinds.columns import AGE, NAME, NONE
from posse.kinds.machinery.durations import since
from posse.kinds.machinery.kind import Json, PrintedColumn
from posse.model.pod import ENDED_PHASES


class _Summary(NamedTuple):
    status: str
    ready: int
    total: int
    restarts: int


def _summary(pod: Json) -> _Summary:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    sidecars = {
        container["name"]
        for container in spec.get("initContainers") or []
        if container.get("restartPolicy") == "Always"
    }
    init_statuses = status.get("initContainerStatuses") or []
    container_statuses = status.get("containerStatuses") or []
    shown = _initial_text(status)
    init_text = _init_text(spec, init_statuses, sidecars)
    if init_text and not _is_true(status, "Initialized"):
        shown, restarts = init_text, _restarts(init_statuses)
        ready = _ready_sidecars(init_statuses, sidecars)
    else:
        shown = _container_text(shown, status, container_statuses)
        running_sidecars = [item for item in init_statuses if item.get("name") in sidecars]
        restarts = _restarts([*running_sidecars, *container_statuses])
        ready = _ready_sidecars(init_statuses, sidecars) + sum(map(_is_running, container_statuses))
    total = len(spec.get("containers") or []) + len(sidecars)
    return _Summary(_with_deletion(shown, pod), ready, total, restarts)


def _initial_text(status: Json) -> str:
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            return "SchedulingGated"
    return str(status.get("reason") or status.get("phase") or "")


def _with_deletion(shown: str, pod: Json) -> str:
    status = pod.get("status") or {}
    if not pod["metadata"].get("deletionTimestamp"):
        return shown
    if status.get("reason") == "NodeLost":
        return "Unknown"
    return shown if status.get("phase") in ENDED_PHASES else "Terminating"


def _init_text(spec: Json, statuses: list[Json], sidecars: set[str]) -> str:
    """What the first unfinished init container says; empty when all are through."""
    for index, item in enumerate(statuses):
        state = item.get("state") or {}
        waiting = (state.get("waiting") or {}).get("reason")
        terminated = state.get("terminated")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if item.get("name") in sidecars and item.get("started"):
            continue
        if terminated is not None:
            return f"Init:{_termination_text(terminated)}"
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}"
        return f"Init:{index}/{len(spec.get('initContainers') or [])}"
    return ""


def _container_text(shown: str, status: Json, statuses: list[Json]) -> str:
    """What the first container with something to say says."""
    for item in reversed(statuses):
        state = item.get("state") or {}
        waiting = (state.get("waiting") or {}).get("reason")
        if waiting:
            shown = waiting
        elif state.get("terminated") is not None:
            shown = _termination_text(state["terminated"])
    if shown == "Completed" and any(map(_is_running, statuses)):
        return "Running" if _is_true(status, "Ready") else "NotReady"
    return shown


def _termination_text(terminated: Json) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _is_true(status: Json, condition_type: str) -> bool:
    return any(
        condition.get("type") == condition_type and condition.get("status") == "True"
        for condition in status.get("conditions") or []
    )


def _is_running(item: Json) -> bool:
    return bool(item.get("ready")) and (item.get("state") or {}).get("running") is not None


def _ready_sidecars(statuses: list[Json], sidecars: set[str]) -> int:
    return sum(
        bool(item.get("name") in sidecars and item.get("started") and item.get("ready")) for item in statuses
    )


def _restarts(statuses: list[Json]) -> int:
    return sum(item.get("restartCount") or 0 for item in statuses)


def _restarts_cell(pod: Json, now: float) -> str:
    """The count and, when there was one, how long ago the last restart was."""
    count = _summary(pod).restarts
    status = pod.get("status") or {}
    ends = [
        ((item.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or ""
        for item in (*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or []))
    ]
    last = max(ends, default="")
    return f"{count} ({since(last, now)} ago)" if count and last else str(count)


def _readiness_gates(pod: Json, _now: float) -> str:
    gates = [gate.get("conditionType") for gate in (pod.get("spec") or {}).get("readinessGates") or []]
    passed = sum(_is_true(pod.get("status") or {}, gate) for gate in gates)
    return f"{passed}/{len(gates)}" if gates else NONE


def _ready(pod: Json, _now: float) -> str:
    summary = _summary(pod)
    return f"{summary.ready}/{summary.total}"


def _ip(pod: Json, _now: float) -> str:
    return (pod.get("status") or {}).get("podIP") or NONE


def _node(pod: Json, _now: float) -> str:
    return (pod.get("spec") or {}).get("nodeName") or NONE


def _nominated_node(pod: Json, _now: float) -> str:
    return (pod.get("status") or {}).get("nominatedNodeName") or NONE


def _status(pod: Json, _now: float) -> str:
    return _summary(pod).status


POD_STATUS_COLUMNS = (
    PrintedColumn("Ready", "string", "Containers that are ready, of all in the pod.", 0, _ready),
    PrintedColumn("Status", "string", "What the pod is doing, or why it is not.", 0, _status),
    PrintedColumn(
        "Restarts", "string", "How often containers were restarted, and when last.", 0, _restarts_cell
    ),
)
POD_WIDE_COLUMNS = (
    PrintedColumn("IP", "string", "Address of the pod.", 1, _ip),
    PrintedColumn("Node", "string", "Node the pod is bound to.", 1, _node),
    PrintedColumn("Nominated Node", "string", "Node on which room is being made.", 1, _nominated_node),
    PrintedColumn("Readiness Gates", "string", "Readiness gates passed, of all.", 1, _readiness_gates),
)


POD_COLUMNS = (NAME, *POD_STATUS_COLUMNS, AGE, *POD_WIDE_COLUMNS)
