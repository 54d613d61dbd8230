"""Deletes objects that have lost their owners, and completes deletions that wait for dependents.

An owner that waits for its dependents has a finalizer: `foregroundDeletion` until those that block it are
gone, `orphan` until none refers to it any more. With neither it goes first and its dependents follow. An
owner that was not observed is looked up before a dependent is deleted. References to kinds that are not
served keep an object for ever.
"""

from collections import defaultdict
from typing import NamedTuple

from posse.controllers.reconciler import Reconciler, Touched
from posse.controllers.steps import Amend, Delete, ExpectAbsent, Plan, is_deleting
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.metadata import FOREGROUND_FINALIZER, ORPHAN_FINALIZER
from posse.kinds.registry import EVENT, KINDS, by_kind

# Events own nothing, have no owners and are many.
COLLECTED_KINDS = tuple(kind for kind in KINDS if kind.stored is kind and kind is not EVENT)


class Owner(NamedTuple):
    """An owner reference; `absence` is None if the object cannot be looked up from the dependent."""

    uid: str
    absence: ExpectAbsent | None
    blocks: bool


class Dependent(NamedTuple):
    """An object as an owner and as a dependent."""

    kind: Kind
    obj: Json
    owners: tuple[Owner, ...]
    finalizers: tuple[str, ...]
    is_deleting: bool

    @property
    def uid(self) -> str:
        return str(self.obj["metadata"]["uid"])

    def waits(self, finalizer: str) -> bool:
        return self.is_deleting and finalizer in self.finalizers


