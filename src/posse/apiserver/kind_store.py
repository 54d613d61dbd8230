"""The store addressed by kind, saying no with ApiErrors. It is also how admission looks at the cluster."""

from collections.abc import Iterable, Sequence

from posse.apiserver.quota_ledger import QuotaLedger
from posse.kinds.machinery.errors import (
    already_exists,
    conflict,
    insufficient_storage,
    internal,
    not_found,
    request_too_large,
)
from posse.kinds.machinery.kind import Json, Kind
from posse.store.errors import CommitFailed, ObjectTooLarge, StoreFull
from posse.store.objects import Conflict, Key, Stored
from posse.store.store import ABSENT, Put, Store


def resource_of(kind: Kind) -> str:
    return kind.stored.group_resource


def key_of(kind: Kind, obj: Json) -> Key:
    metadata = obj["metadata"]
    return Key(resource_of(kind), metadata.get("namespace", ""), metadata["name"])


class KindStore:
    def __init__(self, store: Store) -> None:
        self._store = store
        self.quotas = QuotaLedger(self.list)

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
        added = self._put(kind, obj, ABSENT)
        self.quotas.move(kind, None, added.obj)
        return added

    def replace(self, kind: Kind, obj: Json, old: Stored) -> Stored:
        replaced = self._put(kind, obj, old.version)
        self.quotas.move(kind, old.obj, replaced.obj)
        return replaced

    def replace_all(self, kind: Kind, changes: Sequence[tuple[Json, Stored]]) -> None:
        """Replace all of these objects in one transaction, or none of them."""
        self._put_all(kind, [Put(key_of(kind, obj), obj, old.version) for obj, old in changes])
        for obj, old in changes:
            self.quotas.move(kind, old.obj, obj)

    def remove(self, kind: Kind, old: Stored) -> Stored:
        try:
            removed = self._store.delete(key_of(kind, old.obj), old.version)
        except CommitFailed as failure:
            raise internal(str(failure)) from failure
        if isinstance(removed, Conflict):
            raise conflict(kind, old.obj["metadata"]["name"])
        self.quotas.move(kind, removed.obj, None)
        return removed

    def _put(self, kind: Kind, obj: Json, expected: int) -> Stored:
        return self._put_all(kind, [Put(key_of(kind, obj), obj, expected)])[0]

    def _put_all(self, kind: Kind, puts: Sequence[Put]) -> Sequence[Stored]:
        try:
            stored = self._store.put_all(puts)
        except ObjectTooLarge as refusal:
            raise request_too_large(refusal.limit_bytes) from refusal
        except StoreFull as refusal:
            raise insufficient_storage(str(refusal)) from refusal
        except CommitFailed as failure:
            raise internal(str(failure)) from failure
        if isinstance(stored, Conflict):
            name = puts[0].obj["metadata"]["name"]
            raise already_exists(kind, name) if puts[0].expected == ABSENT else conflict(kind, name)
        return stored
