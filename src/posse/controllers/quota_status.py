"""Keeps the status of ResourceQuotas: what the objects of the namespace use of each resource."""

from collections import Counter, defaultdict

from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Plan, Write, is_deleting
from posse.kinds.core.resource_quotas import charge, printed_amount
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.quota_kinds import QUOTA_KINDS
from posse.kinds.registry import RESOURCE_QUOTA

# How long changes are collected before a namespace is counted again.
PAUSE_SECONDS = 0.2


class QuotaStatus(Reconciler):
    """Keys are namespaces."""

    reporter = "resourcequota-controller"
    kinds = (RESOURCE_QUOTA, *QUOTA_KINDS)

    def __init__(self) -> None:
        # By namespace and uid.
        self._quotas: defaultdict[str, dict[str, Json]] = defaultdict(dict)
        self._objects: defaultdict[str, dict[str, tuple[Kind, Json]]] = defaultdict(dict)
        # When namespaces are counted next.
        self._due: dict[str, float] = {}
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        namespace, uid = obj["metadata"]["namespace"], obj["metadata"]["uid"]
        if kind is RESOURCE_QUOTA:
            self._quotas[namespace][uid] = obj
        else:
            self._objects[namespace][uid] = kind, obj
        self._touch(namespace)

    def lose(self, kind: Kind, obj: Json) -> None:
        namespace, uid = obj["metadata"]["namespace"], obj["metadata"]["uid"]
        if kind is RESOURCE_QUOTA:
            self._quotas[namespace].pop(uid, None)
        else:
            self._objects[namespace].pop(uid, None)
        self._touch(namespace)

    def plan(self, key: str, now: float) -> Plan:
        """Wait until the changes of a burst have come, then count once."""
        due = self._due.setdefault(key, now + PAUSE_SECONDS)
        if now < due:
            return Plan(wake_at=due)
        del self._due[key]
        result = Plan()
        for quota in self._quotas[key].values():
            status = self._status(quota, key)
            if status != (quota.get("status") or {}) and not is_deleting(quota):
                result.then(Write(RESOURCE_QUOTA, quota | {"status": status}, "status"))
        return result

    def _touch(self, namespace: str) -> None:
        if self._quotas.get(namespace):
            self.touched.add(namespace)

    def _status(self, quota: Json, namespace: str) -> Json:
        hard, used = (quota.get("spec") or {}).get("hard") or {}, Counter[str]()
        for kind, obj in self._objects[namespace].values():
            used.update(charge(kind, obj, quota))
        return {"hard": hard, "used": {name: printed_amount(used[name], hard[name]) for name in hard}}
