"""Connections for short requests: each is used for one request at a time and kept for the next.

A scheduler makes thousands of small requests, for which a general HTTP client takes several times longer than
the server does. What is long, or goes through a proxy, is left to one.

A kept connection may be dead without a word: a firewall has forgotten it, a proxy has lost its other half. If
a request on one stays without a byte of an answer for a while, a second connection is opened. If that works,
the silent one is given up, and with it all others that have been idle since before.
"""

import asyncio
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

from posse.client.cluster_access import ClusterAccess
from posse.client.http_responses import AnswerBroken, AnswerReader, HttpResponse

# A peer that is gone without a word is noticed after about half a minute.
KEEPALIVE = {socket.TCP_KEEPIDLE: 15, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}


@dataclass(frozen=True, slots=True)
class Patience:
    """In seconds: for a connection to open, for a whole answer, and for its first byte on a kept connection.

    A request that changes nothing is sent again on the second connection, and the first answer counts. Others
    are given up, and whether to repeat them is decided elsewhere: the server may just take its time with one.
    """

    connect: float = 5.0
    answer: float = 30.0
    read_silence: float = 2.0
    write_silence: float = 5.0


class SilentConnection(OSError):  # noqa: N818 - it names what happened
    def __init__(self) -> None:
        super().__init__("a kept connection is silent, although the server takes new ones")


class Wire(asyncio.Protocol):
    """One connection. Errors of `exchange`: OSError, AnswerBroken."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._reader = AnswerReader()
        self._waiting: asyncio.Future[HttpResponse] | None = None
        self.is_open = False
        self.heard_at = time.monotonic()

    @property
    def is_waiting(self) -> bool:
        return self._waiting is not None and not self._waiting.done()

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
        self.heard_at = time.monotonic()
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

    def give_up(self, instead: HttpResponse | SilentConnection) -> None:
        """End the connection; callers that wait for an answer get this one, or the error."""
        if self._waiting is not None and not self._waiting.done():
            if isinstance(instead, HttpResponse):
                self._waiting.set_result(instead)
            else:
                self._waiting.set_exception(instead)
        self.close()

    def close(self) -> None:
        self.is_open = False
        self._transport.abort()


Fence = Callable[[], None]
"""Raises what keeps a request from being sent now."""


def open_fence() -> None:
    pass


class Wires:
    """As many connections to one server as there are requests at once.

    `on_silence` is told since when a connection has been silent that turned out to be dead.
    """

    def __init__(
        self,
        access: ClusterAccess,
        patience: Patience,
        on_silence: Callable[[float], None] = lambda _since: None,
    ) -> None:
        address = urlsplit(access.server)
        self._host = address.hostname or ""
        self._port = address.port or (443 if access.tls else 80)
        self._access = access
        self._patience = patience
        self._on_silence = on_silence
        self._idle: list[Wire] = []
        self._busy: set[Wire] = set()
        self._is_closed = False

    async def exchange(
        self, request: bytes, fence: Fence = open_fence, *, changes_nothing: bool = False
    ) -> HttpResponse:
        """Errors: OSError, TimeoutError, AnswerBroken, and those of the fence."""
        async with asyncio.timeout(self._patience.answer):
            kept = self._take()
            wire = kept or await self._open()
            self._pass(fence, wire)
            self._busy.add(wire)
            try:
                if kept is None:
                    answer = await wire.exchange(request)
                else:
                    answer = await self._exchange_on_kept(wire, request, changes_nothing)
            finally:
                self._busy.discard(wire)
        self._keep(wire, answer)
        return answer

    async def _exchange_on_kept(self, wire: Wire, request: bytes, changes_nothing: bool) -> HttpResponse:
        doubt = _Doubt(self, wire, request if changes_nothing else b"")
        silence = self._patience.read_silence if changes_nothing else self._patience.write_silence
        timer = asyncio.get_running_loop().call_later(silence, doubt.begin)
        try:
            return await wire.exchange(request)
        finally:
            timer.cancel()
            doubt.end()

    def _keep(self, wire: Wire, answer: HttpResponse) -> None:
        if answer.is_last:
            wire.close()
        elif wire.is_open:
            self._set_idle(wire)

    def _set_idle(self, wire: Wire) -> None:
        if self._is_closed:
            wire.close()
        else:
            self._idle.append(wire)

    async def second(self, request: bytes) -> HttpResponse | SilentConnection:
        """Open another connection, whatever time it takes, and have its answer if there is a request."""
        while True:
            try:
                wire = await self._open()
                break
            except (OSError, TimeoutError):
                await asyncio.sleep(self._patience.read_silence)
        if not request:
            self._set_idle(wire)
            return SilentConnection()
        answer = await wire.exchange(request)
        self._keep(wire, answer)
        return answer

    def drop_silent(self, since: float) -> None:
        """Close what was not heard of since then, idle or not: it has probably met the same end."""
        silent = [wire for wire in self._idle if wire.heard_at < since]
        self._idle = [wire for wire in self._idle if wire.heard_at >= since]
        for wire in silent:
            wire.close()
        for wire in [wire for wire in self._busy if wire.is_waiting and wire.heard_at < since]:
            wire.give_up(SilentConnection())
        self._on_silence(since)

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
        async with asyncio.timeout(self._patience.connect):
            transport, wire = await loop.create_connection(
                Wire,
                self._host,
                self._port,
                ssl=self._access.tls,
                server_hostname=(self._access.tls_name or self._host) if self._access.tls else None,
            )
        keep_alive(transport.get_extra_info("socket"))
        return wire


class _Doubt:
    """Whether a silent connection is dead: asked of a second one, which races with it."""

    def __init__(self, wires: Wires, wire: Wire, request: bytes) -> None:
        self._wires = wires
        self._wire = wire
        self._request = request
        self._sent_at = time.monotonic()
        self._asking: asyncio.Task[None] | None = None

    def begin(self) -> None:
        if self._is_silent():
            self._asking = asyncio.ensure_future(self._ask())

    def end(self) -> None:
        if self._asking is not None:
            self._asking.cancel()

    async def _ask(self) -> None:
        try:
            instead = await self._wires.second(self._request)
        except (OSError, AnswerBroken):
            # The server is in trouble; the first connection has its time.
            return
        if self._is_silent():
            self._wire.give_up(instead)
            self._wires.drop_silent(self._sent_at)

    def _is_silent(self) -> bool:
        return self._wire.is_waiting and self._wire.heard_at < self._sent_at


def keep_alive(connected: socket.socket) -> None:
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEPALIVE.items():
        connected.setsockopt(socket.IPPROTO_TCP, option, value)
