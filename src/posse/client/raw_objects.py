"""Objects as bytes: decoded directly into structs, into JSON only on demand."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec.structs import force_setattr

from posse.client.reading import read_object
from posse.kinds.machinery.conversion import to_storage
from posse.kinds.machinery.kind import Kind
from posse.model.decoding import decode
from posse.model.meta import ApiObject
from posse.transport.objects import Json, Shown, ShownJson

S = TypeVar("S", bound=ApiObject)


class ShownBytes:
    __slots__ = ("_encoded",)

    def __init__(self, encoded: bytes | msgspec.Raw) -> None:
        self._encoded = encoded

    @property
    def obj(self) -> Json:
        return read_object(self._encoded)

    def read(self, struct: type[S]) -> S:
        try:
            read: S = _decoder(struct).decode(self._encoded)
        except msgspec.ValidationError:
            # It has nulls, or is wrong; the slow way tells which.
            read = decode(struct, self.obj)
        return _without_managed_fields(read)


class ShownItem(ShownBytes):
    """An item of a list, which does not say what it is."""

    __slots__ = ("_api_version", "_kind")

    def __init__(self, encoded: msgspec.Raw, api_version: str, kind: str) -> None:
        super().__init__(encoded)
        self._api_version, self._kind = api_version, kind

    @property
    def obj(self) -> Json:
        return {"apiVersion": self._api_version, "kind": self._kind} | read_object(self._encoded)

    def read(self, struct: type[S]) -> S:
        read = super().read(struct)
        if not read.kind:
            force_setattr(read, "api_version", self._api_version)
            force_setattr(read, "kind", self._kind)
        return read


class ShownDialect(ShownJson):
    """An object that was shown in a version of another shape."""

    __slots__ = ()

    def read(self, struct: type[S]) -> S:
        return _without_managed_fields(super().read(struct))


def _without_managed_fields(read: S) -> S:
    """They take more memory than all the rest, and only the server reads them."""
    force_setattr(read.metadata, "managed_fields", ())
    return read


@lru_cache
def _decoder(struct: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(struct)


def shown(kind: Kind, version: str, encoded: msgspec.Raw) -> Shown:
    """An object of a kind that the cluster showed in this version, in its stored form."""
    if version in kind.dialects:
        return ShownDialect(to_storage(kind, read_object(encoded)))
    return ShownBytes(encoded)


def shown_items(kind: Kind, version: str, items: Iterable[msgspec.Raw]) -> Sequence[Shown]:
    """The same for the items of a list."""
    api_version, name = kind.api_version_of(version), kind.name
    shown = [ShownItem(encoded, api_version, name) for encoded in items]
    return [ShownDialect(to_storage(kind, one.obj)) for one in shown] if version in kind.dialects else shown
