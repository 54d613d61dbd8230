"""The status of a StatefulSet: counts of its pods, and the revisions that they are made from."""

from collections.abc import Sequence
from typing import Any

from posse.controllers.stateful_sets.pods import SetPod
from posse.controllers.stateful_sets.revisions import Revisions
from posse.controllers.stateful_sets.scaling import is_available
from posse.model.stateful_set import ROLLING_UPDATE, StatefulSetSpec

Json = dict[str, Any]


def next_status(
    obj: Json, spec: StatefulSetSpec, pods: Sequence[SetPod], revisions: Revisions, now: float
) -> Json:
    """Return the whole status. Conditions that others have set stay as they are."""
    current, update = revisions.current["metadata"]["name"], revisions.update["metadata"]["name"]
    staying = [pod for pod in pods if not pod.is_deleting]
    status: Json = {
        "observedGeneration": obj["metadata"].get("generation") or 0,
        "replicas": len(pods),
        "readyReplicas": sum(pod.is_ready for pod in pods),
        "availableReplicas": sum(is_available(pod, spec, now) for pod in pods),
        "currentReplicas": sum(pod.revision == current for pod in staying),
        "updatedReplicas": sum(pod.revision == update for pod in staying),
        "currentRevision": current,
        "updateRevision": update,
        "collisionCount": revisions.collisions,
    }
    if conditions := (obj.get("status") or {}).get("conditions"):
        status["conditions"] = conditions
    if spec.update_strategy.type == ROLLING_UPDATE and _is_complete(status, spec.wanted):
        status |= {"currentRevision": update, "currentReplicas": status["updatedReplicas"]}
    return status


def _is_complete(status: Json, wanted: int) -> bool:
    return all(status[name] == wanted for name in ("replicas", "updatedReplicas", "readyReplicas"))
