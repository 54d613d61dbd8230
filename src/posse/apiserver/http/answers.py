"""HTTP answers: bodies with their headers, and errors as the Status objects clients read."""

from collections.abc import Sequence

import msgspec
from aiohttp import web

from posse.apiserver.http.negotiation import JSON
from posse.apiserver.http.rendering import encode
from posse.kinds.machinery.errors import UNAUTHORIZED, ApiError

# Objects change all the time; no cache between server and client may answer for the server.
CACHE_CONTROL = "no-cache, private"
# Clients refuse answers whose headers are longer than some 16 KiB in all.
MAX_WARNINGS = 16
MAX_WARNING_CHARACTERS = 256


def answer(
    body: bytes, status: int = 200, warnings: Sequence[str] = (), content_type: str = JSON
) -> web.Response:
    response = web.Response(
        body=body, status=status, headers={"Content-Type": content_type, "Cache-Control": CACHE_CONTROL}
    )
    for warning in _bounded([_quotable(warning) for warning in warnings]):
        response.headers.add("Warning", f'299 - "{warning}"')
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
    """Make a text fit for a quoted string of a header: short, one line, quotes and backslashes escaped."""
    line = " ".join(text.split())
    if len(line) > MAX_WARNING_CHARACTERS:
        line = f"{line[:MAX_WARNING_CHARACTERS]}..."
    printable = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)
    return printable.replace("\\", "\\\\").replace('"', '\\"')


def _bounded(warnings: Sequence[str]) -> Sequence[str]:
    if len(warnings) <= MAX_WARNINGS:
        return warnings
    return [*warnings[:MAX_WARNINGS], f"{len(warnings) - MAX_WARNINGS} further warnings are left out"]
