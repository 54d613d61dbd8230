"""Decodes answers. Servers write null for absent fields; objects are read without them.

What stands before a server may answer with success and a page of its own. That is no answer of the server's,
and whether it has done what it was asked to is unknown.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from posse.kinds.machinery.errors import ApiError
from posse.model.decoding import drop_nulls

T = TypeVar("T")

BAD_GATEWAY = 502
UNREADABLE = "Unreadable"
_SHOWN_BYTES = 200


class _PageMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_token: str = msgspec.field(default="", name="continue")


class WirePage(msgspec.Struct):
    """A page of a list; the items are not looked into."""

    metadata: _PageMeta = msgspec.field(default_factory=_PageMeta)
    items: tuple[msgspec.Raw, ...] | None = None


class _Name(msgspec.Struct, rename="camel"):
    name: str
    namespace: str = ""
    resource_version: str = ""


class NamedObject(msgspec.Struct):
    """As much of an object as tells which one it is, and in which version."""

    metadata: _Name


class _Identity(msgspec.Struct):
    uid: str


class _Assigned(msgspec.Struct, rename="camel"):
    node_name: str = ""


class Placed(msgspec.Struct):
    """As much of a pod as tells where it is."""

    metadata: _Identity
    spec: _Assigned


read_page = msgspec.json.Decoder(WirePage).decode
read_named = msgspec.json.Decoder(NamedObject).decode
read_placed = msgspec.json.Decoder(Placed).decode
_read_with_nulls = msgspec.json.Decoder(dict[str, Any]).decode


def read_object(encoded: bytes | msgspec.Raw) -> dict[str, Any]:
    """Most objects have no nulls, which is found out quickly in the bytes."""
    obj = _read_with_nulls(encoded)
    if b"null" not in bytes(encoded):
        return obj
    without: dict[str, Any] = drop_nulls(obj)
    return without


def read(answer: bytes, decode: Callable[[bytes], T]) -> T:
    """ApiError: it is something else; the next answer may be better."""
    try:
        return decode(answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise unreadable(f"{error}: {answer[:_SHOWN_BYTES]!r}") from error


def unreadable(why: str) -> ApiError:
    return ApiError(BAD_GATEWAY, UNREADABLE, f"what was answered is not from a Kubernetes API server: {why}")
