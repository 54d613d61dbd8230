"""What the status of a PodDisruptionBudget says about evictions that it allows."""

from posse.kinds.machinery.kind import Json
from posse.model.timestamps import format_timestamp

DISRUPTION_ALLOWED = "DisruptionAllowed"
SUFFICIENT_PODS = "SufficientPods"
INSUFFICIENT_PODS = "InsufficientPods"
SYNC_FAILED = "SyncFailed"


def with_condition(status: Json, generation: int, now: float, failure: str = "") -> Json:
    """Return the status with the condition that sums it up; `failure` says why it could not be computed."""
    is_allowed = not failure and status["disruptionsAllowed"] > 0
    reason = SYNC_FAILED if failure else SUFFICIENT_PODS if is_allowed else INSUFFICIENT_PODS
    conditions = status.get("conditions") or []
    before: Json = next((each for each in conditions if each.get("type") == DISRUPTION_ALLOWED), {})
    others = [each for each in conditions if each is not before]
    value = "True" if is_allowed else "False"
    is_same = before.get("status") == value
    condition = {
        "type": DISRUPTION_ALLOWED,
        "status": value,
        "observedGeneration": generation,
        "lastTransitionTime": before["lastTransitionTime"] if is_same else format_timestamp(now),
        "reason": reason,
        "message": failure,
    }
    return status | {"conditions": [*others, condition]}
