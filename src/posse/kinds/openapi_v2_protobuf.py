"""OpenAPI v2 as protobuf, in the messages of the published package `openapi.v2`.

`kubectl explain --output=plaintext-openapiv2` and older clients read no other form. Only what the documents
of openapi.py hold is written.
"""

from collections.abc import Iterable

from posse.kinds.machinery.kind import Json
from posse.kinds.openapi_fields import (
    Writer,
    anythings,
    double,
    extensions,
    members,
    named,
    text,
    texts,
    wrapped,
)
from posse.kinds.wire.values import bytes_field, integer_field

_METHODS = {"get": 2, "put": 3, "post": 4, "delete": 5, "patch": 8}
# Numbers of the fields that parameters of these two places have in common.
_QUERY = {"required": 1, "in": 2, "name": 4, "type": 6}
_PATH = {"required": 1, "in": 2, "name": 4, "type": 5}
_PLACES = {"query": (3, _QUERY), "path": (4, _PATH)}


def openapi_v2_protobuf(document: Json) -> bytes:
    info = document["info"]
    about = text(1, info["title"]) + text(2, info["version"]) + text(3, info["description"])
    paths = named(2, document["paths"], _path_item)
    definitions = named(1, document["definitions"], _schema)
    parts = (bytes_field(2, about), bytes_field(8, paths), bytes_field(9, definitions))
    return text(1, document["swagger"]) + b"".join(parts)


def _path_item(item: Json) -> bytes:
    operations = (
        bytes_field(number, _operation(item[name])) for name, number in _METHODS.items() if name in item
    )
    return b"".join(operations) + _parameters(9, item.get("parameters", ()))


def _operation(operation: Json) -> bytes:
    return b"".join(
        (
            text(5, operation["operationId"]),
            texts(6, operation["produces"]),
            texts(7, operation.get("consumes", ())),
            _parameters(8, operation["parameters"]),
            bytes_field(9, named(1, operation["responses"], _response)),
            extensions(13, operation),
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
        return bytes_field(1, text(2, parameter["name"]) + text(3, "body") + required + schema)
    kind, numbers = _PLACES[parameter["in"]]
    required = integer_field(numbers["required"], parameter.get("required", False))
    said = (text(numbers[name], parameter[name]) for name in ("in", "name", "type"))
    return bytes_field(2, bytes_field(kind, required + b"".join(said)))


def _response(response: Json) -> bytes:
    schema = bytes_field(1, _schema(response["schema"]))
    return bytes_field(1, text(1, response["description"]) + bytes_field(2, schema))


def _schema(schema: Json) -> bytes:
    return members(schema, _SCHEMA) + extensions(31, schema)


_SCHEMA: dict[str, tuple[int, Writer]] = {
    "$ref": (1, text),
    "format": (2, text),
    "description": (4, text),
    "maximum": (7, double),
    "minimum": (9, double),
    "maxLength": (11, integer_field),
    "minLength": (12, integer_field),
    "pattern": (13, text),
    "maxItems": (14, integer_field),
    "minItems": (15, integer_field),
    "maxProperties": (17, integer_field),
    "required": (19, texts),
    "enum": (20, anythings),
    "additionalProperties": (21, wrapped(1, _schema)),
    "type": (22, wrapped(1, str.encode)),
    "items": (23, wrapped(1, _schema)),
    "properties": (25, lambda number, values: bytes_field(number, named(1, values, _schema))),
}
