"""Runs the controllers of the embedded cluster: what they observe goes in, what they want changed is written."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from posse.controllers.composite_protection import CompositeProtection
from posse.controllers.event_expiry import EventExpiry
from posse.controllers.namespace_deletion import DeleteObject, LetGo, Step, is_terminating, next_steps
from posse.controllers.podgroup_protection import PodGroupProtection, Release
from posse.kinds.machinery.errors import CONFLICT, NOT_FOUND, ApiError
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import COMPOSITE_POD_GROUP, EVENT, KINDS, NAMESPACE, POD, POD_GROUP
from posse.runtime.process.error_isolation import skipping
from posse.runtime.watching.informers import Follower, Json, attend
from posse.transport.patches import MERGE_PATCH, Patch
from posse.transport.transport import Transport

log = logging.getLogger(__name__)

NAMESPACED_KINDS = tuple(kind for kind in KINDS if kind.namespaced and kind.stored is kind)
# How often a namespace on its way out is looked at; what is left in it may take its time to end.
EMPTYING_SECONDS = 0.3
EVENT_SWEEP_SECONDS = 60.0
# Enough for one group commit to be worth its while, little enough to stay responsive in between.
EVENTS_DELETED_TOGETHER = 300


class Controllers:
    def __init__(self, transport: Transport, clock: Callable[[], float]) -> None:
        self._transport = transport
        self._clock = clock
        self._protection = PodGroupProtection()
        self._composite_protection = CompositeProtection()
        self._protection_changed = asyncio.Event()
        self._terminating: dict[str, Json] = {}
        self._namespaces_changed = asyncio.Event()
        self._expiry = EventExpiry()
        self._followers = (
            Follower(transport, POD, self._see_pod, self._lose_pod),
            Follower(transport, POD_GROUP, self._see_group, self._lose_group),
            Follower(transport, COMPOSITE_POD_GROUP, self._see_composite, self._lose_composite),
            Follower(transport, NAMESPACE, self._see_namespace, self._lose_namespace),
            Follower(transport, EVENT, self._expiry.see, self._expiry.lose),
        )

    async def run(self) -> None:
        """Control until cancelled. Nothing is concluded before everything that exists has been seen."""
        await attend(self._followers, self._release_groups, self._empty_namespaces, self._sweep_events)

    # PodGroup protection

    def _see_pod(self, pod: Json) -> None:
        self._protection.see_pod(pod)
        self._protection_changed.set()

    def _lose_pod(self, pod: Json) -> None:
        self._protection.lose_pod(pod["metadata"]["namespace"], pod["metadata"]["name"])
        self._protection_changed.set()

    def _see_group(self, group: Json) -> None:
        self._protection.see_group(group)
        self._composite_protection.see(POD_GROUP, group)
        self._protection_changed.set()

    def _lose_group(self, group: Json) -> None:
        self._protection.lose_group(group["metadata"]["namespace"], group["metadata"]["name"])
        self._composite_protection.lose(POD_GROUP, group)
        self._protection_changed.set()

    def _see_composite(self, group: Json) -> None:
        self._composite_protection.see(COMPOSITE_POD_GROUP, group)
        self._protection_changed.set()

    def _lose_composite(self, group: Json) -> None:
        self._composite_protection.lose(COMPOSITE_POD_GROUP, group)
        self._protection_changed.set()

    async def _release_groups(self) -> None:
        while True:
            await self._protection_changed.wait()
            self._protection_changed.clear()
            releases = [(POD_GROUP, release) for release in self._protection.releases()]
            releases += [(COMPOSITE_POD_GROUP, release) for release in self._composite_protection.releases()]
            await asyncio.gather(*(self._release(kind, release) for kind, release in releases))

    async def _release(self, kind: Kind, release: Release) -> None:
        place = release.namespace, release.name
        write = self._transport.patch(kind, *place, Patch(MERGE_PATCH, release.patch))
        await attempt(write, kind, *place)

    # Namespace deletion

    def _see_namespace(self, namespace: Json) -> None:
        if is_terminating(namespace):
            self._terminating[namespace["metadata"]["name"]] = namespace
            self._namespaces_changed.set()

    def _lose_namespace(self, namespace: Json) -> None:
        self._terminating.pop(namespace["metadata"]["name"], None)

    async def _empty_namespaces(self) -> None:
        while True:
            await self._namespaces_changed.wait()
            self._namespaces_changed.clear()
            while self._terminating:
                for name in list(self._terminating):
                    await attempt(self._empty(name), NAMESPACE, name)
                await asyncio.sleep(EMPTYING_SECONDS)

    async def _empty(self, name: str) -> None:
        contents: list[tuple[Kind, Json]] = []
        for kind in NAMESPACED_KINDS:
            listing = await self._transport.list(kind, name)
            contents.extend((kind, obj) for obj in listing.items)
        namespace = self._terminating.get(name)
        if namespace is not None:
            steps = next_steps(namespace, contents)
            await asyncio.gather(*(self._take(step, name) for step in steps))

    async def _take(self, step: Step, namespace: str) -> None:
        match step:
            case DeleteObject(kind, name, uid):
                await attempt(self._transport.delete(kind, namespace, name, uid=uid), kind, namespace, name)
            case LetGo(body):
                write = self._transport.update(NAMESPACE, "", namespace, body, subresource="finalize")
                await attempt(write, NAMESPACE, namespace)

    # Event expiry

    async def _sweep_events(self) -> None:
        while True:
            while names := self._expiry.expired(self._clock(), EVENTS_DELETED_TOGETHER):
                deletions = (attempt(self._transport.delete(EVENT, *name), EVENT, *name) for name in names)
                await asyncio.gather(*deletions)
            await asyncio.sleep(EVENT_SWEEP_SECONDS)


async def attempt(step: Awaitable[object], kind: Kind, *place: str) -> None:
    """Take a step; the object it is about may have changed or gone, which shows by itself."""
    with skipping(kind.name, *place):
        try:
            await step
        except ApiError as error:
            if error.code not in {NOT_FOUND, CONFLICT}:
                log.warning("a controller's step was refused: %s", error)
