"""Puts an application on a port and takes it off again.

Runs on whatever event loop is current; the process is expected to use uvloop, whose TLS is several times
faster.
"""

import asyncio
import errno
import logging
import resource
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

# Long enough for any client that polls; far below the point where a forgotten connection would matter.
KEEP_ALIVE_SECONDS = 300.0
SHUTDOWN_SECONDS = 3.0
GOODBYE_SECONDS = 0.02
# Selectors travel in the request line, and a selector over many names is long.
REQUEST_LINE_BYTES = 64 * 1024


AUTHENTICATED: web.AppKey[set[web.RequestHandler]] = web.AppKey("authenticated", set)
"""Connections over which a request with a valid token has come."""
# Within this time a connection must have sent a request with a valid token.
ANONYMOUS_SECONDS = 10.0
SWEEP_SECONDS = 2.0


class PortInUse(Exception):  # noqa: N818 - it names what happened
    """Another process listens on the port already."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(
            f"{host}:{port} is already in use. Stop the process that listens there (perhaps another Posse), "
            "or choose another port with --port; --port 0 takes any free one."
        )
        self.host = host
        self.port = port


@dataclass(frozen=True, slots=True)
class Listener:
    """A server that accepts connections until it is closed."""

    host: str
    port: int
    scheme: str
    _runner: web.AppRunner
    _sweeping: asyncio.Task[None] | None

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    async def close(self) -> None:
        """End watch streams, let running requests finish for a moment, then close every connection."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        connections = self._runner.server.connections if self._runner.server else []
        transports = [handler.transport for handler in connections if handler.transport is not None]
        await self._runner.cleanup()
        # A polite TLS goodbye waits for the client's, and a client that never says it would hold up the
        # process.
        await asyncio.sleep(GOODBYE_SECONDS)
        for transport in transports:
            transport.abort()


def ensure_free(host: str, port: int) -> None:
    """PortInUse before anything is made that would be left behind. Another process may still be faster."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortInUse(host, port) from error
            raise


async def serve(app: web.Application, host: str, port: int, ssl_context: ssl.SSLContext | None) -> Listener:
    """Start listening; port 0 takes a free port, which the listener then tells."""
    runner = await _ready_runner(app)
    try:
        await web.TCPSite(runner, host, port, ssl_context=ssl_context, backlog=1024).start()
    except OSError as error:
        await runner.cleanup()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(host, port) from error
        raise
    bound_port = int(runner.addresses[0][1])
    # Pages that need no token, such as metrics in a cluster, have no anonymous connections.
    authenticated = app.get(AUTHENTICATED)
    sweeping = (
        asyncio.create_task(_close_anonymous(runner, authenticated)) if authenticated is not None else None
    )
    return Listener(host, bound_port, "https" if ssl_context else "http", runner, sweeping)


async def serve_on(app: web.Application, listening: socket.socket) -> Listener:
    """Accept connections of a socket that listens already; without TLS."""
    runner = await _ready_runner(app)
    await web.SockSite(runner, listening).start()
    host, port = listening.getsockname()[:2]
    return Listener(host, port, "http", runner, None)


async def _ready_runner(app: web.Application) -> web.AppRunner:
    _allow_many_connections()
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=_http_log(),
        handler_cancellation=True,
        keepalive_timeout=KEEP_ALIVE_SECONDS,
        shutdown_timeout=SHUTDOWN_SECONDS,
        max_line_size=REQUEST_LINE_BYTES,
    )
    await runner.setup()
    return runner


async def _close_anonymous(runner: web.AppRunner, authenticated: set[web.RequestHandler]) -> None:
    """Close connections that have sent no request with a valid token, or only half of one, in time."""
    clock = asyncio.get_running_loop().time
    first_seen: dict[web.RequestHandler, float] = {}
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        connections = runner.server.connections if runner.server else []
        authenticated.intersection_update(connections)
        anonymous = [one for one in connections if one not in authenticated]
        first_seen = {connection: first_seen.get(connection, clock()) for connection in anonymous}
        for connection, since in first_seen.items():
            if clock() - since > ANONYMOUS_SECONDS and connection.transport is not None:
                connection.transport.abort()


def _allow_many_connections() -> None:
    """Take as many file descriptors as the system grants; the usual limit of 1,024 is soon reached."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _http_log() -> logging.Logger:
    """What the HTTP library reports; malformed requests are the client's fault, and may contain its token."""
    logger = logging.getLogger("posse.apiserver.http.requests")
    logger.addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))
    )
    return logger
