"""The ReplicaSet controller: makes missing pods and deletes surplus ones. It does not adopt pods that have no
controller.
"""

import math
from collections.abc import Sequence

from posse.controllers.deployments.gangs import gang_steps
from posse.controllers.reconciler import OwnerReconciler
from posse.controllers.steps import (
    Create,
    Delete,
    News,
    Plan,
    Write,
    is_deleting,
    owner_reference,
)
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import POD, POD_GROUP, REPLICA_SET
from posse.model.pod import ENDED_PHASES
from posse.model.pod_readiness import ready_since

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
# How many pods one plan makes or deletes.
MAX_CHANGES = 500
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


class ReplicaSetController(OwnerReconciler):
    subject_kind = REPLICA_SET
    reporter = "replicaset-controller"
    kinds = (REPLICA_SET, POD_GROUP, POD)

    def __init__(self, *, makes_groups: bool) -> None:
        super().__init__()
        self._makes_groups = makes_groups

    def plan(self, key: str, now: float) -> Plan:
        obj = self._observed.get(key)
        if obj is None:
            return Plan()
        owned = self._observed.owned_by(key, POD)
        pods = [pod for pod in owned if _phase(pod) not in ENDED_PHASES]
        staying = [pod for pod in pods if not is_deleting(pod)]
        result, group = Plan(), ""
        if self._makes_groups and not is_deleting(obj):
            gang = gang_steps(obj, self._observed.owned_by(key, POD_GROUP), has_pods=bool(owned))
            result.then(*gang.steps)
            group = gang.group
        if not is_deleting(obj):
            _scale(result, obj, staying, group, now)
        status = _status(obj, staying, len(pods) - len(staying), now)
        if status != (obj.get("status") or {}):
            result.stages.insert(0, [Write(REPLICA_SET, obj | {"status": status}, "status")])
        result.wake_at = _next_available(obj, staying, now)
        return result


def _scale(result: Plan, obj: Json, pods: Sequence[Json], group: str, now: float) -> None:
    missing = (obj["spec"].get("replicas") or 0) - len(pods)
    if missing > 0:
        made = (new_pod(obj, group) for _ in range(min(missing, MAX_CHANGES)))
        result.then(*(Create(POD, pod, success="SuccessfulCreate") for pod in made))
    elif missing < 0:
        surplus = sorted(pods, key=lambda pod: _worth(pod, now))[: min(-missing, MAX_CHANGES)]
        result.then(*(Delete(POD, pod) for pod in surplus))
        result.news += [
            News("SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}") for pod in surplus
        ]


def new_pod(obj: Json, group: str = "") -> Json:
    metadata, template = obj["metadata"], obj["spec"]["template"]
    given = template.get("metadata") or {}
    joined = {"schedulingGroup": {"podGroupName": group}} if group else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{metadata['name']}-",
            "namespace": metadata["namespace"],
            "labels": dict(given.get("labels") or {}),
            "annotations": dict(given.get("annotations") or {}),
            "finalizers": list(given.get("finalizers") or ()),
            "ownerReferences": [owner_reference(REPLICA_SET, obj)],
        },
        "spec": template["spec"] | joined,
    }


def _phase(pod: Json) -> str:
    return (pod.get("status") or {}).get("phase") or "Pending"


def _worth(pod: Json, now: float) -> tuple[object, ...]:
    """Pods that are worth least are deleted first: those that do least, then the newest."""
    since, metadata = ready_since(pod), pod["metadata"]
    created = metadata.get("creationTimestamp") or ""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return (
        bool(pod["spec"].get("nodeName")),
        _PHASES.get(_phase(pod), 1),
        since is not None,
        _deletion_cost(pod),
        now - since if since is not None else 0.0,
        -sum(status.get("restartCount") or 0 for status in statuses),
        [-ord(character) for character in created],
        metadata["name"],
    )


def _deletion_cost(pod: Json) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(DELETION_COST, "0")
    try:
        return int(text)
    except ValueError:
        return 0


def _available_at(obj: Json, pod: Json) -> float:
    since = ready_since(pod)
    seconds = obj["spec"].get("minReadySeconds") or 0
    return math.inf if since is None else since + seconds if seconds else 0.0


def _next_available(obj: Json, pods: Sequence[Json], now: float) -> float | None:
    later = [at for pod in pods if now < (at := _available_at(obj, pod)) < math.inf]
    return min(later, default=None)


def _status(obj: Json, pods: Sequence[Json], terminating: int, now: float) -> Json:
    labels = (obj["spec"]["template"].get("metadata") or {}).get("labels") or {}
    counts = {
        "replicas": len(pods),
        "fullyLabeledReplicas": sum(
            labels.items() <= (pod["metadata"].get("labels") or {}).items() for pod in pods
        ),
        "readyReplicas": sum(ready_since(pod) is not None for pod in pods),
        "availableReplicas": sum(_available_at(obj, pod) <= now for pod in pods),
        "terminatingReplicas": terminating,
    }
    shown = {name: count for name, count in counts.items() if count or name == "replicas"}
    conditions = (obj.get("status") or {}).get("conditions")
    kept = {"conditions": conditions} if conditions else {}
    return shown | {"observedGeneration": obj["metadata"].get("generation") or 0} | kept
