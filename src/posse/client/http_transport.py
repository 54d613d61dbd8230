"""Any Kubernetes API server, as a Transport.

Writes wait for their turn (`lanes`) and are repeated where that is safe (`repeating`). Before each one is
sent the fence is asked: a scheduler that is not in charge any more writes nothing, however long ago it
decided to.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

import msgspec

from posse.client.connection import JSON, Call, Connection
from posse.client.http_connections import Fence, open_fence
from posse.client.lists import gathered, raw_pages
from posse.client.paths import path_of
from posse.client.raw_objects import shown_items
from posse.client.reading import (
    Placed,
    WirePage,
    read,
    read_named,
    read_object,
    read_page,
    read_placed,
    unreadable,
)
from posse.client.repeating import GIVE_UP_SECONDS, repeated
from posse.client.served_versions import ServedVersions
from posse.client.watches import Watch, WatchHealth
from posse.client.write_priorities import Lane, Lanes, RequestLimits
from posse.kinds.machinery.conversion import to_storage
from posse.kinds.machinery.errors import (
    CONFLICT,
    FORBIDDEN,
    INVALID,
    NOT_FOUND,
    UNAUTHORIZED,
    ApiError,
    conflict,
)
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.machinery.patching import strategic_merge_patch
from posse.kinds.registry import EVENT, POD, RESOURCE_CLAIM
from posse.kinds.wire.appending import appended
from posse.kinds.wire.reading import PROTOBUF
from posse.kinds.wire.values import ProtobufError
from posse.transport.objects import Listing, Page, PageOf, Place, Versions, WatchEvent
from posse.transport.patches import STRATEGIC_MERGE_PATCH, Patch
from posse.transport.transport import PodBinding

T = TypeVar("T")

UNSUPPORTED_MEDIA_TYPE = 415
_ONLY_METADATA = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON}"
_ATTEMPTS_TO_FIND = 2
_ATTEMPTS_TO_REPLACE = 5
_HIDING = frozenset({UNAUTHORIZED, FORBIDDEN})
"""A server that has just started also says so, for seconds."""
LOOK_SECONDS = 10.0


class HttpTransport:
    """Implements Transport."""

    def __init__(self, connection: Connection, limits: RequestLimits, fence: Fence = open_fence) -> None:
        self._connection = connection
        self._lanes = Lanes(limits)
        self._fence = fence
        self._versions = ServedVersions(connection)
        self._without_strategic_patches: set[Kind] = set()
        self.watches: dict[Kind, WatchHealth] = {}

    async def list(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Listing:
        """ApiError 404: the cluster does not serve the kind; a missing path is no proof of that."""
        return Listing(*await gathered(self._pages(kind, namespace, _selection(labels, fields))))

    def pages(self, kind: Kind, *, labels: str = "") -> AsyncIterator[Page]:
        return self._pages(kind, None, _selection(labels, ""))

    async def _pages(
        self, kind: Kind, namespace: str | None, selection: dict[str, str]
    ) -> AsyncIterator[Page]:
        for _ in range(_ATTEMPTS_TO_FIND):
            version = await self._versions.of(kind)
            try:
                async for page in raw_pages(
                    Call("GET", path_of(kind, version, namespace), selection), self._page
                ):
                    yield Page(shown_items(kind, version, page.items), page.resource_version, page.is_first)
            except ApiError as error:
                if error.code != NOT_FOUND:
                    raise
                # The server was upgraded to another version, or a proxy before it finds nothing for a while.
                self._versions.doubt()
            else:
                return
        raise unreadable(f"it offers {kind.group_resource}, but finds no list of them")

    async def versions(self, kind: Kind) -> Versions:
        """What there is, without what it says: as fresh as a list, and a fraction of it."""
        path = path_of(kind, await self._versions.of(kind), None)
        pages = raw_pages(Call("GET", path, accept=_ONLY_METADATA), self._page)
        found, resource_version = await gathered(_with_names(page) async for page in pages)
        return Versions(dict(found), resource_version)

    async def watch(
        self,
        kind: Kind,
        resource_version: str,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
    ) -> AsyncIterator[Sequence[WatchEvent]]:
        try:
            version = await self._versions.of(kind)
            path = path_of(kind, version, namespace)
            health = self.watches.setdefault(kind, WatchHealth())
            watch = Watch(kind, version, path, _selection(labels, fields), resource_version)
            async for batch in watch.batches(self._connection, health):
                yield batch
        except ApiError as error:
            if error.code == NOT_FOUND:
                # No caller waits for the watch of a kind that was removed.
                self.watches.pop(kind, None)
            raise

    async def get(self, kind: Kind, namespace: str, name: str) -> Json:
        return await self._ask_for(kind, namespace, name)

    async def create(self, kind: Kind, namespace: str, obj: Json) -> Json:
        version = await self._versions.of(kind)
        path = path_of(kind, version, namespace)
        body = _spoken(kind, version, obj) | {"apiVersion": kind.api_version_of(version), "kind": kind.name}
        return await self._write(kind, Call("POST", path, None, _encoded(body)))

    async def update(
        self, kind: Kind, namespace: str, name: str, obj: Json, *, subresource: str = ""
    ) -> Json:
        version = await self._versions.of(kind)
        path = path_of(kind, version, namespace, name, subresource)
        body = _spoken(kind, version, obj) | {"apiVersion": kind.api_version_of(version), "kind": kind.name}
        return await self._write(kind, Call("PUT", path, None, _encoded(body)))

    async def patch(
        self, kind: Kind, namespace: str, name: str, patch: Patch, *, subresource: str = ""
    ) -> Json:
        if patch.media_type == STRATEGIC_MERGE_PATCH and kind in self._without_strategic_patches:
            return await self._merge(kind, namespace, name, patch.body, subresource)
        version = await self._versions.of(kind)
        path = path_of(kind, version, namespace, name, subresource)
        body = _encoded(_spoken(kind, version, patch.body))
        try:
            return await self._write(kind, Call("PATCH", path, None, body, patch.media_type))
        except ApiError as error:
            if error.code == INVALID and kind is RESOURCE_CLAIM:
                return await self._append(path, patch.body, error)
            if error.code != UNSUPPORTED_MEDIA_TYPE or patch.media_type != STRATEGIC_MERGE_PATCH:
                raise
            self._without_strategic_patches.add(kind)
        return await self._merge(kind, namespace, name, patch.body, subresource)

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        grace_seconds: int | None = None,
        uid: str = "",
        propagation: str = "",
    ) -> Json:
        options: Json = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if uid:
            options["preconditions"] = {"uid": uid}
        if propagation:
            options["propagationPolicy"] = propagation
        version = await self._versions.of(kind)
        path = path_of(kind, version, namespace, name)
        return await self._write(kind, Call("DELETE", path, None, _encoded(options)), Lane.BINDING)

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        refusal = await self._bind(PodBinding(namespace, name, uid, node))
        if refusal:
            raise refusal

    async def bind_all(self, groups: Sequence[Sequence[PodBinding]]) -> Sequence[Sequence[ApiError | None]]:
        """API servers bind pods one by one; all requests are sent together, each with its own answer."""
        answers = iter(await asyncio.gather(*(self._bind(binding) for group in groups for binding in group)))
        return [[next(answers) for _ in group] for group in groups]

    async def _bind(self, binding: PodBinding) -> ApiError | None:
        path = path_of(POD, "v1", binding.namespace, binding.name, "binding")
        call = Call("POST", path, None, _encoded(_binding_body(binding)))
        try:
            await self._send(call, Lane.BINDING)
        except ApiError as error:
            # An earlier attempt may have succeeded although its answer was lost.
            return None if error.code != NOT_FOUND and await self._is_bound(binding) else error
        return None

    async def _is_bound(self, binding: PodBinding) -> bool:
        """Ask until the server answers: the capacity must not be given to other pods on a guess.

        One that does not let us look is given some time, and then taken for one that refused the binding too.
        """
        call = Call("GET", path_of(POD, "v1", binding.namespace, binding.name))

        async def ask() -> Placed:
            return await self._read(call, read_placed, math.inf)

        try:
            pod = await repeated(ask, LOOK_SECONDS, _HIDING)
        except ApiError:
            return False
        return pod.metadata.uid == binding.uid and pod.spec.node_name == binding.node

    async def _page(self, call: Call) -> WirePage:
        return await self._read(call, read_page)

    async def _ask_for(self, kind: Kind, namespace: str, name: str) -> Json:
        version = await self._versions.of(kind)
        call = Call("GET", path_of(kind, version, namespace, name))
        return to_storage(kind, await self._read(call, read_object))

    async def _read(
        self, call: Call, decode: Callable[[bytes], T], give_up_seconds: float = GIVE_UP_SECONDS
    ) -> T:
        async def ask() -> T:
            return read(await self._connection.ask(call), decode)

        return await repeated(ask, give_up_seconds)

    async def _merge(self, kind: Kind, namespace: str, name: str, body: Json, subresource: str) -> Json:
        """For custom resources, whose lists no API server merges by key: merged here, checked there."""
        uid = body.get("metadata", {}).get("uid")
        for attempt in range(_ATTEMPTS_TO_REPLACE):
            current = await self._ask_for(kind, namespace, name)
            if uid and current["metadata"]["uid"] != uid:
                raise conflict(kind, name)
            merged = strategic_merge_patch(kind.struct, current, body)
            try:
                return await self.update(kind, namespace, name, merged, subresource=subresource)
            except ApiError as error:
                if error.code != CONFLICT or attempt == _ATTEMPTS_TO_REPLACE - 1:
                    raise
        raise conflict(kind, name)

    async def _append(self, path: str, body: Json, refusal: ApiError) -> Json:
        """For claims whose opaque parameters no patch leaves as they are: items are added in protobuf.

        Raise the refusal if the patch does anything else, or is for another object.
        """
        for attempt in range(_ATTEMPTS_TO_REPLACE):
            stored = await self._read(Call("GET", path, accept=PROTOBUF), bytes)
            try:
                added = appended(stored, body)
            except ProtobufError:
                raise refusal from None
            if added is None:
                raise refusal
            try:
                return await self._send(Call("PUT", path, None, added, PROTOBUF), Lane.STATUS)
            except ApiError as error:
                if error.code != CONFLICT or attempt == _ATTEMPTS_TO_REPLACE - 1:
                    raise
        raise refusal

    async def _write(self, kind: Kind, call: Call, lane: Lane = Lane.STATUS) -> Json:
        return await self._send(call, Lane.EVENT if kind is EVENT else lane)

    async def _send(self, call: Call, lane: Lane) -> Json:
        """Events are for people, and the first to be given up when a server is in trouble."""
        if lane is Lane.EVENT:
            return await self._send_once(call, lane)
        return await repeated(lambda: self._send_once(call, lane))

    async def _send_once(self, call: Call, lane: Lane) -> Json:
        async with self._lanes.turn(lane):
            return read(await self._connection.ask(call, self._fence), read_object)


def _with_names(page: PageOf[msgspec.Raw]) -> PageOf[tuple[Place, str]]:
    """Where each object of the page is, and its version."""
    named = [read(bytes(item), read_named).metadata for item in page.items]
    places = [((one.namespace, one.name), one.resource_version) for one in named]
    return PageOf(places, page.resource_version, page.is_first)


def _selection(labels: str, fields: str) -> dict[str, str]:
    selectors = {"labelSelector": labels, "fieldSelector": fields}
    return {name: selector for name, selector in selectors.items() if selector}


def _spoken(kind: Kind, version: str, obj: Any) -> Any:
    """What we write about an object, or the whole of it, in the words of another version."""
    dialect = kind.dialects.get(version)
    return obj if dialect is None else dialect.outgoing(obj)


def _binding_body(binding: PodBinding) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": binding.name, "namespace": binding.namespace, "uid": binding.uid},
        "target": {"apiVersion": "v1", "kind": "Node", "name": binding.node},
    }


_encoded = msgspec.json.Encoder().encode
