"""A simulated driver whose devices take time: they are attached to a node after a claim has got them.

Pods with such a claim are bound once the driver has reported the binding conditions of its devices.
"""

from typing import Any

from posse.controllers.devices.claims import is_allocated
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Amend, Plan
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import RESOURCE_CLAIM
from posse.model.timestamps import format_timestamp, parse_timestamp

Json = dict[str, Any]

ATTACHABLE_DRIVER = "attachable.example.com"
ATTACHED = f"{ATTACHABLE_DRIVER}/attached"
ATTACH_FAILED = f"{ATTACHABLE_DRIVER}/failed"
ATTACH_SECONDS = 5.0
_IDENTITY = ("driver", "pool", "device", "shareID")


class AttachingDriver(Reconciler):
    """Keys are uids of claims."""

    reporter = ATTACHABLE_DRIVER
    kinds = (RESOURCE_CLAIM,)

    def __init__(self) -> None:
        self._claims: dict[str, Json] = {}
        """Claims with devices that are not attached yet."""
        self.touched = Touched()

    def see(self, _kind: Kind, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        if is_allocated(obj) and _unattached(obj):
            self._claims[uid] = obj
            self.touched.add(uid)
        else:
            self._claims.pop(uid, None)

    def lose(self, _kind: Kind, obj: Json) -> None:
        self._claims.pop(obj["metadata"]["uid"], None)

    def plan(self, key: str, now: float) -> Plan:
        claim = self._claims.get(key)
        if claim is None:
            return Plan()
        allocated = claim["status"]["allocation"].get("allocationTimestamp")
        due = parse_timestamp(allocated) + ATTACH_SECONDS if allocated else now
        if due > now:
            return Plan(wake_at=due)
        plan = Plan()
        metadata = {name: claim["metadata"][name] for name in ("uid", "resourceVersion")}
        known = [one for one in claim["status"].get("devices") or () if one["driver"] != ATTACHABLE_DRIVER]
        ready = [_attached(result, now) for result in _results(claim)]
        patch = {"metadata": metadata, "status": {"devices": [*known, *ready]}}
        plan.then(Amend(RESOURCE_CLAIM, claim, patch, "status"))
        return plan


def _results(claim: Json) -> list[Json]:
    """The devices of this driver that the claim has."""
    results = claim["status"]["allocation"]["devices"].get("results") or ()
    return [one for one in results if one["driver"] == ATTACHABLE_DRIVER]


def _unattached(claim: Json) -> bool:
    reported = [_identity(one) for one in claim["status"].get("devices") or ()]
    return any(_identity(one) not in reported for one in _results(claim))


def _identity(device: Json) -> Json:
    return {name: device[name] for name in _IDENTITY if name in device}


def _attached(result: Json, now: float) -> Json:
    condition = {
        "type": ATTACHED,
        "status": "True",
        "reason": "Attached",
        "message": "attached to the node",
        "lastTransitionTime": format_timestamp(now),
    }
    return _identity(result) | {"conditions": [condition]}
