"""Runs the volume controller of the embedded cluster: claims and volumes seen go in, bindings are written."""

import asyncio

from posse.controllers.volume_binding import VolumeBinder, VolumePatch
from posse.engine.events import StorageObject
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS
from posse.model.volume import PersistentVolume, PersistentVolumeClaim, StorageClass
from posse.runtime.control.controllers import attempt
from posse.runtime.watching.informers import StructFollower, attend
from posse.transport.patches import MERGE_PATCH, Patch
from posse.transport.transport import Transport


class VolumeControl:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._binder = VolumeBinder()
        self._changed = asyncio.Event()
        self._followers = (
            self._follower(STORAGE_CLASS, StorageClass),
            self._follower(PERSISTENT_VOLUME, PersistentVolume),
            self._follower(PERSISTENT_VOLUME_CLAIM, PersistentVolumeClaim),
        )

    async def run(self) -> None:
        """Control until cancelled. Nothing is concluded before everything that exists has been seen."""
        await attend(self._followers, self._bind)

    async def _bind(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            writes = self._binder.writes()
            await asyncio.gather(*(attempt(self._write(w), w.kind, w.namespace, w.name) for w in writes))

    async def _write(self, write: VolumePatch) -> None:
        patch = Patch(MERGE_PATCH, write.patch)
        await self._transport.patch(
            write.kind, write.namespace, write.name, patch, subresource=write.subresource
        )

    def _follower(self, kind: Kind, struct: type[StorageObject]) -> StructFollower[StorageObject]:
        def on_seen(obj: StorageObject) -> None:
            self._binder.see(obj)
            self._changed.set()

        def on_gone(obj: StorageObject) -> None:
            self._binder.lose(obj)
            self._changed.set()

        return StructFollower(self._transport, kind, on_seen, on_gone, struct)
