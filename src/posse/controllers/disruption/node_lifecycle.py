"""Notices nodes that fail: their condition becomes Unknown when heartbeats stop, they get the taints that
keep pods away and evict them, and their pods are no longer ready.

Nodes without a lease, or without the condition Ready, have no kubelet and are left alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from posse.controllers.disruption.failures import notice_seconds
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Amend, News, Plan, is_deleting
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import LEASE, NODE, POD
from posse.model.pod import ENDED_PHASES
from posse.model.pod_readiness import ready_since
from posse.model.timestamps import format_timestamp

LEASE_NAMESPACE = "kube-node-lease"
# For a lease that does not say how long it lasts.
DEFAULT_LEASE_SECONDS = 40.0
NOT_READY_TAINT = "node.kubernetes.io/not-ready"
UNREACHABLE_TAINT = "node.kubernetes.io/unreachable"
# The taint that goes with each value of the condition Ready.
TAINTS = {"False": NOT_READY_TAINT, "Unknown": UNREACHABLE_TAINT}
UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable"
OWN_TAINTS = (NOT_READY_TAINT, UNREACHABLE_TAINT, UNSCHEDULABLE_TAINT)
# Conditions that a node without heartbeats says nothing about.
HEARTBEAT_CONDITIONS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


class _Heartbeat(NamedTuple):
    renewed: str
    seconds: float
    noticed_at: float | None
    """When the renewal was noticed; clocks of nodes are not trusted."""


class NodeLifecycle(Reconciler):
    """Keys are names of nodes."""

    reporter = "node-controller"
    kinds = (LEASE, POD, NODE)
    subject_kind = NODE

    def __init__(self) -> None:
        self._nodes: dict[str, Json] = {}
        self._heartbeats: dict[str, _Heartbeat] = {}
        self._pods: defaultdict[str, dict[str, Json]] = defaultdict(dict)
        """Pods by node and uid."""
        self.touched = Touched()

    def subject(self, key: str) -> Json | None:
        return self._nodes.get(key)

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is LEASE:
            self._see_lease(obj)
        elif kind is POD:
            self._see_pod(obj)
        else:
            self._nodes[obj["metadata"]["name"]] = obj
            self.touched.add(obj["metadata"]["name"])

    def lose(self, kind: Kind, obj: Json) -> None:
        name = obj["metadata"]["name"]
        if kind is POD:
            self._pods[obj["spec"].get("nodeName") or ""].pop(obj["metadata"]["uid"], None)
        elif kind is NODE:
            self._nodes.pop(name, None)
        elif obj["metadata"]["namespace"] == LEASE_NAMESPACE:
            self._heartbeats.pop(name, None)

    def plan(self, key: str, now: float) -> Plan:
        node = self._nodes.get(key)
        ready = _condition(node, "Ready") if node is not None else None
        if node is None or ready is None:
            return Plan()
        silent_at = self._silent_at(node, now)
        if silent_at is not None and silent_at <= now and ready["status"] != "Unknown":
            return _silence(node, now)
        result = _tainting(node, ready["status"], now)
        result.wake_at = silent_at if ready["status"] != "Unknown" else None
        if ready["status"] != "True":
            result.then(*_unreadiness(self._pods[key].values(), now))
        return result

    def _see_lease(self, lease: Json) -> None:
        metadata, spec = lease["metadata"], lease.get("spec") or {}
        if metadata["namespace"] != LEASE_NAMESPACE:
            return
        renewed, seconds = spec.get("renewTime") or "", spec.get("leaseDurationSeconds")
        before = self._heartbeats.get(metadata["name"])
        if before is None or before.renewed != renewed:
            heartbeat = _Heartbeat(renewed, float(seconds or DEFAULT_LEASE_SECONDS), None)
            self._heartbeats[metadata["name"]] = heartbeat
            self.touched.add(metadata["name"])

    def _see_pod(self, pod: Json) -> None:
        name = pod["spec"].get("nodeName")
        if not name:
            return
        self._pods[name][pod["metadata"]["uid"]] = pod
        ready = _condition(self._nodes[name], "Ready") if name in self._nodes else None
        if ready is not None and ready["status"] != "True":
            self.touched.add(name)

    def _silent_at(self, node: Json, now: float) -> float | None:
        name = node["metadata"]["name"]
        heartbeat = self._heartbeats.get(name)
        if heartbeat is None:
            return None
        if heartbeat.noticed_at is None:
            heartbeat = self._heartbeats[name] = heartbeat._replace(noticed_at=now)
        return (heartbeat.noticed_at or 0.0) + notice_seconds(node, heartbeat.seconds)


def _condition(node: Json, name: str) -> Json | None:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == name), None)


def _silence(node: Json, now: float) -> Plan:
    conditions = [
        {
            **condition,
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
            "lastTransitionTime": format_timestamp(now),
        }
        for name in HEARTBEAT_CONDITIONS
        if (condition := _condition(node, name)) is not None
    ]
    patch = {"metadata": {"uid": node["metadata"]["uid"]}, "status": {"conditions": conditions}}
    name = node["metadata"]["name"]
    result = Plan(news=[News("NodeNotReady", f"Node {name} status is now: NodeNotReady")])
    result.then(Amend(NODE, node, patch, "status", is_strategic=True))
    return result


def _tainting(node: Json, ready: str, now: float) -> Plan:
    """Return the plan that gives the node the taints of its condition and of a cordon, and no others."""
    taints = (node.get("spec") or {}).get("taints") or []
    wanted = _wanted_taints(node, ready)
    kept = [taint for taint in taints if taint["key"] not in OWN_TAINTS or _named(taint) in wanted]
    present = {_named(taint) for taint in kept}
    added = [
        {"key": key, "effect": effect, "timeAdded": format_timestamp(now)}
        for key, effect in wanted
        if (key, effect) not in present
    ]
    result = Plan()
    if added or kept != taints:
        metadata = {name: node["metadata"][name] for name in ("uid", "resourceVersion")}
        result.then(Amend(NODE, node, {"metadata": metadata, "spec": {"taints": [*kept, *added] or None}}))
    return result


def _wanted_taints(node: Json, ready: str) -> list[tuple[str, str]]:
    """Return keys and effects."""
    of_condition = TAINTS.get(ready)
    wanted = [(of_condition, effect) for effect in ("NoSchedule", "NoExecute")] if of_condition else []
    is_cordoned = (node.get("spec") or {}).get("unschedulable")
    return [*wanted, *([(UNSCHEDULABLE_TAINT, "NoSchedule")] if is_cordoned else [])]


def _named(taint: Json) -> tuple[str, str]:
    return taint["key"], taint["effect"]


def _unreadiness(pods: Iterable[Json], now: float) -> Iterator[Amend]:
    for pod in pods:
        phase = (pod.get("status") or {}).get("phase")
        if ready_since(pod) is None or phase in ENDED_PHASES or is_deleting(pod):
            continue
        condition = {"type": "Ready", "status": "False", "lastTransitionTime": format_timestamp(now)}
        patch = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": {"conditions": [condition]}}
        yield Amend(POD, pod, patch, "status", is_strategic=True)
