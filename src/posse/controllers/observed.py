"""The newest observed versions of objects, by uid and by name, and by the uid of their controller."""

from collections import defaultdict
from typing import Any, NamedTuple

from posse.controllers.steps import controller_uid
from posse.kinds.machinery.kind import Kind

Json = dict[str, Any]


class _Known(NamedTuple):
    kind: Kind
    version: int
    owner_uid: str
    obj: Json


class ObservedObjects:
    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._owned: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._places: dict[tuple[Kind, str, str], str] = {}

    def see(self, kind: Kind, obj: Json) -> bool:
        """Return whether this version is new."""
        uid, version = obj["metadata"]["uid"], int(obj["metadata"]["resourceVersion"])
        before = self._known.get(uid)
        if before is not None and before.version >= version:
            return False
        if before is not None:
            self._disown(uid, before)
        known = _Known(kind, version, controller_uid(obj), obj)
        self._known[uid] = known
        self._places[_place(kind, obj)] = uid
        if known.owner_uid:
            self._owned[known.owner_uid][uid] = None
        return True

    def lose(self, obj: Json) -> None:
        uid = obj["metadata"]["uid"]
        before = self._known.pop(uid, None)
        if before is not None:
            self._disown(uid, before)
            if self._places.get(_place(before.kind, obj)) == uid:
                del self._places[_place(before.kind, obj)]

    def get(self, uid: str) -> Json | None:
        known = self._known.get(uid)
        return known.obj if known is not None else None

    def at(self, kind: Kind, namespace: str, name: str) -> Json | None:
        uid = self._places.get((kind, namespace, name))
        return self.get(uid) if uid is not None else None

    def owned_by(self, uid: str, kind: Kind) -> list[Json]:
        """Return the objects that have this controller, in the order of observation."""
        known = [self._known[owned] for owned in self._owned.get(uid, ())]
        return [item.obj for item in known if item.kind is kind]

    def _disown(self, uid: str, known: _Known) -> None:
        if known.owner_uid:
            owned = self._owned[known.owner_uid]
            del owned[uid]
            if not owned:
                del self._owned[known.owner_uid]


def _place(kind: Kind, obj: Json) -> tuple[Kind, str, str]:
    return kind, obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
