"""OpenAPI v2 as protobuf, in the messages of the published package `openapi.v2`.

`kubectl explain --output=plaintext-openapiv2` and older clients read no other form. Only what the documents
of openapi.py hold is written.
"""

import json
import struct
from collections.abc import Callable, Iterable
from typing import Any

from posse.kinds.machinery.kind import Json
from posse.kinds.wire.values import bytes_field, integer_field

_FIXED_64 = 1
_METHODS = {"get": 2, "put": 3, "post": 4, "delete": 5, "patch": 8}
# Numbers of the fields that parameters of these two places have in common.
_QUERY = {"required": 1, "in": 2, "name": 4, "type": 6}
_PATH = {"required": 1, "in": 2, "name": 4, "type": 5}
_PLACES = {"query": (3, _QUERY), "path": (4, _PATH)}

Writer = Callable[[int, Any], bytes]


def openapi_v2_protobuf(document: Json) -> bytes:
    info = document["info"]
    about = _text(1, info["title"]) + _text(2, info["version"]) + _text(3, info["description"])
    paths = _named(2, document["paths"], _path_item)
    definitions = _named(1, document["definitions"], _schema)
    parts = (bytes_field(2, about), bytes_field(8, paths), bytes_field(9, definitions))
    return _text(1, document["swagger"]) + b"".join(parts)


def _path_item(item: Json) -> bytes:
    operations = (
        bytes_field(number, _operation(item[name])) for name, number in _METHODS.items() if name in item
    )
    return b"".join(operations) + _parameters(9, item.get("parameters", ()))


def _operation(operation: Json) -> bytes:
    return b"".join(
        (
            _text(5, operation["operationId"]),
            _texts(6, operation["produces"]),
            _texts(7, operation.get("consumes", ())),
            _parameters(8, operation["parameters"]),
            bytes_field(9, _named(1, operation["responses"], _response)),
            _extensions(13, operation),
        )
    )


def _parameters(number: int, parameters: Iterable[Json]) -> bytes:
    return b"".join(bytes_field(number, bytes_field(1, _parameter(each))) for each in parameters)


def _parameter(parameter: Json) -> bytes:
    if parameter["in"] == "body":
        required, schema = (
            integer_field(4, parameter["required"]),
            bytes_field(5, _schema(parameter["schema"])),
        )
        return bytes_field(1, _text(2, parameter["name"]) + _text(3, "body") + required + schema)
    kind, numbers = _PLACES[parameter["in"]]
    required = integer_field(numbers["required"], parameter.get("required", False))
    texts = (_text(numbers[name], parameter[name]) for name in ("in", "name", "type"))
    return bytes_field(2, bytes_field(kind, required + b"".join(texts)))


def _response(response: Json) -> bytes:
    schema = bytes_field(1, _schema(response["schema"]))
    return bytes_field(1, _text(1, response["description"]) + bytes_field(2, schema))


def _schema(schema: Json) -> bytes:
    fields = (writer(number, schema[name]) for name, (number, writer) in _SCHEMA.items() if name in schema)
    return b"".join(fields) + _extensions(31, schema)


def _extensions(number: int, holder: Json) -> bytes:
    extensions = {name: value for name, value in holder.items() if name.startswith("x-")}
    return _named(number, extensions, _any)


def _named(number: int, values: Json, write: Callable[[Any], bytes]) -> bytes:
    """Write a map: entries of a name and a value."""
    return b"".join(
        bytes_field(number, _text(1, name) + bytes_field(2, write(value))) for name, value in values.items()
    )


def _any(value: object) -> bytes:
    """A value of any shape is YAML, and JSON is that."""
    return _text(2, json.dumps(value))


def _text(number: int, text: str) -> bytes:
    return bytes_field(number, text.encode())


def _texts(number: int, texts: Iterable[str]) -> bytes:
    return b"".join(_text(number, text) for text in texts)


def _wrapped(inner: int, write: Callable[[Any], bytes]) -> Writer:
    """A message that holds nothing but one field."""
    return lambda number, value: bytes_field(number, bytes_field(inner, write(value)))


def _double(number: int, value: float) -> bytes:
    return bytes([number << 3 | _FIXED_64]) + struct.pack("<d", value)


_SCHEMA: dict[str, tuple[int, Writer]] = {
    "$ref": (1, _text),
    "format": (2, _text),
    "description": (4, _text),
    "maximum": (7, _double),
    "minimum": (9, _double),
    "maxLength": (11, integer_field),
    "minLength": (12, integer_field),
    "pattern": (13, _text),
    "maxItems": (14, integer_field),
    "minItems": (15, integer_field),
    "required": (19, _texts),
    "enum": (20, lambda number, values: b"".join(bytes_field(number, _any(value)) for value in values)),
    "additionalProperties": (21, _wrapped(1, _schema)),
    "type": (22, _wrapped(1, str.encode)),
    "items": (23, _wrapped(1, _schema)),
    "properties": (25, lambda number, values: bytes_field(number, _named(1, values, _schema))),
}
