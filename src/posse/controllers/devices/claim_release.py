"""Releases claims: reservations of pods and groups that are gone or done are removed, and with the last one
the allocation ends.

A claim that was never reserved keeps its allocation. Claims that are being deleted go when no pod uses them;
claims that were made for a pod go when the pod is done.
"""

from collections import defaultdict
from typing import Any

from posse.controllers.devices.claims import consumers_of, entries_of, is_allocated, is_done, is_group, is_pod
from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import (
    Amend,
    Delete,
    ExpectAbsent,
    Plan,
    Step,
    Write,
    controller_uid,
    is_deleting,
)
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import POD, POD_GROUP, RESOURCE_CLAIM
from posse.model.resource_claim import CLAIM_FINALIZER

Json = dict[str, Any]


class ClaimRelease(Reconciler):
    """Keys are uids of claims."""

    reporter = "resource_claim"
    kinds = (POD_GROUP, POD, RESOURCE_CLAIM)
    subject_kind = RESOURCE_CLAIM

    def __init__(self) -> None:
        self._claims: dict[str, Json] = {}
        self._users: dict[str, Json] = {}
        """Pods and groups that may use claims, by uid."""
        self._claims_of: defaultdict[str, dict[str, None]] = defaultdict(dict)
        """The claims that are reserved for a pod or group, or made for it."""
        self._freed: dict[str, None] = {}
        """Claims that were deallocated here, and have their finalizer still."""
        self.touched = Touched()

    def subject(self, key: str) -> Json | None:
        return self._claims.get(key)

    def see(self, kind: Kind, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        if kind is RESOURCE_CLAIM:
            self._forget_claim(uid)
            self._claims[uid] = obj
            for user in _users_of(obj):
                self._claims_of[user][uid] = None
            self.touched.add(uid)
        elif kind is POD_GROUP or _has_claims(obj):
            self._users[uid] = obj
            if is_done(obj):
                self.touched.add(*self._claims_of.get(uid, ()))

    def lose(self, kind: Kind, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        if kind is RESOURCE_CLAIM:
            self._forget_claim(uid)
            self._freed.pop(uid, None)
        else:
            self._users.pop(uid, None)
            self.touched.add(*self._claims_of.get(uid, ()))

    def plan(self, key: str, _now: float) -> Plan:
        claim, plan = self._claims.get(key), Plan()
        if claim is None:
            return plan
        consumers = consumers_of(claim)
        remaining = [consumer for consumer in consumers if self._is_alive(consumer)]
        is_unused = not remaining and (len(consumers) > 0 or is_deleting(claim))
        if len(remaining) < len(consumers) or (is_unused and is_allocated(claim)):
            gone = [consumer for consumer in consumers if consumer not in remaining]
            plan.then(*self._doubts(claim, gone))
            plan.then(Write(RESOURCE_CLAIM, _with_consumers(claim, remaining), "status"))
            if not remaining:
                self._freed[key] = None
            return plan
        has_finalizer = CLAIM_FINALIZER in (claim["metadata"].get("finalizers") or ())
        if has_finalizer and not is_allocated(claim) and (is_unused or key in self._freed):
            plan.then(_without_finalizer(claim))
        self._freed.pop(key, None)
        if not remaining and not is_deleting(claim) and self._is_owner_done(claim):
            plan.then(Delete(RESOURCE_CLAIM, claim))
        return plan

    def _is_alive(self, consumer: Json) -> bool:
        if not is_pod(consumer) and not is_group(consumer):
            return True
        user = self._users.get(consumer["uid"])
        return user is not None and not (is_pod(consumer) and is_done(user))

    def _doubts(self, claim: Json, gone: list[Json]) -> list[Step]:
        """A consumer may be newer than what was observed."""
        namespace = claim["metadata"]["namespace"]
        return [
            ExpectAbsent(
                POD_GROUP if is_group(consumer) else POD, namespace, consumer["name"], consumer["uid"]
            )
            for consumer in gone
            if consumer["uid"] not in self._users
        ]

    def _is_owner_done(self, claim: Json) -> bool:
        """A pod that is unknown may be new; the garbage collector deletes the claims of one that is gone."""
        owner = self._users.get(controller_uid(claim, POD))
        return owner is not None and is_done(owner)

    def _forget_claim(self, uid: str) -> None:
        before = self._claims.pop(uid, None)
        for user in _users_of(before) if before is not None else ():
            del self._claims_of[user][uid]
            if not self._claims_of[user]:
                del self._claims_of[user]


def _has_claims(pod: Json) -> bool:
    return bool(entries_of(pod)) or "extendedResourceClaimStatus" in (pod.get("status") or {})


def _users_of(claim: Json) -> set[str]:
    users = {consumer["uid"] for consumer in consumers_of(claim)}
    owner = controller_uid(claim)
    return users | {owner} if owner else users


def _with_consumers(claim: Json, remaining: list[Json]) -> Json:
    kept = {name: value for name, value in claim["status"].items() if name != "reservedFor"}
    if remaining:
        kept["reservedFor"] = remaining
    else:
        kept.pop("allocation", None)
    return {**claim, "status": kept}


def _without_finalizer(claim: Json) -> Amend:
    metadata = claim["metadata"]
    finalizers = [name for name in metadata["finalizers"] if name != CLAIM_FINALIZER]
    identity = {name: metadata[name] for name in ("uid", "resourceVersion")}
    return Amend(RESOURCE_CLAIM, claim, {"metadata": {**identity, "finalizers": finalizers or None}})
