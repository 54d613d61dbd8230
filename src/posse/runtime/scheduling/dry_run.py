"""A cluster that can be read but not changed: writes are logged, and count as successful."""

import logging
from collections.abc import AsyncIterator, Sequence

from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.kind import Json, Kind
from posse.kinds.registry import EVENT
from posse.transport.objects import Listing, Page, WatchEvent
from posse.transport.patches import Patch
from posse.transport.transport import PodBinding, Transport
from posse.writes.object_writes import ObjectDelete, ObjectPatch

log = logging.getLogger(__name__)


class DryRun:
    """Implements Transport."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Listing:
        return await self._transport.list(kind, namespace, labels=labels, fields=fields)

    def pages(self, kind: Kind, *, labels: str = "") -> AsyncIterator[Page]:
        return self._transport.pages(kind, labels=labels)

    def watch(
        self,
        kind: Kind,
        resource_version: str,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
    ) -> AsyncIterator[Sequence[WatchEvent]]:
        return self._transport.watch(kind, resource_version, namespace, labels=labels, fields=fields)

    async def get(self, kind: Kind, namespace: str, name: str) -> Json:
        return await self._transport.get(kind, namespace, name)

    async def create(self, kind: Kind, namespace: str, obj: Json) -> Json:
        if kind is not EVENT:
            log.info("would create %s %s/%s", kind.singular, namespace, obj["metadata"]["name"])
        return obj

    async def update(
        self, kind: Kind, namespace: str, name: str, obj: Json, *, subresource: str = ""
    ) -> Json:
        what = f"{subresource} of {kind.singular}" if subresource else kind.singular
        log.info("would update %s %s/%s", what, namespace, name)
        return obj

    async def patch(
        self, kind: Kind, namespace: str, name: str, patch: Patch, *, subresource: str = ""
    ) -> Json:
        log.info("would %s", ObjectPatch(kind, namespace, name, patch, subresource))
        return {}

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        grace_seconds: int | None = None,  # noqa: ARG002 - part of the seam
        uid: str = "",  # noqa: ARG002 - part of the seam
        propagation: str = "",  # noqa: ARG002 - part of the seam
    ) -> Json:
        log.info("would %s", ObjectDelete(kind, namespace, name))
        return {}

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        await self.bind_all([[PodBinding(namespace, name, uid, node)]])

    async def bind_all(self, groups: Sequence[Sequence[PodBinding]]) -> Sequence[Sequence[ApiError | None]]:
        for group in groups:
            for binding in group:
                log.info("would bind pod %s/%s to node %s", binding.namespace, binding.name, binding.node)
        return [[None] * len(group) for group in groups]
