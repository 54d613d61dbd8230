"""The embedded cluster reached without HTTP: calls on the API service, answered once they are durable."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import msgspec

from posse.apiserver.committer import Committer
from posse.apiserver.requests import DeleteOptions, Selection, WriteOptions
from posse.apiserver.service import ApiService
from posse.apiserver.time_slices import TimeSlices
from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.kind import Json, Kind
from posse.transport.objects import Listing, Page, ShownJson, WatchEvent
from posse.transport.patches import Patch
from posse.transport.transport import PodBinding

_GATHER_SECONDS = 0.05
_MAX_EVENTS_AT_ONCE = 10
"""Shown to a watcher in one go; some twenty controllers look at each."""


class LocalTransport:
    """Implements Transport. Like a network it never keeps what it is given: bodies are copied."""

    def __init__(self, service: ApiService, committer: Committer, slices: TimeSlices | None = None) -> None:
        self._service = service
        self._committer = committer
        self._slices = slices or TimeSlices()
        # What is shown does not wait for what is written: it may be what the writer needs to know.
        self._shows, self._writes = self._slices.lane(), self._slices.lane()

    def beside(self) -> "LocalTransport":
        """For another part of the process, which takes turns with this one."""
        return LocalTransport(self._service, self._committer, self._slices)

    async def list(
        self, kind: Kind, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Listing:
        listing = self._service.list(kind, namespace, Selection(labels, fields))
        await self._committer.durable()
        return Listing([ShownJson(stored.obj) for stored in listing.stored], listing.resource_version)

    async def pages(self, kind: Kind, *, labels: str = "") -> AsyncIterator[Page]:
        listing = await self.list(kind, labels=labels)
        yield Page(listing.shown, listing.resource_version)

    async def watch(
        self,
        kind: Kind,
        resource_version: str,
        namespace: str | None = None,
        *,
        labels: str = "",
        fields: str = "",
    ) -> AsyncIterator[Sequence[WatchEvent]]:
        selection = Selection(labels, fields)
        subscription = self._service.watch(kind, namespace, selection, int(resource_version or 0))
        ready = asyncio.Event()
        subscription.on_ready(ready.set)
        try:
            await self._committer.durable()
            while True:
                await ready.wait()
                if self._slices.are_behind:
                    # Events that come singly cost their reader more than those that come together.
                    await asyncio.sleep(_GATHER_SECONDS)
                ready.clear()
                events = subscription.drain()
                for start in range(0, len(events), _MAX_EVENTS_AT_ONCE):
                    await self._shows.turn()
                    part = events[start : start + _MAX_EVENTS_AT_ONCE]
                    yield [WatchEvent(event.type, ShownJson(event.obj)) for event in part]
        finally:
            subscription.close()

    async def get(self, kind: Kind, namespace: str, name: str) -> Json:
        try:
            found = self._service.get(kind, namespace, name)
        except ApiError:
            await self._committer.durable()
            raise
        await self._committer.durable(found)
        return found

    async def create(self, kind: Kind, namespace: str, obj: Json) -> Json:
        await self._writes.turn()
        created = self._service.create(kind, namespace, _copy(obj), _unquestioned())
        await self._committer.durable()
        return created

    async def update(
        self, kind: Kind, namespace: str, name: str, obj: Json, *, subresource: str = ""
    ) -> Json:
        await self._writes.turn()
        if subresource == "finalize":
            updated = self._service.finalize_namespace(name, _copy(obj))
        else:
            updated = self._service.update(
                kind, namespace, name, _copy(obj), subresource=subresource, options=_unquestioned()
            )
        await self._committer.durable()
        return updated

    async def patch(
        self, kind: Kind, namespace: str, name: str, patch: Patch, *, subresource: str = ""
    ) -> Json:
        await self._writes.turn()
        patched = self._service.patch(
            kind, namespace, name, patch, subresource=subresource, options=_unquestioned()
        )
        await self._committer.durable()
        return patched

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
        options = DeleteOptions(grace_seconds, uid, propagation=propagation)
        await self._writes.turn()
        deleted = self._service.delete(kind, namespace, name, options)
        await self._committer.durable()
        return deleted

    async def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        ((refusal,),) = await self.bind_all([[PodBinding(namespace, name, uid, node)]])
        if refusal:
            raise refusal

    async def bind_all(self, groups: Sequence[Sequence[PodBinding]]) -> Sequence[Sequence[ApiError | None]]:
        answers = []
        for group in groups:
            await self._writes.turn()
            bodies = [_body(binding) for binding in group]
            answers.append(self._service.bind_together(group[0].namespace, bodies))
        await self._committer.durable()
        return answers


def _body(binding: PodBinding) -> Json:
    return {
        "metadata": {"name": binding.name, "namespace": binding.namespace, "uid": binding.uid},
        "target": {"kind": "Node", "name": binding.node},
    }


def _unquestioned() -> WriteOptions:
    """Our own writes are not searched for misspelt fields: no user would read the warnings."""
    return WriteOptions(field_validation="Ignore")


def _copy(obj: Json) -> Json:
    copied: Json = msgspec.json.decode(msgspec.json.encode(obj))
    return copied
