"""A running cluster in memory: listed once and then watched, so that open pages cost it nothing."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import aiohttp

from posse.cli.reading.owners import CONTROLLERS
from posse.cli.reading.snapshot_file import SnapshotSource, new_header
from posse.client.connection import Call, Connection
from posse.client.http_transport import HttpTransport
from posse.client.paths import path_of
from posse.client.write_priorities import RequestLimits
from posse.configuration.running import LeaseTerms
from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.kind import Kind
from posse.kinds.registry import EVENT, LEASE
from posse.runtime.process.clock import steady_clock
from posse.runtime.process.settings import SETTINGS_PATH, is_settings, settings_on
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS
from posse.runtime.watching.informers import Follower, attend
from posse.transport.objects import Place

Json = dict[str, Any]

METRICS = "/metrics"


class LiveCluster:
    def __init__(self, connection: Connection, default_namespace: str, metrics_url: str = "") -> None:
        self.connection = connection
        self._namespace = default_namespace
        self._metrics_url = metrics_url
        self._transport = HttpTransport(connection, RequestLimits())
        self._objects: dict[str, dict[Place, Json]] = {}
        self._settings: list[Json] = []
        self._clock = steady_clock()
        self._followers = [self._follower(kind) for kind in shown_kinds()]
        self.changed = asyncio.Event()
        """Set when an object was created, changed or deleted."""

    async def run(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Follow the cluster for ever; the work starts when everything is listed."""
        self._settings = [found for found in await self._published_settings() if is_settings(found)]
        await attend(self._followers, work)

    def snapshot(self) -> SnapshotSource:
        served = [one.kind for one in self._followers if one.is_served]
        header = new_header(self._namespace, self._clock(), served, self._settings)
        return SnapshotSource(
            header, {name: list(objects.values()) for name, objects in self._objects.items()}
        )

    async def events(self, namespace: str) -> list[Json]:
        """Kubernetes events, which are not followed because there are many; none if they are not readable."""
        try:
            listing = await self._transport.list(EVENT, namespace)
        except ApiError:
            return []
        return [shown.obj for shown in listing.shown]

    async def metrics(self) -> str:
        """What the scheduler tells Prometheus, at the address given or else at that of the cluster.

        An embedded cluster has it there. Empty: it cannot be read.
        """
        try:
            if not self._metrics_url:
                return (await self.connection.ask(Call("GET", METRICS, accept="text/plain"))).decode()
            async with aiohttp.ClientSession() as session, session.get(self._metrics_url) as answer:
                return await answer.text()
        except (ApiError, aiohttp.ClientError, TimeoutError):
            return ""

    async def _published_settings(self) -> list[object]:
        """An embedded cluster has a page for them, and `posse run` writes them on its lease."""
        terms = LeaseTerms()
        lease_path = path_of(LEASE, LEASE.versions[0], terms.namespace, terms.name)
        found: list[object] = []
        for path in (SETTINGS_PATH, lease_path):
            try:
                answer = json.loads(await self.connection.ask(Call("GET", path)))
            except (ApiError, ValueError):
                continue
            found.append(settings_on(answer) if path == lease_path else answer)
        return found

    def _follower(self, kind: Kind) -> Follower:
        objects = self._objects.setdefault(kind.group_resource, {})
        return Follower(
            self._transport, kind, partial(self._see, objects), partial(self._lose, objects), is_optional=True
        )

    def _see(self, objects: dict[Place, Json], obj: Json) -> None:
        objects[_place(obj)] = obj
        self.changed.set()

    def _lose(self, objects: dict[Place, Json], obj: Json) -> None:
        objects.pop(_place(obj), None)
        self.changed.set()


def shown_kinds() -> list[Kind]:
    return list(dict.fromkeys([*CONTROLLERS, *(kind for kind, _ in FOLLOWED_KINDS)]))


def _place(obj: Json) -> Place:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
