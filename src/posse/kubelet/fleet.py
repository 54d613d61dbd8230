"""All simulated nodes as one state machine: observed nodes and pods go in, due writes come out.

One timer per pod and node, in one heap. Heartbeats have a heap of their own: a node whose heartbeat waits
behind the pods of others is taken for dead. Nodes without the simulated label are not simulated, and neither
are the pods on them. The fleet knows no transport and no clock: the time is an argument.
"""

from collections import defaultdict
from enum import StrEnum
from typing import Any, NamedTuple

from posse.controllers.disruption.failures import FailureMode, failure_of, is_silent
from posse.controllers.steps import is_deleting
from posse.kubelet.addresses import NODE_NETWORK, POD_NETWORK, AddressPool
from posse.kubelet.capacity import AdmittedPods, Rejection
from posse.kubelet.heartbeats import heartbeat_seconds, node_lease
from posse.kubelet.lifecycle import Due, Move, next_move, phase_of, plan_of
from posse.kubelet.nodes import address_of, is_ready, is_reported, is_simulated, node_status
from posse.kubelet.prepared_claims import PreparedClaims
from posse.kubelet.statuses import PodAddresses, rejected_status, status_after
from posse.kubelet.timers import Timers
from posse.kubelet.writes import (
    PatchNodeStatus,
    PatchPodStatus,
    RemoveLease,
    RemovePod,
    RenewLease,
    Stuck,
    WarnAboutPod,
    Write,
)
from posse.model.pod import ENDED_PHASES

Json = dict[str, Any]

# A simulated node that was deleted takes its pods along after a moment in which their end can be watched.
LOST_NODE_SECONDS = 2.0
# Pods on unknown nodes go as Kubernetes' pod garbage collection does it: the node may yet appear.
UNKNOWN_NODE_SECONDS = 40.0

# A pod whose claims are not reserved for it does not start; after so long its author is told.
UNPREPARED_SECONDS = 2.0
FAILED_PREPARATION = "FailedPrepareDynamicResources"


class What(StrEnum):
    POD = "pod"
    NODE = "node"


class TimerKey(NamedTuple):
    """What a timer belongs to."""

    what: What
    namespace: str
    name: str


