"""The store addressed by kind, saying no with ApiErrors. It is also how admission looks at the cluster."""

from collections.abc import Iterable

from posse.kinds.machinery.errors import already_exists, conflict, internal, not_found, request_too_large
from posse.kinds.machinery.kind import Json, Kind
from posse.store.errors import CommitFailed, ObjectTooLarge
from posse.store.objects import Conflict, Key, Stored
from posse.store.store import ABSENT, Store


def resource_of(kind: Kind) -> str:
    return kind.stored.group_resource


def key_of(kind: Kind, obj: Json) -> Key:
    metadata = obj["metadata"]
    return Key(resource_of(kind), metadata.get("namespace", ""), metadata["name"])


class KindStore:
    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, kind: Kind, namespace: str | None, name: str) -> Json | None:
        stored = self._store.get(Key(resource_of(kind), namespace or "", name))
        return stored.obj if stored else None

    def list(self, kind: Kind, namespace: str | None = None) -> Iterable[Json]:
        return [stored.obj for stored in self._store.list(resource_of(kind), namespace)]

    def existing(self, kind: Kind, namespace: str, name: str) -> Stored:
        stored = self._store.get(Key(resource_of(kind), namespace, name))
        if stored is None:
            raise not_found(kind, name)
        return stored

    def add(self, kind: Kind, obj: Json) -> Stored:
        return self._put(kind, obj, ABSENT)

    def replace(self, kind: Kind, obj: Json, old: Stored) -> Stored:
        return self._put(kind, obj, old.version)

    def remove(self, kind: Kind, old: Stored) -> Stored:
        try:
            removed = self._store.delete(key_of(kind, old.obj), old.version)
        except CommitFailed as failure:
            raise internal(str(failure)) from failure
        if isinstance(removed, Conflict):
            raise conflict(kind, old.obj["metadata"]["name"])
        return removed

    def _put(self, kind: Kind, obj: Json, expected: int) -> Stored:
        try:
            stored = self._store.put(key_of(kind, obj), obj, expected)
        except ObjectTooLarge as refusal:
            raise request_too_large(refusal.limit_bytes) from refusal
        except CommitFailed as failure:
            raise internal(str(failure)) from failure
        if isinstance(stored, Conflict):
            refuse = already_exists if expected == ABSENT else conflict
            raise refuse(kind, obj["metadata"]["name"])
        return stored
