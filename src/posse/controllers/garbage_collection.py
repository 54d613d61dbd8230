"""Collects what has lost its owners: objects of any kind seen go in, deletions and changes of references come out.

An object that waits for its dependents carries a finalizer: `foregroundDeletion` until those that block it are gone,
`orphan` until none refers to it any more. Without either it goes first and its dependents follow. An owner counts as gone
only by what has been seen, so whoever carries out a deletion makes sure first. References to kinds that are not served
hold an object for ever: nobody can tell whether their object is there.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.metadata import FOREGROUND_FINALIZER, ORPHAN_FINALIZER
from posse.kinds.registry import by_kind


class ObjectIdentity(NamedTuple):
    kind: Kind
    namespace: str
    name: str
    uid: str


class Owner(NamedTuple):
    """What a reference means; `place` is None when the object it names cannot be looked up from the dependent."""

    uid: str
    place: ObjectIdentity | None
    blocks: bool


class Known(NamedTuple):
    place: ObjectIdentity
    version: str
    owners: tuple[Owner, ...]
    finalizers: tuple[str, ...]
    is_deleting: bool
    references: tuple[Json, ...]

    def waits(self, finalizer: str) -> bool:
        return self.is_deleting and finalizer in self.finalizers


class Collect(NamedTuple):
    """Delete an object, if all of `absent` are indeed gone."""

    place: ObjectIdentity
    propagation: str
    absent: tuple[ObjectIdentity, ...] = ()


class Amend(NamedTuple):
    """Apply a merge patch to an object as it was seen, if all of `absent` are indeed gone."""

    place: ObjectIdentity
    patch: Json
    absent: tuple[ObjectIdentity, ...] = ()


Step = Collect | Amend


class GarbageCollector:
    def __init__(self) -> None:
        self._known: dict[str, Known] = {}
        # By the uid of an owner, seen or not: the uids of what refers to it.
        self._dependents: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._reconsider: dict[str, None] = {}

    def see(self, kind: Kind, obj: Json) -> None:
        new = _read(kind, obj)
        uid, old = new.place.uid, self._known.get(new.place.uid)
        if old is not None and old.owners != new.owners:
            self._unlink(old)
        for owner in new.owners:
            self._dependents[owner.uid][uid] = None
            # Setting a dependent free may have failed because it changed; its owner tries again.
            if self._waits_to_orphan(owner.uid):
                self._reconsider[owner.uid] = None
        self._known[uid] = new
        if new.owners or new.is_deleting:
            self._reconsider[uid] = None
        if new.waits(FOREGROUND_FINALIZER) and not (old is not None and old.waits(FOREGROUND_FINALIZER)):
            self._reconsider |= self._dependents.get(uid, {})

    def lose(self, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        old = self._known.pop(uid, None)
        if old is not None:
            self._unlink(old)
        self._reconsider |= self._dependents.get(uid, {})

    def steps(self) -> list[Step]:
        """Return what is to be done by what has been seen since the last call."""
        reconsider, self._reconsider = self._reconsider, {}
        return [
            step for uid in reconsider if uid in self._known for step in self._steps_for(self._known[uid])
        ]

    def _unlink(self, known: Known) -> None:
        """Forget what an object refers to; owners that wait for their dependents have one less to wait for."""
        for owner in known.owners:
            dependents = self._dependents.get(owner.uid, {})
            dependents.pop(known.place.uid, None)
            if not dependents:
                self._dependents.pop(owner.uid, None)
            self._reconsider[owner.uid] = None

    def _steps_for(self, known: Known) -> Iterator[Step]:
        if known.waits(ORPHAN_FINALIZER):
            yield from self._orphan_dependents(known)
        elif known.waits(FOREGROUND_FINALIZER):
            yield from self._await_dependents(known)
        elif not known.is_deleting and known.owners:
            yield from self._judge_owners(known)

    def _orphan_dependents(self, owner: Known) -> Iterator[Step]:
        uid = owner.place.uid
        dependents = self._dependents_of(uid)
        for dependent in dependents:
            yield Amend(dependent.place, _without_owners(dependent, {uid}))
        if not dependents:
            yield Amend(owner.place, _without_finalizer(owner, ORPHAN_FINALIZER))

    def _await_dependents(self, owner: Known) -> Iterator[Step]:
        uid = owner.place.uid
        if not any(_blocks(dependent, uid) for dependent in self._dependents_of(uid)):
            yield Amend(owner.place, _without_finalizer(owner, FOREGROUND_FINALIZER))

    def _judge_owners(self, dependent: Known) -> Iterator[Step]:
        """One owner that stays is reason enough to stay; references to the others are dropped then."""
        leaving = [owner for owner in dependent.owners if self._is_leaving(owner)]
        absent = [owner for owner in dependent.owners if owner.place is not None and not self._is_seen(owner)]
        missing = tuple(owner.place for owner in absent if owner.place is not None)
        if not leaving and not absent:
            return
        if len(leaving) + len(absent) < len(dependent.owners):
            going = {owner.uid for owner in (*leaving, *absent)}
            yield Amend(dependent.place, _without_owners(dependent, going), missing)
        else:
            yield Collect(dependent.place, self._propagation(dependent, is_awaited=bool(leaving)), missing)

    def _propagation(self, dependent: Known, *, is_awaited: bool) -> str:
        """Dependents of what is deleted in the foreground go the same way, unless they ask for another."""
        if ORPHAN_FINALIZER in dependent.finalizers:
            return "Orphan"
        in_turn = self._dependents_of(dependent.place.uid)
        # Objects that own each other would wait for each other for ever.
        is_circular = any(other.waits(FOREGROUND_FINALIZER) for other in in_turn)
        is_awaited = is_awaited and bool(in_turn) and not is_circular
        return "Foreground" if is_awaited or FOREGROUND_FINALIZER in dependent.finalizers else "Background"

    def _dependents_of(self, uid: str) -> list[Known]:
        return [self._known[other] for other in self._dependents.get(uid, ())]

    def _waits_to_orphan(self, uid: str) -> bool:
        return uid in self._known and self._known[uid].waits(ORPHAN_FINALIZER)

    def _is_seen(self, owner: Owner) -> bool:
        known = self._known.get(owner.uid)
        return known is not None and known.place == owner.place

    def _is_leaving(self, owner: Owner) -> bool:
        return self._is_seen(owner) and self._known[owner.uid].waits(FOREGROUND_FINALIZER)


def _read(kind: Kind, obj: Json) -> Known:
    metadata = obj["metadata"]
    references = tuple(metadata.get("ownerReferences") or ())
    namespace = metadata.get("namespace", "")
    return Known(
        place=ObjectIdentity(kind, namespace, metadata["name"], metadata["uid"]),
        version=metadata["resourceVersion"],
        owners=tuple(_owner(reference, namespace) for reference in references),
        finalizers=tuple(metadata.get("finalizers") or ()),
        is_deleting=bool(metadata.get("deletionTimestamp")),
        references=references,
    )


def _owner(reference: Json, namespace: str) -> Owner:
    group, slash, _ = reference["apiVersion"].partition("/")
    kind = by_kind(group if slash else "", reference["kind"])
    place = None
    # What is in no namespace cannot belong to something that is in one: it does not say in which.
    if kind is not None and (namespace or not kind.namespaced):
        home = namespace if kind.namespaced else ""
        place = ObjectIdentity(kind.stored, home, reference["name"], reference["uid"])
    return Owner(reference["uid"], place, bool(reference.get("blockOwnerDeletion")))


def _blocks(dependent: Known, owner_uid: str) -> bool:
    return any(owner.uid == owner_uid and owner.blocks for owner in dependent.owners)


def _without_owners(known: Known, uids: set[str]) -> Json:
    references = [reference for reference in known.references if reference["uid"] not in uids]
    return {"metadata": _identity(known) | {"ownerReferences": references or None}}


def _without_finalizer(known: Known, finalizer: str) -> Json:
    finalizers = [name for name in known.finalizers if name != finalizer]
    return {"metadata": _identity(known) | {"finalizers": finalizers or None}}


def _identity(known: Known) -> Json:
    return {"uid": known.place.uid, "resourceVersion": known.version}
