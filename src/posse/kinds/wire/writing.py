"""JSON objects as the protobuf that Kubernetes clients read. What JSON leaves out is left out here too."""

from collections.abc import Iterable
from typing import Any, TypeVar

from posse.kinds.wire.messages import INLINED, WireField, WireMessage, find_message, meta_message
from posse.kinds.wire.reading import MAGIC, OF_EVERY_GROUP
from posse.kinds.wire.values import ProtobufError, bytes_field, integer_field, written_value

T = TypeVar("T")


def write_object(obj: dict[str, Any]) -> bytes:
    """Return an object in the envelope that Kubernetes puts around each; its kind must have a message."""
    api_version, kind = obj.get("apiVersion", ""), obj.get("kind", "")
    message = message_of(api_version, kind)
    if message is None:
        raise ProtobufError(f"{kind} of {api_version} has no protobuf form")
    return enveloped(api_version, kind, write_message(message, obj))


def message_of(api_version: str, kind: str) -> WireMessage | None:
    if kind in OF_EVERY_GROUP or api_version == "meta.k8s.io/v1":
        return meta_message(kind)
    return find_message(api_version, kind)


def enveloped(api_version: str, kind: str, content: bytes) -> bytes:
    type_meta = bytes_field(1, api_version.encode()) + bytes_field(2, kind.encode())
    return (
        MAGIC
        + bytes_field(1, type_meta)
        + bytes_field(2, content)
        + bytes_field(3, b"")
        + bytes_field(4, b"")
    )


def write_message(message: WireMessage, obj: dict[str, Any]) -> bytes:
    """A value that does not fit its field is left out: fields that no rule reads may hold any JSON."""
    return b"".join(_written(message, obj))


def _written(message: WireMessage, obj: dict[str, Any]) -> Iterable[bytes]:
    for field in message.fields:
        if field.name == INLINED:
            inlined = field.message
            if inlined is not None:
                yield bytes_field(field.number, write_message(inlined, obj))
            continue
        value = obj.get(field.name)
        if value is None:
            continue
        try:
            content = _field(field, value)
        except ProtobufError:
            continue
        yield content


def _field(field: WireField, value: Any) -> bytes:
    if field.holds == "[]":
        return b"".join([_item(field, field.number, item) for item in _typed(list, value)])
    if field.holds == "{}":
        return b"".join(
            bytes_field(field.number, bytes_field(1, key.encode()) + _item(field, 2, item))
            for key, item in sorted(_typed(dict, value).items())
        )
    return _item(field, field.number, value)


def _item(field: WireField, number: int, value: Any) -> bytes:
    if field.type in {"int", "bool"}:
        return integer_field(number, _typed(int, value))
    message = field.message
    if message is None:
        return bytes_field(number, written_value(field.type, value))
    content = {"items": _typed(list, value)} if message.is_list else _typed(dict, value)
    return bytes_field(number, write_message(message, content))


def _typed(expected: type[T], value: Any) -> T:
    if not isinstance(value, expected):
        raise ProtobufError(f"{str(value)[:64]!r} is no {expected.__name__}")
    return value
