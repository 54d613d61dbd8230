"""Fields that the protobuf forms of OpenAPI v2 and v3 have in common."""

import json
import struct
from collections.abc import Callable, Iterable
from typing import Any

from posse.kinds.machinery.kind import Json
from posse.kinds.wire.values import FIXED64, bytes_field

Writer = Callable[[int, Any], bytes]
"""Writes a value as the field of a number."""


def text(number: int, value: str) -> bytes:
    return bytes_field(number, value.encode())


def texts(number: int, values: Iterable[str]) -> bytes:
    return b"".join(text(number, value) for value in values)


def double(number: int, value: float) -> bytes:
    return bytes([number << 3 | FIXED64]) + struct.pack("<d", value)


def anything(value: object) -> bytes:
    """A value of any shape is YAML, and JSON is that."""
    return text(2, json.dumps(value))


def anythings(number: int, values: Iterable[object]) -> bytes:
    return b"".join(bytes_field(number, anything(value)) for value in values)


def named(number: int, values: Json, write: Callable[[Any], bytes]) -> bytes:
    """Write a map: entries of a name and a value."""
    return b"".join(
        bytes_field(number, text(1, name) + bytes_field(2, write(value))) for name, value in values.items()
    )


def extensions(number: int, holder: Json) -> bytes:
    return named(number, {name: value for name, value in holder.items() if name.startswith("x-")}, anything)


def wrapped(inner: int, write: Callable[[Any], bytes]) -> Writer:
    """A message that holds nothing but one field."""
    return lambda number, value: bytes_field(number, bytes_field(inner, write(value)))


def members(holder: Json, writers: dict[str, tuple[int, Writer]]) -> bytes:
    """Write what a holder has of the fields that are known, by their numbers."""
    return b"".join(
        writer(number, holder[name]) for name, (number, writer) in writers.items() if name in holder
    )
