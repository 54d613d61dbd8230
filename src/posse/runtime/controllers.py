"""Runs the controllers of the embedded cluster: what they observe goes in, what they want changed is written."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from posse.apiserver.patches import MERGE_PATCH
from posse.apiserver.requests import Patch
from posse.apiserver.transport import Transport
from posse.controllers.event_expiry import expired_events
from posse.controllers.namespace_deletion import DeleteObject, LetGo, Step, is_terminating, next_steps
from posse.controllers.podgroup_protection import PodGroupProtection, Release
from posse.kinds.errors import ApiError
from posse.kinds.kind import Kind
from posse.kinds.registry import EVENT, KINDS, NAMESPACE, POD, POD_GROUP
from posse.runtime.following import Follower, Json

log = logging.getLogger(__name__)

NAMESPACED_KINDS = tuple(kind for kind in KINDS if kind.namespaced and kind.stored is kind)
# How often a namespace on its way out is looked at; what is left in it may take its time to end.
EMPTYING_SECONDS = 0.3
EVENT_SWEEP_SECONDS = 60.0
MOST_EVENTS_PER_SWEEP = 2000
NOT_FOUND = 404
CONFLICT = 409


class Controllers:
    def __init__(self, transport: Transport, clock: Callable[[], float]) -> None:
        self._transport = transport
        self._clock = clock
        self._protection = PodGroupProtection()
        self._protection_changed = asyncio.Event()
        self._terminating: dict[str, Json] = {}
        self._namespaces_changed = asyncio.Event()
        self._followers = (
            Follower(transport, POD, self._see_pod, self._lose_pod),
            Follower(transport, POD_GROUP, self._see_group, self._lose_group),
            Follower(transport, NAMESPACE, self._see_namespace, self._lose_namespace),
        )

    async def run(self) -> None:
        """Control until cancelled. Nothing is concluded before everything that exists has been seen."""
        for follower in self._followers:
            await follower.sync()
        async with asyncio.TaskGroup() as tasks:
            for follower in self._followers:
                tasks.create_task(follower.follow())
            tasks.create_task(self._release_groups())
            tasks.create_task(self._empty_namespaces())
            tasks.create_task(self._sweep_events())

    # PodGroup protection

    def _see_pod(self, pod: Json) -> None:
        self._protection.see_pod(pod)
        self._protection_changed.set()

    def _lose_pod(self, pod: Json) -> None:
        self._protection.lose_pod(pod["metadata"]["namespace"], pod["metadata"]["name"])
        self._protection_changed.set()

    def _see_group(self, group: Json) -> None:
        self._protection.see_group(group)
        self._protection_changed.set()

    def _lose_group(self, group: Json) -> None:
        self._protection.lose_group(group["metadata"]["namespace"], group["metadata"]["name"])

    async def _release_groups(self) -> None:
        while True:
            await self._protection_changed.wait()
            self._protection_changed.clear()
            releases = self._protection.releases()
            await asyncio.gather(*(attempt(self._release(release)) for release in releases))

    async def _release(self, release: Release) -> None:
        patch = Patch(MERGE_PATCH, release.patch)
        await self._transport.patch(POD_GROUP, release.namespace, release.name, patch)

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
                    await self._empty(name)
                await asyncio.sleep(EMPTYING_SECONDS)

    async def _empty(self, name: str) -> None:
        contents: list[tuple[Kind, Json]] = []
        for kind in NAMESPACED_KINDS:
            listing = await self._transport.list(kind, name)
            contents.extend((kind, obj) for obj in listing.items)
        namespace = self._terminating.get(name)
        if namespace is not None:
            steps = next_steps(namespace, contents)
            await asyncio.gather(*(attempt(self._take(step, name)) for step in steps))

    async def _take(self, step: Step, namespace: str) -> None:
        match step:
            case DeleteObject(kind, name, uid):
                await self._transport.delete(kind, namespace, name, uid=uid)
            case LetGo(body):
                await self._transport.update(NAMESPACE, "", namespace, body, subresource="finalize")

    # Event expiry

    async def _sweep_events(self) -> None:
        while True:
            events = (await self._transport.list(EVENT)).items
            for event in expired_events(events, self._clock(), MOST_EVENTS_PER_SWEEP):
                metadata = event["metadata"]
                deletion = self._transport.delete(EVENT, metadata["namespace"], metadata["name"])
                await attempt(deletion)
            await asyncio.sleep(EVENT_SWEEP_SECONDS)


async def attempt(write: Awaitable[object]) -> None:
    """Carry out a write; what it was about may have changed or gone, which shows by itself."""
    try:
        await write
    except ApiError as error:
        if error.code not in {NOT_FOUND, CONFLICT}:
            log.warning("a controller's write was refused: %s", error)