class Fleet:
    def __init__(self) -> None:
        # Every node of the cluster, simulated or not: a pod is an orphan only if its node is none of them.
        self._nodes: dict[str, Json] = {}
        self._simulated_count = 0
        # For each missing node that still has pods: when they may be removed.
        self._orphans_go_at: dict[str, float] = {}
        # Every pod that has a node, and the same by node.
        self._pods: dict[TimerKey, Json] = {}
        self._pods_on: defaultdict[str, dict[TimerKey, None]] = defaultdict(dict)
        self._claims = PreparedClaims()
        self._capacity = AdmittedPods()
        # Pods that wait for their devices, and whether that was told.
        self._unprepared: dict[TimerKey, bool] = {}
        # Pods that ran on a node when it crashed, once it is back.
        self._crashed: dict[TimerKey, None] = {}
        self._timers: Timers[TimerKey] = Timers()
        # By the name of the node.
        self._heartbeats: Timers[str] = Timers()
        self._pod_addresses = AddressPool(POD_NETWORK)
        self._node_addresses = AddressPool(NODE_NETWORK)
        # Writes that need no timer because they answer what was just seen.
        self._at_once: list[Write] = []

    def see_node(self, node: Json, now: float) -> None:
        name = node["metadata"]["name"]
        before, was_driven = self._nodes.get(name), self._drives(name)
        self._nodes[name] = node
        if before is not None and _came_back(before, node):
            self._crashed.update(dict.fromkeys(self._pods_on.get(name, ())))
        self._orphans_go_at.pop(name, None)
        if is_simulated(node):
            self._drive(node, now, is_new=not was_driven)
        elif was_driven:
            self._let_go(name)
        if before is None or _state(before) != _state(node):
            self._reconsider_pods(name, now)

    def lose_node(self, name: str, now: float) -> None:
        if self._drives(name):
            self._let_go(name)
            self._at_once.append(RemoveLease(name))
            self._orphans_go_at[name] = now + LOST_NODE_SECONDS
        self._nodes.pop(name, None)
        self._reconsider_pods(name, now)

    def see_pod(self, pod: Json, now: float) -> None:
        node_name = pod["spec"].get("nodeName")
        if not node_name:
            return
        key = _key_of(pod)
        before = self._pods.get(key)
        if before is not None and before["metadata"]["uid"] != pod["metadata"]["uid"]:
            # A new pod has taken the name; it has no state of the old one.
            self.lose_pod(key.namespace, key.name)
        self._pods[key] = pod
        self._pods_on[node_name][key] = None
        if phase_of(pod) == "Running":
            self._capacity.admit(key, pod)
        elif phase_of(pod) in ENDED_PHASES:
            self._capacity.release(key)
        self._pod_addresses.hold(key, (pod.get("status") or {}).get("podIP") or "")
        self._set_timer(key, now)

    def see_claim(self, claim: Json, now: float) -> None:
        for namespace, name in self._claims.put(claim):
            key = TimerKey(What.POD, namespace, name)
            if key in self._pods:
                self._set_timer(key, now)

    def lose_claim(self, claim: Json) -> None:
        self._claims.drop(claim)

    def lose_pod(self, namespace: str, name: str) -> None:
        key = TimerKey(What.POD, namespace, name)
        pod = self._pods.pop(key, None)
        if pod is None:
            return
        self._timers.cancel(key)
        self._unprepared.pop(key, None)
        self._crashed.pop(key, None)
        self._capacity.release(key)
        self._pod_addresses.release(key)
        node_name = pod["spec"]["nodeName"]
        del self._pods_on[node_name][key]
        if not self._pods_on[node_name]:
            del self._pods_on[node_name]
            self._orphans_go_at.pop(node_name, None)

    def next_wakeup(self) -> float | None:
        return 0.0 if self._at_once else self._timers.next_time()

    def due_writes(self, now: float, limit: int) -> list[Write]:
        """Return what is to be written now but for heartbeats, for at most `limit` pods and nodes."""
        writes, self._at_once = self._at_once, []
        for key in self._timers.pop_due(now, limit):
            try:
                writes.extend(self._writes_for(key, now))
            except Exception as error:  # noqa: BLE001 - whatever it is, the others must not wait for it
                writes.append(Stuck("/".join(filter(None, key)), error))
        return writes

    def next_heartbeat(self) -> float | None:
        return self._heartbeats.next_time()

    def due_heartbeats(self, now: float, limit: int) -> list[RenewLease]:
        """Return the leases that are to be renewed now, at most `limit`."""
        interval = heartbeat_seconds(self._simulated_count)
        names = self._heartbeats.pop_due(now, limit)
        for name in names:
            self._heartbeats.set(name, now + interval)
        return [RenewLease(name, node_lease(self._nodes[name], interval, now)) for name in names]

    def try_again(self, write: Write, at: float) -> None:
        """Note that a write failed for a reason which no change of the object will announce."""
        match write:
            case PatchPodStatus(namespace, name) | RemovePod(namespace, name):
                key = TimerKey(What.POD, namespace, name)
                is_known = key in self._pods
            case PatchNodeStatus(name):
                key = TimerKey(What.NODE, "", name)
                is_known = self._drives(name)
            case _:
                # Heartbeats come again by themselves; a lost warning is no harm.
                return
        if is_known:
            self._timers.set(key, at)

    def _drives(self, node_name: str) -> bool:
        node = self._nodes.get(node_name)
        return node is not None and is_simulated(node)

    def _runs_pods(self, node_name: str) -> bool:
        return (
            self._drives(node_name) and is_reported(self._nodes[node_name]) and not self._is_away(node_name)
        )

    def _is_away(self, node_name: str) -> bool:
        return is_silent(self._nodes[node_name])

    def _drive(self, node: Json, now: float, *, is_new: bool) -> None:
        name = node["metadata"]["name"]
        self._node_addresses.hold(name, address_of(node))
        status = TimerKey(What.NODE, "", name)
        if is_new:
            self._simulated_count += 1
        if is_silent(node):
            self._timers.cancel(status)
            self._heartbeats.cancel(name)
            return
        if not is_reported(node):
            self._timers.set(status, now)
        if name not in self._heartbeats:
            # Nodes that appear together beat apart from each other from the start.
            delay = self._simulated_count % 100 / 100 * heartbeat_seconds(self._simulated_count)
            self._heartbeats.set(name, now + (delay if is_new else 0.0))

    def _let_go(self, name: str) -> None:
        self._simulated_count -= 1
        self._node_addresses.release(name)
        self._timers.cancel(TimerKey(What.NODE, "", name))
        self._heartbeats.cancel(name)

    def _reconsider_pods(self, node_name: str, now: float) -> None:
        for key in self._pods_on.get(node_name, ()):
            self._set_timer(key, now)

    def _set_timer(self, key: TimerKey, now: float) -> None:
        at = self._due_at(self._pods[key], now)
        if at is None:
            self._timers.cancel(key)
        else:
            self._timers.set(key, at)

    def _due_at(self, pod: Json, now: float) -> float | None:
        node_name = pod["spec"]["nodeName"]
        if self._runs_pods(node_name):
            due = self._next_move(pod, now)
            if due is not None and due.move is Move.START and self._claims.obstacle(pod):
                return self._patience(pod, now)
            return due.at if due else None
        if node_name in self._nodes:
            # Another kubelet's node, or one of ours that is not up.
            return None
        return self._orphans_go_at.setdefault(node_name, now + UNKNOWN_NODE_SECONDS)

    def _next_move(self, pod: Json, now: float) -> Due | None:
        due = next_move(pod, now)
        if _key_of(pod) in self._crashed and phase_of(pod) == "Running" and not is_deleting(pod):
            return Due(now, Move.CRASH)
        if due is not None and due.move is Move.REPORT and not is_ready(self._nodes[pod["spec"]["nodeName"]]):
            return None
        return due

    def _patience(self, pod: Json, now: float) -> float | None:
        """When to tell that the pod does not start; the claim may be seen later than the pod."""
        key = _key_of(pod)
        was_told = self._unprepared.setdefault(key, False)
        return None if was_told else now + UNPREPARED_SECONDS

    def _writes_for(self, key: TimerKey, now: float) -> list[Write]:
        match key.what:
            case What.NODE:
                return [self._report_node(key.name, now)]
            case What.POD:
                return self._advance(key, now)

    def _report_node(self, name: str, now: float) -> Write:
        node = self._nodes[name]
        address = address_of(node) or self._node_addresses.take(name)
        return PatchNodeStatus(name, _patch_of(node, node_status(node, address, now)))

    def _advance(self, key: TimerKey, now: float) -> list[Write]:
        pod = self._pods[key]
        removal = RemovePod(key.namespace, key.name, pod["metadata"]["uid"])
        if pod["spec"]["nodeName"] not in self._nodes:
            return [removal]
        due = self._next_move(pod, now)
        if due is None:
            return []
        self._crashed.pop(key, None)
        if due.move is Move.REMOVE:
            return [removal]
        if due.move is Move.START and (obstacle := self._claims.obstacle(pod)):
            self._unprepared[key] = True
            return [WarnAboutPod(key.namespace, key.name, removal.uid, obstacle, FAILED_PREPARATION)]
        if due.move is Move.START:
            rejected = self._capacity.rejection(key, pod, self._nodes[pod["spec"]["nodeName"]])
            if rejected is not None:
                return self._reject(key, pod, rejected, now)
            self._capacity.admit(key, pod)
        status = status_after(due.move, pod, self._place(key, pod), now)
        change = PatchPodStatus(key.namespace, key.name, _patch_of(pod, status))
        complaints = plan_of(pod).complaints if due.move is Move.START else ()
        warnings = [WarnAboutPod(key.namespace, key.name, removal.uid, text) for text in complaints]
        return [change, *warnings]

    def _reject(self, key: TimerKey, pod: Json, rejected: Rejection, now: float) -> list[Write]:
        status = rejected_status(rejected.reason, rejected.message, now)
        warning = WarnAboutPod(
            key.namespace, key.name, pod["metadata"]["uid"], rejected.message, rejected.reason
        )
        return [PatchPodStatus(key.namespace, key.name, _patch_of(pod, status)), warning]

    def _place(self, key: TimerKey, pod: Json) -> PodAddresses:
        host_address = address_of(self._nodes[pod["spec"]["nodeName"]])
        return PodAddresses(host_address, self._pod_addresses.take(key))


def _key_of(pod: Json) -> TimerKey:
    return TimerKey(What.POD, pod["metadata"]["namespace"], pod["metadata"]["name"])


def _came_back(before: Json, node: Json) -> bool:
    return failure_of(before) is FailureMode.CRASH and failure_of(node) is not FailureMode.CRASH


def _state(node: Json) -> tuple[bool, bool, bool, FailureMode | None]:
    """What the pods of a node depend on."""
    return is_simulated(node), is_ready(node), is_reported(node), failure_of(node)


def _patch_of(seen: Json, status: Json) -> Json:
    identity = {name: seen["metadata"][name] for name in ("uid", "resourceVersion")}
    return {"metadata": identity, "status": status}
