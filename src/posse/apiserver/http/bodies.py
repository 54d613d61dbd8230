"""Request bodies: read within a bound, decoded by content type, and refused with the place of the fault.

What the decoded value means, and whether it is a valid object, is decided elsewhere.
"""

import asyncio
from typing import Any

import msgspec
import yaml
from aiohttp import web

from posse.apiserver.http.yaml_values import as_json, load_documents
from posse.apiserver.incoming import nested_too_deeply
from posse.kinds.machinery.errors import ApiError, bad_request, request_too_large, unsupported_media_type
from posse.kinds.wire.reading import PROTOBUF
from posse.kinds.wire.reading import read_object as read_protobuf
from posse.kinds.wire.values import ProtobufError
from posse.model.limits import MAX_VALUES

BODY_LIMIT_BYTES = 3 * 1024 * 1024
BODY_SECONDS = 60.0
SLOW_BYTES = 32 * 1024
"""Of YAML or protobuf: more is read beside other requests."""
JSON_TYPES = ("application/json",)
YAML_TYPES = ("application/yaml", "application/x-yaml", "text/yaml")


async def read_body(request: web.Request) -> bytes:
    try:
        if request.content.is_eof():
            # It came with the headers, as most do. Limiting the time would take longer than reading it.
            return await request.read()
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise request_too_large(BODY_LIMIT_BYTES) from error
    except TimeoutError as error:
        text = f"the body of the request did not arrive within {BODY_SECONDS:g} seconds"
        raise ApiError(408, "Timeout", text) from error


async def read_object(request: web.Request) -> dict[str, Any]:
    """Read a body that must be there and must be an object."""
    value = await _decoded(await read_body(request), media_type_of(request))
    if not isinstance(value, dict):
        raise bad_request(f"the request body must be an object, not {_type_name(value)}")
    return value


async def read_optional_object(request: web.Request) -> dict[str, Any]:
    """Read a body that may be left out, such as DeleteOptions."""
    if not request.can_read_body:
        return {}
    return await read_object(request) if await read_body(request) else {}


def media_type_of(request: web.Request) -> str:
    declared = request.headers.get("Content-Type", "")
    return declared.partition(";")[0].strip().lower() or "application/json"


async def read_configuration(request: web.Request) -> Any:
    """Read what is to be applied: YAML, and therefore also JSON, which most clients send."""
    body = await read_body(request)
    media_type = JSON_TYPES[0] if body.lstrip()[:1] == b"{" else YAML_TYPES[0]
    try:
        return await _decoded(body, media_type)
    except ApiError:
        if media_type in YAML_TYPES:
            raise
        return await _decoded(body, YAML_TYPES[0])


async def _decoded(body: bytes, media_type: str) -> Any:
    """A large text of YAML takes seconds to read; other requests are answered meanwhile."""
    if len(body) > SLOW_BYTES and media_type not in JSON_TYPES:
        return await asyncio.to_thread(decode, body, media_type)
    return decode(body, media_type)


def decode(body: bytes, media_type: str) -> Any:
    if media_type in JSON_TYPES:
        return decode_json(body)
    if media_type in YAML_TYPES:
        return _decode_yaml(body)
    if media_type == PROTOBUF:
        return _decode_protobuf(body)
    raise unsupported_media_type((*JSON_TYPES, *YAML_TYPES, PROTOBUF))


def decode_json(body: bytes) -> Any:
    if not body:
        raise bad_request("the request body is empty; an object was expected")
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _malformed_json(body, str(error)) from error
    except RecursionError as error:
        raise nested_too_deeply() from error


def _malformed_json(body: bytes, reason: str) -> ApiError:
    # msgspec tells the place as "... (byte 17)"; people look for lines and columns.
    reason, _, place = reason.rstrip(")").rpartition(" (byte ")
    if not place.isdigit():
        return bad_request(f"the request body is not valid JSON: {reason or place}")
    before = body[: int(place)]
    line = before.count(b"\n") + 1
    column = len(before) - (before.rfind(b"\n") + 1) + 1
    reason = reason.removeprefix("JSON is malformed: ")
    return bad_request(f"the request body is not valid JSON: line {line}, column {column}: {reason}")


def _decode_yaml(body: bytes) -> Any:
    try:
        documents = load_documents(body, aliases=False, max_values=MAX_VALUES)
    except yaml.YAMLError as error:
        text = " ".join(str(error).split())
        raise bad_request(f"the request body is not valid YAML: {text}") from error
    if len(documents) != 1:
        raise bad_request(f"the request body must be one YAML document, not {len(documents)}")
    try:
        return decode_json(as_json(documents[0]))
    except ValueError as error:
        raise bad_request(f"the request body {error}") from error


def _decode_protobuf(body: bytes) -> Any:
    try:
        return read_protobuf(body)
    except ProtobufError as error:
        text = f"the protobuf body of the request cannot be read: {error}; send it as application/json"
        raise ApiError(415, "UnsupportedMediaType", text) from error


def _type_name(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
