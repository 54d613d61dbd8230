"""The controllers of a real cluster in a process of their own, apart from the scheduler and its permissions.

Of several, one leads, by a lease whose name is that of the scheduler's with an ending.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from posse.client.connection import Connection
from posse.client.http_connections import open_fence
from posse.client.http_transport import HttpTransport
from posse.client.write_priorities import Pace, RequestLimits
from posse.configuration.running import Running
from posse.runtime.process.background import Background
from posse.runtime.process.configuration import load_configuration
from posse.runtime.process.run_options import RunOptions
from posse.runtime.remote.joining import connected, is_elected, new_identity
from posse.runtime.remote.leadership import Leadership
from posse.runtime.remote.probes import Checks, build_probes
from posse.runtime.remote.remote_controllers import RemoteControllers
from posse.runtime.remote.remote_gauges import RemoteGauges
from posse.runtime.remote.serving import serve_pages

LEASE_ENDING = "-controllers"


class ControlProcess:
    """Errors of `run`: ConfigurationError, CredentialsError, PortInUse, OSError, BackgroundFailed."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._stop = asyncio.Event()
        self._leadership: Leadership | None = None
        self.url = ""

    def stop(self) -> None:
        self._stop.set()

    async def run(self, on_ready: Callable[[], None]) -> None:
        running = load_configuration(self._options.config, is_embedded=False).running
        async with AsyncExitStack() as parts:
            self._connection = await connected(self._options, running, parts)
            self._join(self._connection, running)
            listener = await serve_pages(
                lambda access: build_probes(self._alive, self._ready, self._metrics, self._settings, access),
                self._options,
                self._connection,
            )
            parts.push_async_callback(listener.close)
            self.url = listener.url
            on_ready()
            while not self._stop.is_set():
                await self._term()

    def _join(self, connection: Connection, running: Running) -> None:
        if is_elected(self._options, running):
            terms = replace(running.terms, name=running.terms.name + LEASE_ENDING)
            self._leadership = Leadership(HttpTransport(connection, RequestLimits()), terms, new_identity())
        fence = self._leadership.fence if self._leadership else open_fence
        limits = RequestLimits(self._options.writes_at_once, Pace(running.requests_per_second, running.burst))
        transport = HttpTransport(connection, limits, fence)
        self._controllers = RemoteControllers(connection, transport, self._options)
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(RemoteGauges(transport.watches, self._leadership))
        self._registry.register(self._controllers.counts)

    async def _term(self) -> None:
        """From waiting to lead until not leading any more, or being asked to stop."""
        background, may_begin = Background(), asyncio.Event()
        background.start("the controllers", self._controllers.run(may_begin))
        try:
            await self._first(background, self._lead(may_begin), self._stopped())
        finally:
            await background.stop()
            if self._leadership is not None:
                await self._leadership.release()

    async def _lead(self, may_begin: asyncio.Event) -> None:
        if self._leadership is None:
            may_begin.set()
            await self._stop.wait()
            return
        await self._leadership.acquire()
        may_begin.set()
        await self._leadership.keep()

    async def _stopped(self) -> None:
        await self._stop.wait()

    async def _first(self, background: Background, *works: Coroutine[Any, Any, None]) -> None:
        waits = [asyncio.ensure_future(work) for work in works]
        failing = asyncio.ensure_future(background.wait_failed())
        try:
            await asyncio.wait([failing, *waits], return_when=asyncio.FIRST_COMPLETED)
            if failing.done():
                raise failing.result()
        finally:
            for wait in (failing, *waits):
                wait.cancel()
            await asyncio.wait([failing, *waits])

    def _alive(self) -> Checks:
        return {"ping": ""}

    def _ready(self) -> Checks:
        return {"api-server": self._connection.trouble}

    async def _metrics(self, accept: str) -> tuple[bytes, str]:
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type

    def _settings(self) -> object:
        leadership = self._leadership
        return {
            "controllers": self._options.controllers,
            "form": self._options.form,
            "leader": leadership.holder if leadership else "",
            "identity": leadership.identity if leadership else "",
        }
