"""The page of a scheduler runs in a process of its own, which starts when the page is first opened.

The port is open from the start, and the process that serves it is started by the first connection. The
scheduler does none of its work, and pays nothing for a page that is not opened.
"""

import asyncio
import contextlib
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

STOP_SECONDS = 3.0
PAUSE_SECONDS = 1.0
"""Before a process that ended is started again."""


class PageProcess:
    """`command` are arguments of posse; the descriptor of the listening socket is added to them."""

    def __init__(self, command: Sequence[str], port: int, log: Path | None = None) -> None:
        self._command = command
        self._log = log
        self._socket = _listening(port)
        self.process: asyncio.subprocess.Process | None = None
        """The one that serves now, or did last."""
        self._running: asyncio.Task[None] | None = None

    def address(self, token: str) -> str:
        host, port = self._socket.getsockname()[:2]
        return f"http://{host}:{port}/#token={token}"

    def start(self) -> None:
        """Start the process at the first connection."""
        asyncio.get_running_loop().add_reader(self._socket, self._connected)

    async def stop(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        self._socket.close()
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    def _connected(self) -> None:
        asyncio.get_running_loop().remove_reader(self._socket)
        self._running = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        """Run it until it ends, and then start it again at the next connection."""
        descriptor = self._socket.fileno()
        words = [sys.executable, "-m", "posse", *self._command, "--listen-fd", str(descriptor)]
        with contextlib.ExitStack() as files:
            log = files.enter_context(self._log.open("ab")) if self._log else None
            self.process = process = await asyncio.create_subprocess_exec(
                # It ends when its standard input does, even if this process is killed.
                *words,
                pass_fds=[descriptor],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
            )
        try:
            await process.wait()
            await asyncio.sleep(PAUSE_SECONDS)
        finally:
            await _ended(process)
        self.start()


async def _ended(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


def _listening(port: int) -> socket.socket:
    """On loopback; on any free port if this one is in use."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError:
        listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    listening.setblocking(False)
    return listening
