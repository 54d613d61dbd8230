"""Addresses of the web, read as Go reads the URI of a request: absolute, or an absolute path."""

import re

from posse.cel.errors import EvaluationError
from posse.cel.functions import function, method
from posse.cel.types import BOOL, STRING, URL, list_of, map_of
from posse.cel.values import Url

_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?([^?]*)(?:\?(.*))?", re.DOTALL)
_HOST = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^\[\]:\s<>\"{}|\\^`]*)(?::([0-9]*))?")
_WRONG_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NOT_IN_PATH = re.compile(r"[^A-Za-z0-9._~/%!$&'()*+,;=:@-]")


def parse_url(text: str) -> Url:
    found = _PARTS.fullmatch(text)
    if found is None or not text or _CONTROL.search(text):
        raise _refusal(text)
    scheme, rest, query = found.groups()
    host = ""
    if scheme is None and not rest.startswith("/"):
        raise _refusal(text)
    if scheme is not None and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        host, rest = authority.rpartition("@")[2], slash + path
        if _HOST.fullmatch(host) is None:
            raise _refusal(text)
    elif scheme is not None and not rest.startswith("/"):
        # As in mailto:name@example.com, which has neither host nor path.
        rest = ""
    if _WRONG_ESCAPE.search(rest):
        raise _refusal(text)
    return Url((scheme or "").lower(), host, _NOT_IN_PATH.sub(_escaped, rest), query or "")


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found.group().encode())


def _unescaped(text: str) -> str | None:
    """None if an escape in it is wrong."""
    if _WRONG_ESCAPE.search(text):
        return None
    data = text.replace("+", " ").encode()
    return re.sub(rb"%(..)", lambda found: bytes([int(found[1], 16)]), data).decode(errors="replace")


def _refusal(text: str) -> EvaluationError:
    return EvaluationError(f"URL parse error during conversion from string: {text[:64]!r}")


def is_url(text: str) -> bool:
    try:
        parse_url(text)
    except EvaluationError:
        return False
    return True


def _hostname(url: Url) -> str:
    found = _HOST.fullmatch(url.host)
    return found.group(1).strip("[]") if found else ""


def _port(url: Url) -> str:
    found = _HOST.fullmatch(url.host)
    return (found.group(2) or "") if found else ""


def _query(url: Url) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for pair in filter(None, url.query.split("&")):
        name, _, value = map(_unescaped, pair.partition("="))
        if name is not None and value is not None and ";" not in pair:
            values.setdefault(name, []).append(value)
    return values


URLS = {
    "url": [function(STRING, to=URL, run=parse_url)],
    "isURL": [function(STRING, to=BOOL, run=is_url)],
    "getScheme": [method(URL, to=STRING, run=lambda url: url.scheme)],
    "getHost": [method(URL, to=STRING, run=lambda url: url.host)],
    "getHostname": [method(URL, to=STRING, run=_hostname)],
    "getPort": [method(URL, to=STRING, run=_port)],
    "getEscapedPath": [method(URL, to=STRING, run=lambda url: url.path)],
    "getQuery": [method(URL, to=map_of(STRING, list_of(STRING)), run=_query)],
}
