"""HTTP answers: bodies with their headers, and errors as the Status objects clients read."""

from collections.abc import Sequence

import msgspec
from aiohttp import web

from posse.apiserver.http.negotiation import JSON
from posse.apiserver.http.rendering import encode
from posse.kinds.machinery.errors import UNAUTHORIZED, ApiError

# Objects change all the time; no cache between server and client may answer for the server.
CACHE_CONTROL = "no-cache, private"


def answer(body: bytes, status: int = 200, warnings: Sequence[str] = ()) -> web.Response:
    response = web.Response(
        body=body, status=status, headers={"Content-Type": JSON, "Cache-Control": CACHE_CONTROL}
    )
    for warning in warnings:
        response.headers.add("Warning", f'299 - "{_quotable(warning)}"')
    return response


def plain_page(body: bytes, content_type: str) -> web.Response:
    return web.Response(body=body, headers={"Content-Type": content_type, "Cache-Control": CACHE_CONTROL})


def failure(error: ApiError) -> web.Response:
    response = answer(encode(error.status), error.code)
    if error.code == UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def indented(body: bytes) -> bytes:
    return msgspec.json.format(body, indent=2) + b"\n"


def _quotable(text: str) -> str:
    """Make a text fit for a quoted string of a header: one line, quotes and backslashes escaped."""
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
