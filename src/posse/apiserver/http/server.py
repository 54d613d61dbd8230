"""Puts an application on a port and takes it off again.

Runs on whatever event loop is current; the process is expected to use uvloop, whose TLS is several times
faster.
"""

import asyncio
import errno
import ssl
from dataclasses import dataclass

from aiohttp import web

# Long enough for any client that polls; far below the point where a forgotten connection would matter.
KEEP_ALIVE_SECONDS = 300.0
SHUTDOWN_SECONDS = 3.0
GOODBYE_SECONDS = 0.02
# Selectors travel in the request line, and a selector over many names is long.
REQUEST_LINE_BYTES = 64 * 1024


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

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    async def close(self) -> None:
        """End watch streams, let running requests finish for a moment, then close every connection."""
        connections = self._runner.server.connections if self._runner.server else []
        transports = [handler.transport for handler in connections if handler.transport is not None]
        await self._runner.cleanup()
        # A polite TLS goodbye waits for the client's, and a client that never says it would hold up the
        # process.
        await asyncio.sleep(GOODBYE_SECONDS)
        for transport in transports:
            transport.abort()


async def serve(app: web.Application, host: str, port: int, ssl_context: ssl.SSLContext | None) -> Listener:
    """Start listening; port 0 takes a free port, which the listener then tells."""
    runner = web.AppRunner(
        app,
        access_log=None,
        handler_cancellation=True,
        keepalive_timeout=KEEP_ALIVE_SECONDS,
        shutdown_timeout=SHUTDOWN_SECONDS,
        max_line_size=REQUEST_LINE_BYTES,
    )
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port, ssl_context=ssl_context, backlog=1024).start()
    except OSError as error:
        await runner.cleanup()
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(host, port) from error
        raise
    bound_port = int(runner.addresses[0][1])
    return Listener(host, bound_port, "https" if ssl_context else "http", runner)
