"""Deletes pods from nodes with NoExecute taints that they do not tolerate, or tolerate for a time only."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from posse.controllers.execution_taints import tolerates
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Amend, Delete, News, Plan, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import NODE, POD
from posse.model.device import NO_EXECUTE
from posse.model.pod import ENDED_PHASES
from posse.model.timestamps import TimestampError, format_timestamp, parse_timestamp

Json = dict[str, Any]

NEVER = float("inf")


class TaintEviction(Reconciler):
    """Keys are uids of pods."""

    reporter = "taint-eviction-controller"
    kinds = (NODE, POD)
    subject_kind = POD

    def __init__(self) -> None:
        self._taints: dict[str, list[Json]] = {}
        """Taints with this effect, by node."""
        self._pods: dict[str, Json] = {}
        self._pods_on: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._noticed: dict[str, float] = {}
        """Since when a pod bears with taints that it tolerates for a time only."""
        self.touched = Touched()

    def subject(self, key: str) -> Json | None:
        return self._pods.get(key)

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is POD:
            self._see_pod(obj)
            return
        name = obj["metadata"]["name"]
        taints = (obj.get("spec") or {}).get("taints") or ()
        found = [taint for taint in taints if taint["effect"] == NO_EXECUTE]
        if found != self._taints.get(name, []):
            self._taints[name] = found
            self.touched.add(*self._pods_on[name])

    def lose(self, kind: Kind, obj: Json) -> None:
        if kind is NODE:
            self._taints.pop(obj["metadata"]["name"], None)
        else:
            self._forget(obj["metadata"]["uid"])

    def plan(self, key: str, now: float) -> Plan:
        pod = self._pods.get(key)
        if pod is None or is_deleting(pod):
            return Plan()
        taints = self._taints.get(pod["spec"]["nodeName"]) or []
        if not taints:
            return self._reprieve(pod)
        noticed_at = self._noticed.get(key, now)
        due = _due(taints, pod["spec"].get("tolerations") or (), noticed_at)
        if due == NEVER:
            return Plan()
        self._noticed[key] = noticed_at
        return Plan(wake_at=due) if due > now else _eviction(pod, now)

    def _reprieve(self, pod: Json) -> Plan:
        if self._noticed.pop(pod["metadata"]["uid"], None) is None:
            return Plan()
        return Plan(news=[News("TaintManagerEviction", f"Cancelling deletion of Pod {_called(pod)}")])

    def _see_pod(self, pod: Json) -> None:
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        if not node or (pod.get("status") or {}).get("phase") in ENDED_PHASES:
            self._forget(uid)
            return
        is_new = uid not in self._pods
        self._pods[uid] = pod
        self._pods_on[node][uid] = None
        if is_new or self._taints.get(node):
            self.touched.add(uid)

    def _forget(self, uid: str) -> None:
        self._noticed.pop(uid, None)
        pod = self._pods.pop(uid, None)
        if pod is not None:
            self._pods_on[pod["spec"]["nodeName"]].pop(uid, None)


def _due(taints: Sequence[Json], tolerations: Sequence[Json], noticed_at: float) -> float:
    """When the pod has to go: at once for one taint that it does not tolerate."""
    return min(_end_of(taint, tolerations, noticed_at) for taint in taints)


def _end_of(taint: Json, tolerations: Sequence[Json], noticed_at: float) -> float:
    """Of several tolerations that match a taint the first one counts, as in Kubernetes."""
    found = next((each for each in tolerations if tolerates(each, taint)), None)
    if found is None:
        return 0.0
    seconds = found.get("tolerationSeconds")
    return NEVER if seconds is None else _begin_of(taint, noticed_at) + max(0, seconds)


def _begin_of(taint: Json, noticed_at: float) -> float:
    """A pod that came after the taint has its whole time."""
    try:
        return max(noticed_at, parse_timestamp(taint.get("timeAdded") or ""))
    except TimestampError:
        return noticed_at


def _eviction(pod: Json, now: float) -> Plan:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint",
        "lastTransitionTime": format_timestamp(now),
    }
    plan = Plan(news=[News("TaintManagerEviction", f"Marking for deletion Pod {_called(pod)}")])
    patch = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": {"conditions": [condition]}}
    plan.then(Amend(POD, pod, patch, "status", is_strategic=True))
    plan.then(Delete(POD, pod))
    return plan


def _called(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
