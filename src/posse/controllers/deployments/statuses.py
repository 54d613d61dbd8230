"""The status of a Deployment: counts of its pods, and whether its update advances."""

from collections.abc import Sequence

from posse.controllers.deployments.rollout import Limits
from posse.kinds.machinery.kind import Json
from posse.model.deployment import DeploymentSpec
from posse.model.timestamps import TimestampError, format_timestamp, parse_timestamp

AVAILABLE = "Available"
PROGRESSING = "Progressing"
DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")


def next_status(
    deployment: Json,
    spec: DeploymentSpec,
    limits: Limits,
    current: Json | None,
    old: Sequence[Json],
    now: float,
) -> Json:
    """Return the status but for collisions of names; `current` and `old` are the ReplicaSets."""
    before = deployment.get("status") or {}
    sets = [*old, *([current] if current is not None else [])]
    counts = {
        "replicas": _sum(sets, "replicas"),
        "updatedReplicas": _sum([current] if current is not None else [], "replicas"),
        "readyReplicas": _sum(sets, "readyReplicas"),
        "availableReplicas": _sum(sets, "availableReplicas"),
        "terminatingReplicas": _sum(sets, "terminatingReplicas"),
    }
    counts["unavailableReplicas"] = max(0, spec.wanted - counts["availableReplicas"])
    status = {name: count for name, count in counts.items() if count}
    status["observedGeneration"] = deployment["metadata"].get("generation") or 0
    progress = _progress(before, spec, counts, current, now)
    available = _availability(counts["availableReplicas"] >= limits.lowest)
    wanted = [available, *([progress] if progress else [])]
    return status | {"conditions": [_stamped(before, each, now) for each in wanted]}


def stalls_at(status: Json, spec: DeploymentSpec) -> float | None:
    """When an update that does not advance until then counts as failed."""
    progress = _condition(status, PROGRESSING)
    deadline = spec.progress_deadline_seconds
    if deadline is None or progress.get("reason") not in ("NewReplicaSetCreated", "ReplicaSetUpdated"):
        return None
    try:
        return parse_timestamp(progress.get("lastUpdateTime") or "") + deadline
    except TimestampError:
        return None


def _sum(sets: Sequence[Json], name: str) -> int:
    return sum((each.get("status") or {}).get(name) or 0 for each in sets)


def _availability(is_available: bool) -> Json:
    if is_available:
        text = "Deployment has minimum availability."
        return {"type": AVAILABLE, "status": "True", "reason": "MinimumReplicasAvailable", "message": text}
    text = "Deployment does not have minimum availability."
    return {"type": AVAILABLE, "status": "False", "reason": "MinimumReplicasUnavailable", "message": text}


def _progress(
    before: Json, spec: DeploymentSpec, counts: Json, current: Json | None, now: float
) -> Json | None:
    if current is None:
        return _condition(before, PROGRESSING) or None
    name, known = f'ReplicaSet "{current["metadata"]["name"]}"', _condition(before, PROGRESSING)
    progress: Json = {"type": PROGRESSING, "status": "True"}
    if all(counts[each] == spec.wanted for each in COUNTS):
        text = f"{name} has successfully progressed."
        return progress | {"reason": "NewReplicaSetAvailable", "message": text}
    if spec.paused:
        text = "Deployment is paused"
        return progress | {"status": "Unknown", "reason": "DeploymentPaused", "message": text}
    has_moved = any((before.get(each) or 0) != counts[each] for each in COUNTS)
    deadline = stalls_at(before, spec)
    if not has_moved and (
        known.get("reason") == DEADLINE_EXCEEDED or (deadline is not None and deadline <= now)
    ):
        text = f"{name} has timed out progressing."
        return progress | {"status": "False", "reason": DEADLINE_EXCEEDED, "message": text}
    if not has_moved and known.get("reason") in ("NewReplicaSetCreated", "ReplicaSetUpdated"):
        return known
    moved = progress | {"reason": "ReplicaSetUpdated", "message": f"{name} is progressing."}
    return moved | {"lastUpdateTime": format_timestamp(now)}


def _condition(status: Json, name: str) -> Json:
    return next((each for each in status.get("conditions") or () if each.get("type") == name), {})


def _stamped(before: Json, condition: Json, now: float) -> Json:
    """Return the condition with times; those of an earlier one stay as far as it said the same."""
    known, stamp = _condition(before, condition["type"]), format_timestamp(now)
    is_same = all(known.get(name) == condition[name] for name in ("status", "reason", "message"))
    updated = condition.get("lastUpdateTime") or (known.get("lastUpdateTime") if is_same else stamp) or stamp
    changed = known.get("lastTransitionTime") if known.get("status") == condition["status"] else stamp
    return condition | {"lastUpdateTime": updated, "lastTransitionTime": changed or stamp}
