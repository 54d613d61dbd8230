"""Objects as bytes: decoded directly into structs, into JSON only on demand."""

from functools import lru_cache
from typing import Any, TypeVar

import msgspec

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
            return decode(struct, self.obj)
        return read


@lru_cache
def _decoder(struct: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(struct)


def shown(kind: Kind, version: str, encoded: msgspec.Raw) -> Shown:
    """An object of a kind that the cluster showed in this version, in its stored form."""
    if version in kind.dialects:
        return ShownJson(to_storage(kind, read_object(encoded)))
    return ShownBytes(encoded)


def shown_item(kind: Kind, version: str, encoded: msgspec.Raw) -> Shown:
    """The same for an item of a list, which does not say what it is."""
    head = f'{{"apiVersion":"{kind.api_version_of(version)}","kind":"{kind.name}",'.encode()
    return shown(kind, version, msgspec.Raw(head + bytes(encoded).lstrip()[1:]))
