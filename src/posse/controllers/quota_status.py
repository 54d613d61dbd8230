"""Keeps the status of ResourceQuotas: what the objects of the namespace use of each resource."""

from collections import Counter, defaultdict
from collections.abc import Mapping

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
    kinds = QUOTA_KINDS

    def __init__(self) -> None:
        # By namespace and uid.
        self._quotas: defaultdict[str, dict[str, Json]] = defaultdict(dict)
        self._objects: defaultdict[str, dict[str, tuple[Kind, Json]]] = defaultdict(dict)
        # What is used of each quota, by its uid, and the objects that changed since, as they were counted.
        self._used: dict[str, Counter[str]] = {}
        self._changed: defaultdict[str, dict[str, tuple[Kind, Json] | None]] = defaultdict(dict)
        # When namespaces are counted next.
        self._due: dict[str, float] = {}
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        namespace, uid = obj["metadata"]["namespace"], obj["metadata"]["uid"]
        if kind is RESOURCE_QUOTA:
            before = self._quotas[namespace].get(uid) or {}
            if before.get("spec") != obj.get("spec"):
                self._used.pop(uid, None)
            self._quotas[namespace][uid] = obj
        self._note(namespace, uid)
        self._objects[namespace][uid] = kind, obj
        self._touch(namespace)

    def lose(self, kind: Kind, obj: Json) -> None:
        namespace, uid = obj["metadata"]["namespace"], obj["metadata"]["uid"]
        if kind is RESOURCE_QUOTA:
            self._quotas[namespace].pop(uid, None)
            self._used.pop(uid, None)
        self._note(namespace, uid)
        self._objects[namespace].pop(uid, None)
        self._touch(namespace)

    def plan(self, key: str, now: float) -> Plan:
        """Wait until the changes of a burst have come, then count what has changed."""
        due = self._due.setdefault(key, now + PAUSE_SECONDS)
        if now < due:
            return Plan(wake_at=due)
        del self._due[key]
        result = Plan()
        changed = self._changed.pop(key, {})
        for uid, quota in self._quotas[key].items():
            status = self._status(quota, self._count(uid, quota, key, changed))
            if status != (quota.get("status") or {}) and not is_deleting(quota):
                result.then(Write(RESOURCE_QUOTA, quota | {"status": status}, "status"))
        return result

    def _touch(self, namespace: str) -> None:
        if self._quotas.get(namespace):
            self.touched.add(namespace)

    def _note(self, namespace: str, uid: str) -> None:
        """Remember an object that is about to change. Without quotas, nothing is counted."""
        if self._quotas.get(namespace):
            self._changed[namespace].setdefault(uid, self._objects[namespace].get(uid))

    def _count(
        self, uid: str, quota: Json, namespace: str, changed: Mapping[str, tuple[Kind, Json] | None]
    ) -> Counter[str]:
        """All objects are counted once; after that, only those that have changed."""
        objects, used = self._objects[namespace], self._used.get(uid)
        if used is None:
            used = self._used[uid] = Counter()
            for kind, obj in objects.values():
                used.update(charge(kind, obj, quota))
            return used
        for other, before in changed.items():
            now = objects.get(other)
            if before is not None:
                used.subtract(charge(*before, quota))
            if now is not None:
                used.update(charge(*now, quota))
        return used

    @staticmethod
    def _status(quota: Json, used: Counter[str]) -> Json:
        hard = (quota.get("spec") or {}).get("hard") or {}
        return {"hard": hard, "used": {name: printed_amount(used[name], hard[name]) for name in hard}}
