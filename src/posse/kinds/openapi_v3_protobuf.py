"""OpenAPI v3 as protobuf, in the messages of the published package `openapi.v3`.

client-go asks for it when a program takes its schemas in that form. Only what the documents of openapi.py
hold is written.
"""

from collections.abc import Callable, Iterable
from typing import Any

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

# Most messages stand beside references in a choice of two, and are the first of it.
_ITSELF, _REFERENCE = 1, 2


def openapi_v3_protobuf(document: Json) -> bytes:
    info = document["info"]
    about = text(1, info["title"]) + text(2, info["description"]) + text(6, info["version"])
    paths = named(1, document["paths"], _path_item)
    schemas = bytes_field(1, named(1, document["components"]["schemas"], _schema))
    parts = (bytes_field(2, about), bytes_field(4, paths), bytes_field(5, schemas))
    return text(1, document["openapi"]) + b"".join(parts)


def _path_item(item: Json) -> bytes:
    return members(item, _PATH_ITEM)


def _operation(operation: Json) -> bytes:
    return members(operation, _OPERATION) + extensions(13, operation)


def _parameter(parameter: Json) -> bytes:
    return bytes_field(_ITSELF, members(parameter, _PARAMETER))


def _request_body(body: Json) -> bytes:
    return bytes_field(_ITSELF, members(body, _REQUEST_BODY))


def _responses(responses: Json) -> bytes:
    return named(2, responses, _response)


def _response(response: Json) -> bytes:
    return bytes_field(_ITSELF, members(response, _RESPONSE))


def _media_types(content: Json) -> bytes:
    return named(1, content, lambda media: bytes_field(1, _schema(media["schema"])))


def _schema(schema: Json) -> bytes:
    if "$ref" in schema:
        return bytes_field(_REFERENCE, text(1, schema["$ref"]))
    return bytes_field(_ITSELF, members(schema, _SCHEMA) + extensions(36, schema))


def _message(write: Callable[[Any], bytes]) -> Writer:
    return lambda number, value: bytes_field(number, write(value))


def _messages(write: Callable[[Any], bytes]) -> Writer:
    def write_all(number: int, values: Iterable[Any]) -> bytes:
        return b"".join(bytes_field(number, write(value)) for value in values)

    return write_all


_PATH_ITEM: dict[str, tuple[int, Writer]] = {
    "get": (4, _message(_operation)),
    "put": (5, _message(_operation)),
    "post": (6, _message(_operation)),
    "delete": (7, _message(_operation)),
    "patch": (10, _message(_operation)),
    "parameters": (13, _messages(_parameter)),
}
_OPERATION: dict[str, tuple[int, Writer]] = {
    "operationId": (5, text),
    "parameters": (6, _messages(_parameter)),
    "requestBody": (7, _message(_request_body)),
    "responses": (8, _message(_responses)),
}
_PARAMETER: dict[str, tuple[int, Writer]] = {
    "name": (1, text),
    "in": (2, text),
    "required": (4, integer_field),
    "schema": (10, _message(_schema)),
}
_REQUEST_BODY: dict[str, tuple[int, Writer]] = {
    "content": (2, _message(_media_types)),
    "required": (3, integer_field),
}
_RESPONSE: dict[str, tuple[int, Writer]] = {
    "description": (1, text),
    "content": (3, _message(_media_types)),
}
_SCHEMA: dict[str, tuple[int, Writer]] = {
    "maximum": (11, double),
    "minimum": (13, double),
    "maxLength": (15, integer_field),
    "minLength": (16, integer_field),
    "pattern": (17, text),
    "maxItems": (18, integer_field),
    "minItems": (19, integer_field),
    "maxProperties": (21, integer_field),
    "required": (23, texts),
    "enum": (24, anythings),
    "type": (25, text),
    "allOf": (26, _messages(_schema)),
    "oneOf": (27, _messages(_schema)),
    "items": (30, wrapped(1, _schema)),
    "properties": (31, _message(lambda values: named(1, values, _schema))),
    "additionalProperties": (32, wrapped(1, _schema)),
    "description": (34, text),
    "format": (35, text),
}