class GarbageCollector(Reconciler):
    """Keys are uids."""

    reporter = "garbage-collector"
    kinds = COLLECTED_KINDS

    def __init__(self) -> None:
        self._known: dict[str, Dependent] = {}
        # By the uid of an owner, observed or not: the uids of objects that refer to it.
        self._dependents: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self.touched = Touched()

    def see(self, kind: Kind, obj: Json) -> None:
        new = _read(kind, obj)
        uid, old = new.uid, self._known.get(new.uid)
        if old is not None and old.owners != new.owners:
            self._unlink(old)
        for owner in new.owners:
            self._dependents[owner.uid][uid] = None
            # Orphaning a dependent may have failed because it changed; its owner tries again.
            if self._waits_to_orphan(owner.uid):
                self.touched.add(owner.uid)
        self._known[uid] = new
        if new.owners or new.is_deleting:
            self.touched.add(uid)
        if new.waits(FOREGROUND_FINALIZER) and not (old is not None and old.waits(FOREGROUND_FINALIZER)):
            self.touched.add(*self._dependents.get(uid, ()))

    def lose(self, _kind: Kind, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        old = self._known.pop(uid, None)
        if old is not None:
            self._unlink(old)
        self.touched.add(*self._dependents.get(uid, ()))

    def plan(self, key: str, _now: float) -> Plan:
        known = self._known.get(key)
        if known is None:
            return Plan()
        if known.waits(ORPHAN_FINALIZER):
            return self._orphan_dependents(known)
        if known.waits(FOREGROUND_FINALIZER):
            return self._await_dependents(known)
        return self._judge_owners(known) if known.owners and not known.is_deleting else Plan()

    def _unlink(self, known: Dependent) -> None:
        """Forget the references of an object; owners that wait for dependents have one less to wait for."""
        for owner in known.owners:
            dependents = self._dependents.get(owner.uid, {})
            dependents.pop(known.uid, None)
            if not dependents:
                self._dependents.pop(owner.uid, None)
            self.touched.add(owner.uid)

    def _orphan_dependents(self, owner: Dependent) -> Plan:
        dependents = self._dependents_of(owner.uid)
        if not dependents:
            return Plan(stages=[[_without_finalizer(owner, ORPHAN_FINALIZER)]])
        return Plan(stages=[[_without_owners(dependent, {owner.uid}) for dependent in dependents]])

    def _await_dependents(self, owner: Dependent) -> Plan:
        if any(_blocks(dependent, owner.uid) for dependent in self._dependents_of(owner.uid)):
            return Plan()
        return Plan(stages=[[_without_finalizer(owner, FOREGROUND_FINALIZER)]])

    def _judge_owners(self, dependent: Dependent) -> Plan:
        """One owner that stays keeps the dependent; references to the others are removed then."""
        leaving = [owner for owner in dependent.owners if self._is_leaving(owner)]
        absent = [
            owner for owner in dependent.owners if owner.absence is not None and not self._is_known(owner)
        ]
        result = Plan()
        if not leaving and not absent:
            return result
        result.then(*(owner.absence for owner in absent if owner.absence is not None))
        if len(leaving) + len(absent) < len(dependent.owners):
            result.then(_without_owners(dependent, {owner.uid for owner in (*leaving, *absent)}))
        else:
            propagation = self._propagation(dependent, is_awaited=bool(leaving))
            result.then(Delete(dependent.kind, dependent.obj, propagation))
        return result

    def _propagation(self, dependent: Dependent, *, is_awaited: bool) -> str:
        """Foreground deletion spreads to dependents unless their finalizers ask otherwise."""
        if ORPHAN_FINALIZER in dependent.finalizers:
            return "Orphan"
        in_turn = self._dependents_of(dependent.uid)
        # Objects that own each other would wait for each other for ever.
        is_circular = any(other.waits(FOREGROUND_FINALIZER) for other in in_turn)
        is_awaited = is_awaited and bool(in_turn) and not is_circular
        return "Foreground" if is_awaited or FOREGROUND_FINALIZER in dependent.finalizers else "Background"

    def _dependents_of(self, uid: str) -> list[Dependent]:
        return [self._known[other] for other in self._dependents.get(uid, ())]

    def _waits_to_orphan(self, uid: str) -> bool:
        return uid in self._known and self._known[uid].waits(ORPHAN_FINALIZER)

    def _is_known(self, owner: Owner) -> bool:
        known = self._known.get(owner.uid)
        return known is not None and _absence(known.kind, known.obj["metadata"]) == owner.absence

    def _is_leaving(self, owner: Owner) -> bool:
        return self._is_known(owner) and self._known[owner.uid].waits(FOREGROUND_FINALIZER)


def _read(kind: Kind, obj: Json) -> Dependent:
    metadata = obj["metadata"]
    namespace = metadata.get("namespace", "")
    return Dependent(
        kind=kind,
        obj=obj,
        owners=tuple(_owner(reference, namespace) for reference in metadata.get("ownerReferences") or ()),
        finalizers=tuple(metadata.get("finalizers") or ()),
        is_deleting=is_deleting(obj),
    )


def _absence(kind: Kind, metadata: Json) -> ExpectAbsent:
    return ExpectAbsent(kind, metadata.get("namespace", ""), metadata["name"], metadata["uid"])


def _owner(reference: Json, namespace: str) -> Owner:
    group, slash, _ = reference["apiVersion"].partition("/")
    kind = by_kind(group if slash else "", reference["kind"])
    absence = None
    # A reference does not name a namespace: an object in none cannot belong to one that is in a namespace.
    if kind is not None and (namespace or not kind.namespaced):
        home = namespace if kind.namespaced else ""
        absence = ExpectAbsent(kind.stored, home, reference["name"], reference["uid"])
    return Owner(reference["uid"], absence, bool(reference.get("blockOwnerDeletion")))


def _blocks(dependent: Dependent, owner_uid: str) -> bool:
    return any(owner.uid == owner_uid and owner.blocks for owner in dependent.owners)


def _without_owners(known: Dependent, uids: set[str]) -> Amend:
    references = known.obj["metadata"]["ownerReferences"]
    left = [reference for reference in references if reference["uid"] not in uids]
    return _amend(known, {"ownerReferences": left or None})


def _without_finalizer(known: Dependent, finalizer: str) -> Amend:
    finalizers = [name for name in known.finalizers if name != finalizer]
    return _amend(known, {"finalizers": finalizers or None})


def _amend(known: Dependent, change: Json) -> Amend:
    metadata = known.obj["metadata"]
    identity = {key: metadata[key] for key in ("uid", "resourceVersion")}
    return Amend(known.kind, known.obj, {"metadata": identity | change})
