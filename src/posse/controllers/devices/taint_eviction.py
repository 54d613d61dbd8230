"""Deletes pods that use a device with a NoExecute taint which their claim does not tolerate.

A toleration with seconds puts that off, counted from when the taint was added. Taints come from slices and
from rules.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from posse.controllers.devices.claims import claim_names, consumers_of, group_name, is_group, is_pod
from posse.controllers.execution_taints import tolerates
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Amend, Delete, News, Plan, is_deleting
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import DEVICE_TAINT_RULE, POD, RESOURCE_CLAIM, RESOURCE_SLICE
from posse.model.device import NO_EXECUTE
from posse.model.pod import ENDED_PHASES
from posse.model.timestamps import format_timestamp, parse_timestamp

Json = dict[str, Any]

NEVER = float("inf")


class _DeviceId(NamedTuple):
    driver: str
    pool: str
    device: str


class DeviceTaintEviction(Reconciler):
    """Keys are uids of pods."""

    reporter = "device-taint-eviction"
    kinds = (RESOURCE_SLICE, DEVICE_TAINT_RULE, RESOURCE_CLAIM, POD)
    subject_kind = POD

    def __init__(self) -> None:
        self._taints: dict[str, dict[_DeviceId, list[Json]]] = {}
        """Taints with this effect in each slice, by its name."""
        self._rules: dict[str, Json] = {}
        self._claims: dict[tuple[str, str], Json] = {}
        """Claims that are allocated."""
        self._pods: dict[str, Json] = {}
        self.touched = Touched()

    def subject(self, key: str) -> Json | None:
        return self._pods.get(key)

    def see(self, kind: Kind, obj: Json) -> None:
        if kind is POD:
            self._see_pod(obj)
        elif kind is RESOURCE_CLAIM:
            if (obj.get("status") or {}).get("allocation") is not None:
                self._claims[_place(obj)] = obj
                self.touched.add(*(consumer["uid"] for consumer in consumers_of(obj)))
                self._touch_members(obj)
            else:
                self._claims.pop(_place(obj), None)
        elif kind is DEVICE_TAINT_RULE:
            self._rules[obj["metadata"]["name"]] = obj["spec"]
            self.touched.add(*self._pods)
        else:
            self._see_slice(obj)

    def lose(self, kind: Kind, obj: Json) -> None:
        name = obj["metadata"]["name"]
        if kind is POD:
            self._pods.pop(obj["metadata"]["uid"], None)
        elif kind is RESOURCE_CLAIM:
            self._claims.pop(_place(obj), None)
        elif kind is DEVICE_TAINT_RULE:
            self._rules.pop(name, None)
        else:
            self._taints.pop(name, None)

    def plan(self, key: str, now: float) -> Plan:
        pod = self._pods.get(key)
        if pod is None or is_deleting(pod):
            return Plan()
        due = min((self._due(result) for result in self._results(pod)), default=NEVER)
        if due > now:
            return Plan(wake_at=due if due != NEVER else None)
        return _eviction(pod, now)

    def _see_pod(self, pod: Json) -> None:
        uid = pod["metadata"]["uid"]
        is_running = (
            bool(pod["spec"].get("nodeName")) and (pod.get("status") or {}).get("phase") not in ENDED_PHASES
        )
        has_claims = pod["spec"].get("resourceClaims") or "extendedResourceClaimStatus" in (
            pod.get("status") or {}
        )
        if is_running and has_claims:
            self._pods[uid] = pod
            self.touched.add(uid)
        else:
            self._pods.pop(uid, None)

    def _see_slice(self, obj: Json) -> None:
        spec = obj["spec"]
        found = {
            _DeviceId(spec["driver"], spec["pool"]["name"], device["name"]): taints
            for device in spec.get("devices") or ()
            if (taints := [taint for taint in device.get("taints") or () if taint["effect"] == NO_EXECUTE])
        }
        name = obj["metadata"]["name"]
        if found != self._taints.get(name, {}):
            self._taints[name] = found
            self.touched.add(*self._pods)

    def _touch_members(self, claim: Json) -> None:
        groups = {consumer["name"] for consumer in consumers_of(claim) if is_group(consumer)}
        if groups:
            namespace = claim["metadata"]["namespace"]
            self.touched.add(
                *(
                    uid
                    for uid, pod in self._pods.items()
                    if pod["metadata"]["namespace"] == namespace and group_name(pod) in groups
                )
            )

    def _results(self, pod: Json) -> Iterator[Json]:
        """The devices that the pod uses."""
        namespace = pod["metadata"]["namespace"]
        extended = ((pod.get("status") or {}).get("extendedResourceClaimStatus") or {}).get(
            "resourceClaimName"
        )
        names = [name for _, name in claim_names(pod)] + ([extended] if extended else [])
        for name in names:
            claim = self._claims.get((namespace, name))
            if claim is not None and _is_used_by(claim, pod):
                yield from claim["status"]["allocation"].get("devices", {}).get("results", ())

    def _due(self, result: Json) -> float:
        """When the user of the device has to go."""
        device = _DeviceId(result["driver"], result["pool"], result["device"])
        tolerations = result.get("tolerations") or ()
        return min((_end_of(taint, tolerations) for taint in self._taints_of(device)), default=NEVER)

    def _taints_of(self, device: _DeviceId) -> Iterator[Json]:
        for taints in self._taints.values():
            yield from taints.get(device, ())
        for rule in self._rules.values():
            if rule["taint"]["effect"] == NO_EXECUTE and _selects(rule.get("deviceSelector"), device):
                yield rule["taint"]


def _selects(selector: Json | None, device: _DeviceId) -> bool:
    if selector is None:
        return False
    return all(selector.get(name) in (None, value) for name, value in device._asdict().items())


def _end_of(taint: Json, tolerations: Iterable[Json]) -> float:
    added = parse_timestamp(taint["timeAdded"]) if taint.get("timeAdded") else 0.0
    tolerated = [each.get("tolerationSeconds") for each in tolerations if tolerates(each, taint)]
    if not tolerated:
        return added
    limits = [seconds for seconds in tolerated if seconds is not None]
    return NEVER if len(limits) < len(tolerated) else added + max(0, *limits)


def _is_used_by(claim: Json, pod: Json) -> bool:
    uid, group = pod["metadata"]["uid"], group_name(pod)
    return any(
        (is_pod(consumer) and consumer["uid"] == uid) or (is_group(consumer) and consumer["name"] == group)
        for consumer in consumers_of(claim)
    )


def _eviction(pod: Json, now: float) -> Plan:
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByDeviceTaintManager",
        "message": "Device Taint manager: deleting due to NoExecute taint",
        "lastTransitionTime": format_timestamp(now),
    }
    patch = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": {"conditions": [condition]}}
    plan = Plan(news=[News("DeviceTaintManagerEviction", "Marking for deletion")])
    plan.then(Amend(POD, pod, patch, "status", is_strategic=True))
    plan.then(Delete(POD, pod))
    return plan


def _place(obj: Json) -> tuple[str, str]:
    return obj["metadata"]["namespace"], obj["metadata"]["name"]
