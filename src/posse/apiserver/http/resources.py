"""Requests on resources: the HTTP method and path chosen into a verb of the API service, the result into an
answer.

A write is answered only once it is durable. What the verbs mean is the API service's business.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec
from aiohttp import web

from posse.apiserver.committer import Committer
from posse.apiserver.http import parameters
from posse.apiserver.http.account_tokens import AccountTokens
from posse.apiserver.http.answers import answer, indented
from posse.apiserver.http.bodies import (
    JSON_TYPES,
    decode_json,
    media_type_of,
    read_body,
    read_configuration,
    read_object,
    read_optional_object,
)
from posse.apiserver.http.duplicate_fields import duplicate_fields
from posse.apiserver.http.negotiation import (
    JSON,
    METADATA,
    METADATA_LIST,
    TABLE,
    TABLE_BETA,
    negotiate,
    negotiate_protobuf,
)
from posse.apiserver.http.paths import ResourcePath
from posse.apiserver.http.protobuf_rendering import ProtobufView, has_protobuf
from posse.apiserver.http.rendering import View
from posse.apiserver.http.streams import WatchStreams
from posse.apiserver.http.tables import checked_include
from posse.apiserver.incoming import in_version
from posse.apiserver.patches import CHANGES, SUPPORTED, check_media_type, check_patch_options
from posse.apiserver.requests import WriteOptions
from posse.apiserver.service import ApiService
from posse.kinds.machinery.errors import ApiError, method_not_allowed, not_acceptable
from posse.kinds.machinery.kind import Json
from posse.kinds.registry import POD
from posse.kinds.wire.reading import PROTOBUF
from posse.transport.patches import APPLY_PATCH, Patch

REPRESENTATIONS = (TABLE, TABLE_BETA, METADATA, METADATA_LIST)
MAX_DELETED_AT_ONCE = 100
ACTIONS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}
DONE = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


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
        tokens: AccountTokens,
    ) -> None:
        self._service = service
        self._committer = committer
        self._clock = clock
        self._streams = streams
        self._tokens = tokens
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
            ("POST", "eviction"): self._evict,
            ("POST", "token"): self._issue_token,
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
        accept = request.headers.get("Accept", "")
        chosen = negotiate(accept, REPRESENTATIONS)
        if chosen is None:
            return self._protobuf_view(accept, target)
        include = checked_include(query.get("includeObject", "")) if chosen in (TABLE, TABLE_BETA) else ""
        return View(target.kind, target.version, chosen, include, self._clock, PROTOBUF in accept)

    def _protobuf_view(self, accept: str, target: ResourcePath) -> View:
        """How a client looks at objects that takes no JSON; Tables are JSON only."""
        is_known = has_protobuf(target.kind, target.version)
        chosen = negotiate_protobuf(accept, (METADATA, METADATA_LIST)) if is_known else None
        if chosen is None:
            raise not_acceptable([JSON, PROTOBUF] if is_known else [JSON])
        return ProtobufView(target.kind, target.version, chosen, "", self._clock)

    async def _get(self, call: ResourceRequest) -> web.StreamResponse:
        target = call.target
        try:
            obj = self._service.get(target.kind, target.namespace, target.name)
        except ApiError:
            # What is missing may have been deleted, and that not yet be durable.
            await self._committer.durable()
            raise
        await self._committer.durable(obj)
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
        options = _write_options(call)
        body = in_version(call.target.kind, await _read_once(call, options), call.target.version)
        created = self._service.create(call.target.kind, call.target.namespace, body, options)
        await self._committer.durable()
        return _object(call, created, 201, options.warnings)

    async def _update(self, call: ResourceRequest) -> web.StreamResponse:
        target, options = call.target, _write_options(call)
        body = in_version(target.kind, await _read_once(call, options), target.version)
        is_new = self._service.would_create(target.kind, target.namespace, target.name)
        updated = self._service.update(
            target.kind, target.namespace, target.name, body, subresource=target.subresource, options=options
        )
        await self._committer.durable()
        return _object(call, updated, 201 if is_new else 200, options.warnings)

    async def _patch(self, call: ResourceRequest) -> web.StreamResponse:
        target, options = call.target, _write_options(call)
        patch = await _read_patch(call)
        if patch.media_type == APPLY_PATCH:
            return await self._apply(call, patch)
        check_patch_options(patch.media_type, options)
        patched = self._service.patch(
            target.kind, target.namespace, target.name, patch, subresource=target.subresource, options=options
        )
        await self._committer.durable()
        return _object(call, patched, 200, options.warnings)

    async def _apply(self, call: ResourceRequest, patch: Patch) -> web.StreamResponse:
        target = call.target
        # Who applies says in whose name: the name of a program will not do.
        options = replace(_write_options(call), field_manager=call.query.get("fieldManager", ""))
        applied, is_new = self._service.apply(
            target.kind, target.namespace, target.name, patch, subresource=target.subresource, options=options
        )
        await self._committer.durable()
        return _object(call, applied, 201 if is_new else 200, options.warnings)

    async def _delete(self, call: ResourceRequest) -> web.StreamResponse:
        target = call.target
        options = parameters.delete_options(call.query, await read_optional_object(call.request))
        deleted = self._service.delete(target.kind, target.namespace, target.name, options)
        await self._committer.durable()
        return _object(call, deleted)

    async def _delete_collection(self, call: ResourceRequest) -> web.StreamResponse:
        options = parameters.delete_options(call.query, await read_optional_object(call.request))
        selection = parameters.selection(call.query)
        found = self._service.list(call.target.kind, call.namespace, selection)
        refusals: list[ApiError] = []
        for start in range(0, len(found.stored), MAX_DELETED_AT_ONCE):
            part = found.stored[start : start + MAX_DELETED_AT_ONCE]
            refusals += self._service.delete_all(call.target.kind, part, options)
            # Other requests have their turn.
            await asyncio.sleep(0)
        await self._committer.durable()
        if refusals:
            raise refusals[0]
        return _answer(call, call.view.listing(found))

    async def _get_scale(self, call: ResourceRequest) -> web.StreamResponse:
        target = call.target
        scale = await self._read(lambda: self._service.get_scale(target.kind, target.namespace, target.name))
        return _answer(call, call.view.scale(scale))

    async def _update_scale(self, call: ResourceRequest) -> web.StreamResponse:
        target, options = call.target, _write_options(call)
        scale = await read_object(call.request)
        scaled = self._service.update_scale(target.kind, target.namespace, target.name, scale, options)
        await self._committer.durable()
        return _answer(call, call.view.scale(scaled))

    async def _patch_scale(self, call: ResourceRequest) -> web.StreamResponse:
        target, options = call.target, _write_options(call)
        patch = await _read_patch(call)
        scaled = self._service.patch_scale(target.kind, target.namespace, target.name, patch, options)
        await self._committer.durable()
        return _answer(call, call.view.scale(scaled))

    async def bind(self, request: web.Request, namespace: str) -> web.StreamResponse:
        """Bind the pod that the body names: the older way, without the pod in the path."""
        if request.method != "POST":
            raise method_not_allowed(POD, ACTIONS.get(request.method, request.method))
        binding = await read_object(request)
        self._service.bind(namespace, (binding.get("metadata") or {}).get("name") or "", binding)
        await self._committer.durable()
        return answer(msgspec.json.encode(DONE), 201)

    async def _bind(self, call: ResourceRequest) -> web.StreamResponse:
        binding = await read_object(call.request)
        self._service.bind(call.target.namespace, call.target.name, binding)
        await self._committer.durable()
        return _object(call, DONE, 201)

    async def _evict(self, call: ResourceRequest) -> web.StreamResponse:
        eviction = await read_object(call.request)
        options = parameters.delete_options(call.query, eviction.get("deleteOptions") or {})
        self._service.evict(call.target.namespace, call.target.name, options)
        await self._committer.durable()
        return _object(call, DONE, 201)

    async def _issue_token(self, call: ResourceRequest) -> web.StreamResponse:
        body = await read_object(call.request)
        issued = self._tokens.issue(call.target.namespace, call.target.name, body)
        return _answer(call, call.view.as_is(issued), 201)

    async def _finalize(self, call: ResourceRequest) -> web.StreamResponse:
        body = in_version(call.target.kind, await read_object(call.request), call.target.version)
        finalized = self._service.finalize_namespace(call.target.name, body)
        await self._committer.durable()
        return _object(call, finalized)


def _write_options(call: ResourceRequest) -> WriteOptions:
    return parameters.write_options(call.query, call.request.headers.get("User-Agent", ""))


async def _read_once(call: ResourceRequest, options: WriteOptions) -> Json:
    """Read an object; where fields are validated, keys that it has twice are found."""
    body = await read_object(call.request)
    if options.field_validation == "Strict" and media_type_of(call.request) in JSON_TYPES:
        options.repeated.extend(duplicate_fields(await read_body(call.request)))
    return body


async def _read_patch(call: ResourceRequest) -> Patch:
    media_type = media_type_of(call.request)
    # A Scale is no object of its own, so its fields have no owners.
    check_media_type(media_type, CHANGES if call.target.subresource == "scale" else SUPPORTED)
    if media_type == APPLY_PATCH:
        body = await read_configuration(call.request)
    else:
        body = decode_json(await read_body(call.request))
    return Patch(media_type, body, call.target.version)


def _object(
    call: ResourceRequest, obj: Json, status: int = 200, warnings: list[str] | None = None
) -> web.Response:
    return _answer(call, call.view.object(obj), status, warnings)


def _answer(
    call: ResourceRequest, body: bytes, status: int = 200, warnings: list[str] | None = None
) -> web.Response:
    content_type = call.view.content_type
    if content_type == JSON and parameters.wants_pretty(call.query):
        body = indented(body)
    return answer(body, status, warnings or (), content_type)
