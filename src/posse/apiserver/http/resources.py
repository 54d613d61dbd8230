"""Requests on resources: the HTTP method and path chosen into a verb of the API service, the result into an
answer.

A write is answered only once it is durable. What the verbs mean is the API service's business.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from aiohttp import web

from posse.apiserver.committer import Committer
from posse.apiserver.http import parameters
from posse.apiserver.http.answers import answer, indented
from posse.apiserver.http.bodies import (
    decode_json,
    media_type_of,
    read_body,
    read_object,
    read_optional_object,
)
from posse.apiserver.http.negotiation import JSON, METADATA, METADATA_LIST, TABLE, negotiate
from posse.apiserver.http.paths import ResourcePath
from posse.apiserver.http.rendering import View, encode
from posse.apiserver.http.streams import WatchStreams
from posse.apiserver.http.tables import checked_include
from posse.apiserver.incoming import in_version
from posse.apiserver.patches import check_media_type
from posse.apiserver.service import ApiService
from posse.kinds.machinery.errors import method_not_allowed, not_acceptable
from posse.kinds.machinery.kind import Json
from posse.transport.patches import Patch

REPRESENTATIONS = (TABLE, METADATA, METADATA_LIST)
ACTIONS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}
BOUND = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


@dataclass(frozen=True, slots=True)
class ResourceRequest:
    """One request on one resource, with its query read."""

    request: web.Request
    target: ResourcePath
    query: parameters.Query
    view: View

    @property
    def namespace(self) -> str | None:
        """The namespace for verbs on collections, where none means all."""
        return self.target.namespace or None


Result = TypeVar("Result")
Verb = Callable[[ResourceRequest], Awaitable[web.StreamResponse]]


class Resources:
    def __init__(
        self,
        service: ApiService,
        committer: Committer,
        clock: Callable[[], float],
        streams: WatchStreams,
    ) -> None:
        self._service = service
        self._committer = committer
        self._clock = clock
        self._streams = streams
        self._collection_verbs: dict[str, Verb] = {
            "GET": self._list_or_watch,
            "POST": self._create,
            "DELETE": self._delete_collection,
        }
        self._object_verbs: dict[tuple[str, str], Verb] = {
            ("GET", ""): self._get,
            ("PUT", ""): self._update,
            ("PATCH", ""): self._patch,
            ("DELETE", ""): self._delete,
            ("GET", "status"): self._get,
            ("PUT", "status"): self._update,
            ("PATCH", "status"): self._patch,
            ("GET", "scale"): self._get_scale,
            ("PUT", "scale"): self._update_scale,
            ("PATCH", "scale"): self._patch_scale,
            ("POST", "binding"): self._bind,
            ("PUT", "finalize"): self._finalize,
        }

    async def answer(self, request: web.Request, target: ResourcePath) -> web.StreamResponse:
        verb = self._verb(request.method, target)
        query = request.rel_url.query
        return await verb(ResourceRequest(request, target, query, self._view(request, target, query)))

    def _verb(self, method: str, target: ResourcePath) -> Verb:
        if target.name:
            verb = self._object_verbs.get((method, target.subresource))
        elif method == "DELETE" and not target.kind.has_delete_collection:
            verb = None
        elif method == "GET" or target.namespace or not target.kind.namespaced:
            verb = self._collection_verbs.get(method)
        else:
            verb = None  # Objects over all namespaces can be read at once, not written.
        if verb is None:
            raise method_not_allowed(target.kind, ACTIONS.get(method, method))
        return verb

    def _view(self, request: web.Request, target: ResourcePath, query: parameters.Query) -> View:
        chosen = negotiate(request.headers.get("Accept", ""), REPRESENTATIONS)
        if chosen is None:
            raise not_acceptable([JSON])
        include = checked_include(query.get("includeObject", "")) if chosen is TABLE else ""
        return View(target.kind, target.version, chosen, include, self._clock)

    async def _get(self, call: ResourceRequest) -> web.StreamResponse:
        target = call.target
        obj = await self._read(lambda: self._service.get(target.kind, target.namespace, target.name))
        return _object(call, obj)

    async def _list_or_watch(self, call: ResourceRequest) -> web.StreamResponse:
        if parameters.wants_watch(call.query):
            return await self._streams.watch(call.request, call.target, call.view)
        selection = parameters.selection(call.query)
        listing = await self._read(lambda: self._service.list(call.target.kind, call.namespace, selection))
        return _answer(call, call.view.listing(listing))

    async def _read(self, read: Callable[[], Result]) -> Result:
        """Answer with committed state only, also when the answer is that there is no such object."""
        try:
            return read()
        finally:
            await self._committer.durable()

    async def _create(self, call: ResourceRequest) -> web.StreamResponse:
        options = parameters.write_options(call.query)
        body = in_version(call.target.kind, await read_object(call.request), call.target.version)
        created = self._service.create(call.target.kind, call.target.namespace, body, options)
        await self._committer.durable()
        return _object(call, created, 201, options.warnings)

    async def _update(self, call: ResourceRequest) -> web.StreamResponse:
        target, options = call.target, parameters.write_options(call.query)
        body = in_version(target.kind, await read_object(call.request), target.version)
        updated = self._service.update(
            target.kind, target.namespace, target.name, body, subresource=target.subresource, options=options
        )
        await self._committer.durable()
        return _object(call, updated, 200, options.warnings)

    async def _patch(self, call: ResourceRequest) -> web.StreamResponse:
        target, options = call.target, parameters.write_options(call.query)
        patch = await _read_patch(call)
        patched = self._service.patch(
            target.kind, target.namespace, target.name, patch, subresource=target.subresource, options=options
        )
        await self._committer.durable()
        return _object(call, patched, 200, options.warnings)

    async def _delete(self, call: ResourceRequest) -> web.StreamResponse:
        target = call.target
        options = parameters.delete_options(call.query, await read_optional_object(call.request))
        deleted = self._service.delete(target.kind, target.namespace, target.name, options)
        await self._committer.durable()
        return _object(call, deleted)

    async def _delete_collection(self, call: ResourceRequest) -> web.StreamResponse:
        options = parameters.delete_options(call.query, await read_optional_object(call.request))
        selection = parameters.selection(call.query)
        deleted = self._service.delete_collection(call.target.kind, call.namespace, selection, options)
        await self._committer.durable()
        return _answer(call, call.view.listing(deleted))

    async def _get_scale(self, call: ResourceRequest) -> web.StreamResponse:
        target = call.target
        scale = await self._read(lambda: self._service.get_scale(target.kind, target.namespace, target.name))
        return _as_is(call, scale)

    async def _update_scale(self, call: ResourceRequest) -> web.StreamResponse:
        target, options = call.target, parameters.write_options(call.query)
        scale = await read_object(call.request)
        scaled = self._service.update_scale(target.kind, target.namespace, target.name, scale, options)
        await self._committer.durable()
        return _as_is(call, scaled)

    async def _patch_scale(self, call: ResourceRequest) -> web.StreamResponse:
        target, options = call.target, parameters.write_options(call.query)
        patch = await _read_patch(call)
        scaled = self._service.patch_scale(target.kind, target.namespace, target.name, patch, options)
        await self._committer.durable()
        return _as_is(call, scaled)

    async def _bind(self, call: ResourceRequest) -> web.StreamResponse:
        binding = await read_object(call.request)
        self._service.bind(call.target.namespace, call.target.name, binding)
        await self._committer.durable()
        return _object(call, BOUND, 201)

    async def _finalize(self, call: ResourceRequest) -> web.StreamResponse:
        body = in_version(call.target.kind, await read_object(call.request), call.target.version)
        finalized = self._service.finalize_namespace(call.target.name, body)
        await self._committer.durable()
        return _object(call, finalized)


async def _read_patch(call: ResourceRequest) -> Patch:
    media_type = media_type_of(call.request)
    check_media_type(media_type)
    return Patch(media_type, decode_json(await read_body(call.request)), call.target.version)


def _as_is(call: ResourceRequest, body: Json) -> web.Response:
    """Answer with what has one form only, whatever the client would like best."""
    return _answer(call, encode(body))


def _object(
    call: ResourceRequest, obj: Json, status: int = 200, warnings: list[str] | None = None
) -> web.Response:
    return _answer(call, call.view.object(obj), status, warnings)


def _answer(
    call: ResourceRequest, body: bytes, status: int = 200, warnings: list[str] | None = None
) -> web.Response:
    pretty = parameters.wants_pretty(call.query)
    return answer(indented(body) if pretty else body, status, warnings or ())
