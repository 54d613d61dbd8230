"""Connections for short requests: each is used for one request at a time and kept for the next.

A scheduler makes thousands of small requests, for which a general HTTP client takes several times longer than
the server does. What is long, or goes through a proxy, is left to one.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import cast
from urllib.parse import urlsplit

from posse.client.credentials import ClusterAccess
from posse.client.http_responses import AnswerBroken, AnswerReader, HttpResponse

# A peer that is gone without a word is noticed after about half a minute.
KEEPALIVE = {socket.TCP_KEEPIDLE: 15, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}


class Wire(asyncio.Protocol):
    """One connection. Errors of `exchange`: OSError, AnswerBroken."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._reader = AnswerReader()
        self._waiting: asyncio.Future[HttpResponse] | None = None
        self.is_open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        if self._waiting is not None and not self._waiting.done():
            try:
                self._waiting.set_result(self._reader.end())
            except AnswerBroken as error:
                self._waiting.set_exception(exc or error)

    def data_received(self, data: bytes) -> None:
        if self._waiting is None or self._waiting.done():
            # Unrequested data: what follows on this connection could be taken for another answer.
            self.close()
            return
        try:
            answer = self._reader.feed(data)
        except AnswerBroken as error:
            self._waiting.set_exception(error)
            self.close()
            return
        if answer is not None:
            self._waiting.set_result(answer)

    async def exchange(self, request: bytes) -> HttpResponse:
        self._reader = AnswerReader()
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        try:
            return await self._waiting
        except asyncio.CancelledError:
            # The answer may still come, and must not be taken for that of the next request.
            self.close()
            raise
        finally:
            self._waiting = None

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()


Fence = Callable[[], None]
"""Raises what keeps a request from being sent now."""


def open_fence() -> None:
    pass


class Wires:
    """As many connections to one server as there are requests at once."""

    def __init__(self, access: ClusterAccess, connect_seconds: float, answer_seconds: float) -> None:
        address = urlsplit(access.server)
        self._host = address.hostname or ""
        self._port = address.port or (443 if access.tls else 80)
        self._access = access
        self._connect_seconds = connect_seconds
        self._answer_seconds = answer_seconds
        self._idle: list[Wire] = []
        self._is_closed = False

    async def exchange(self, request: bytes, fence: Fence = open_fence) -> HttpResponse:
        """Errors: OSError, TimeoutError, AnswerBroken, and those of the fence."""
        async with asyncio.timeout(self._answer_seconds):
            wire = self._take() or await self._open()
            self._pass(fence, wire)
            answer = await wire.exchange(request)
        if answer.is_last or self._is_closed:
            wire.close()
        elif wire.is_open:
            self._idle.append(wire)
        return answer

    def _pass(self, fence: Fence, wire: Wire) -> None:
        """At the last moment: opening a connection takes time."""
        try:
            fence()
        except BaseException:
            self._idle.append(wire)
            raise

    def close(self) -> None:
        """What is under way goes on, and its connection is closed afterwards."""
        self._is_closed = True
        for wire in self._idle:
            wire.close()
        self._idle.clear()

    def _take(self) -> Wire | None:
        while self._idle:
            wire = self._idle.pop()
            if wire.is_open:
                return wire
        return None

    async def _open(self) -> Wire:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._connect_seconds):
            transport, wire = await loop.create_connection(
                Wire,
                self._host,
                self._port,
                ssl=self._access.tls,
                server_hostname=(self._access.tls_name or self._host) if self._access.tls else None,
            )
        keep_alive(transport.get_extra_info("socket"))
        return wire


def keep_alive(connected: socket.socket) -> None:
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEPALIVE.items():
        connected.setsockopt(socket.IPPROTO_TCP, option, value)
