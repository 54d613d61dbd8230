"""Everything the server says about itself: discovery, OpenAPI and its version.

These documents follow from the served kinds alone. Each is made when first asked for, kept encoded, and
carries an ETag, so that clients which keep a copy (kubectl does) are answered with 304.
"""

import hashlib
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from posse.apiserver.http.discovery import aggregated_documents, documents, versions_of
from posse.apiserver.http.negotiation import DISCOVERY, JSON, negotiate
from posse.apiserver.http.rendering import encode
from posse.kinds.machinery.errors import not_acceptable
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.openapi import openapi_v2, openapi_v3
from posse.kinds.openapi_v2_protobuf import openapi_v2_protobuf
from posse.kinds.openapi_v3_protobuf import openapi_v3_protobuf

# The Kubernetes release whose API is served; clients compare it with their own.
KUBERNETES_RELEASE = ("1", "37", "v1.37.0+posse")
# Clients ask for the older names, in which the @ is against the rules, and are answered with the newer ones.
OPENAPI_V2_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
OPENAPI_V3_PROTOBUF = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
OPENAPI_PROTOBUF_ACCEPTED = {
    name: new
    for new in (OPENAPI_V2_PROTOBUF, OPENAPI_V3_PROTOBUF)
    for name in (new, new.replace(".v1.0+", "@v1.0+"))
}
# kubectl lists these when it validates a kind that OpenAPI does not name. There are none here, ever.
CUSTOM_RESOURCE_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@dataclass(frozen=True, slots=True)
class Document:
    body: bytes
    content_type: str
    digest: str


class Documents:
    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.kinds = kinds
        self._kept: dict[tuple[str, str], Document] = {}
        self._makers: dict[tuple[str, str], Callable[[], Json | bytes]] = {}
        for path, body in documents(kinds).items():
            self._makers[path, JSON] = partial(_same, body)
        for path, body in aggregated_documents(kinds).items():
            self._makers[path, DISCOVERY.content_type] = partial(_same, body)
        self._openapi_paths = {
            _openapi_path(group, version): (group, version)
            for group in dict.fromkeys(kind.group for kind in kinds)
            for version in versions_of(kinds, group)
        }
        for path, (group, version) in self._openapi_paths.items():
            make = partial(openapi_v3, group, version, kinds)
            self._makers[f"/openapi/v3/{path}", JSON] = make
            self._makers[f"/openapi/v3/{path}", OPENAPI_V3_PROTOBUF] = partial(_openapi_v3_protobuf, make)
        self._makers["/openapi/v3", JSON] = self._openapi_index
        self._makers["/openapi/v2", JSON] = partial(openapi_v2, kinds)
        self._makers["/openapi/v2", OPENAPI_V2_PROTOBUF] = lambda: openapi_v2_protobuf(openapi_v2(kinds))
        self._makers[CUSTOM_RESOURCE_DEFINITIONS, JSON] = no_custom_resource_definitions
        self._makers["/version", JSON] = version_document
        self._makers["", JSON] = self._path_index

    def answer(self, request: web.Request, path: str) -> web.Response | None:
        """Answer a request for one of the documents; nothing when the path names none."""
        if (path, JSON) not in self._makers or request.method not in {"GET", "HEAD"}:
            return None
        if path == CUSTOM_RESOURCE_DEFINITIONS and "watch" in request.query:
            return None
        document = self._document(path, self._content_type(path, request.headers.get("Accept", "")))
        etag = f'"{document.digest}"'
        # The digest is the whole identity: a copy a client still holds is as good as a new one.
        headers = {"ETag": etag, "Vary": "Accept", "Cache-Control": "public"}
        if etag in request.headers.get("If-None-Match", ""):
            return web.Response(status=304, headers=headers)
        return web.Response(body=document.body, headers=headers | {"Content-Type": document.content_type})

    def _content_type(self, path: str, accept: str) -> str:
        for name, content_type in OPENAPI_PROTOBUF_ACCEPTED.items():
            if name in accept and (path, content_type) in self._makers:
                return content_type
        offered = (DISCOVERY,) if (path, DISCOVERY.content_type) in self._makers else ()
        chosen = negotiate(accept, offered)
        if chosen is None:
            raise not_acceptable([JSON])
        return chosen.content_type

    def _document(self, path: str, content_type: str) -> Document:
        kept = self._kept.get((path, content_type))
        if kept is None:
            made = self._makers[path, content_type]()
            body = made if isinstance(made, bytes) else encode(made)
            kept = Document(body, content_type, hashlib.sha256(body).hexdigest().upper())
            self._kept[path, content_type] = kept
        return kept

    def _path_index(self) -> Json:
        return {"paths": sorted({path for path, _ in self._makers if path})}

    def _openapi_index(self) -> Json:
        """List the OpenAPI documents by address; the hash in it lets clients keep them for ever."""
        urls = {
            path: f"/openapi/v3/{path}?hash={self._document(f'/openapi/v3/{path}', JSON).digest}"
            for path in self._openapi_paths
        }
        return {"paths": {path: {"serverRelativeURL": url} for path, url in urls.items()}}


def no_custom_resource_definitions() -> Json:
    return {
        "kind": "CustomResourceDefinitionList",
        "apiVersion": "apiextensions.k8s.io/v1",
        "metadata": {"resourceVersion": "1"},
        "items": [],
    }


def version_document() -> Json:
    major, minor, full = KUBERNETES_RELEASE
    system, machine = platform.system().lower(), platform.machine()
    return {
        "major": major,
        "minor": minor,
        "gitVersion": full,
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": platform.python_implementation(),
        "platform": f"{system}/{machine}",
    }


def _openapi_path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _openapi_v3_protobuf(make: Callable[[], Json]) -> bytes:
    return openapi_v3_protobuf(make())


def _same(body: Json) -> Json:
    return body
