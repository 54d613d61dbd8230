"""Reads Kubernetes protobuf, as far as it is needed: kubectl's `create namespace` and its like speak nothing
else.

A message is read by a table of its fields into the JSON object it stands for. What the tables do not know is
refused, never dropped: a client told to send JSON instead loses nothing.
"""

import binascii
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from posse.kinds.machinery.kind import Json
from posse.model.timestamps import format_timestamp

MAGIC = b"k8s\x00"
_VARINT, _BYTES = 0, 2


class ProtobufError(Exception):
    """The bytes are no message, or one with something in it that is not known here."""


@dataclass(frozen=True, slots=True)
class Field:
    """`many` collects repeated values; `kept` keeps a zero value, where it differs from an absent one."""

    name: str
    read: Callable[[Any], Any]
    many: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True)
class MapField:
    """A map from text to what `read` makes of its values."""

    name: str
    read: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Message:
    name: str
    fields: Mapping[int, Field | MapField]

    def read(self, data: bytes) -> Json:
        obj: Json = {}
        for number, value in wire_fields(data):
            field = self.fields.get(number)
            if field is None:
                raise ProtobufError(f"field {number} of {self.name} is not known")
            _put(obj, field, value)
        return obj


def read_envelope(body: bytes) -> tuple[str, str, bytes]:
    """Return the apiVersion, the kind and the message of an object as Kubernetes wraps it."""
    if not body.startswith(MAGIC):
        raise ProtobufError("it does not start with the Kubernetes protobuf prefix")
    parts = dict(wire_fields(body[len(MAGIC) :]))
    type_meta = dict(wire_fields(_bytes(parts.get(1, b""))))
    if parts.get(3) or parts.get(4):
        raise ProtobufError("its content is encoded once more")
    return text(type_meta.get(1, b"")), text(type_meta.get(2, b"")), _bytes(parts.get(2, b""))


def wire_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and the value of each field in turn."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _VARINT:
            value, position = _varint(data, position)
            yield number, value
        elif wire_type == _BYTES:
            length, position = _varint(data, position)
            if position + length > len(data):
                raise ProtobufError(f"it ends within field {number}")
            yield number, data[position : position + length]
            position += length
        else:
            raise ProtobufError(f"field {number} has wire type {wire_type}, which is not used here")


# Readers of single values


def text(value: Any) -> str:
    try:
        return _bytes(value).decode()
    except UnicodeDecodeError as error:
        raise ProtobufError("a text in it is not UTF-8") from error


def base64_text(value: Any) -> str:
    return binascii.b2a_base64(_bytes(value), newline=False).decode()


def integer(value: Any) -> int:
    if not isinstance(value, int):
        raise ProtobufError("a number in it is not a number")
    # Negative numbers travel as their two's complement in 64 bits.
    return value - (1 << 64) if value >= 1 << 63 else value


def flag(value: Any) -> bool:
    return bool(integer(value))


def message(shape: Message) -> Callable[[Any], Json]:
    def read(value: Any) -> Json:
        return shape.read(_bytes(value))

    return read


def timestamp(value: Any) -> str:
    """Read a time; the zero time, which Go writes for none, becomes an empty text."""
    seconds = integer(dict(wire_fields(_bytes(value))).get(1, 0))
    try:
        return format_timestamp(seconds) if seconds else ""
    except OverflowError as error:
        raise ProtobufError("a time in it lies outside of all calendars") from error


def integer_or_text(value: Any) -> int | str:
    parts = dict(wire_fields(_bytes(value)))
    return text(parts.get(3, b"")) if parts.get(1) else integer(parts.get(2, 0))


def ignored(_value: Any) -> None:
    """Read a field that clients may send and servers do not take from them."""


def _put(obj: Json, field: Field | MapField, value: int | bytes) -> None:
    if isinstance(field, MapField):
        entry = dict(wire_fields(_bytes(value)))
        obj.setdefault(field.name, {})[text(entry.get(1, b""))] = field.read(entry.get(2, b""))
        return
    content = field.read(value)
    if field.many:
        obj.setdefault(field.name, []).append(content)
    elif content or field.kept:
        obj[field.name] = content


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise ProtobufError("a number stands where a text or message should")
    return value


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise ProtobufError("it ends within a number")
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & 0xFFFF_FFFF_FFFF_FFFF, position
    raise ProtobufError("a number in it is too long")
