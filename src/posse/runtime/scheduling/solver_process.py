"""A process beside the scheduler that solves problems, one at a time; deciding never waits for it.

The first question starts it. If it dies or takes too long, the question stays without an answer, and the next
one starts a new process.
"""

import asyncio
import contextlib
import logging
import sys
from typing import TypeVar

import msgspec

from posse.solver.frames import LENGTH_BYTES, Request, frame

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")


class SolverProcess:
    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def ask(self, request: Request, form: type[Answer], seconds: float, purpose: str) -> Answer | None:
        """The answer, decoded as `form`; None if there was none in time."""
        try:
            async with asyncio.timeout(seconds):
                requests, answers = await self._pipes()
                requests.write(frame(request))
                await requests.drain()
                length = int.from_bytes(await answers.readexactly(LENGTH_BYTES))
                return msgspec.msgpack.decode(await answers.readexactly(length), type=form | None)
        except (OSError, EOFError) as error:
            log.warning("%s failed: %s", purpose, error)
            await self.end()
            return None

    async def end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _pipes(self) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "posse.solver",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                # A Ctrl-C at the terminal is meant for the scheduler, which ends this process itself.
                start_new_session=True,
            )
        requests, answers = self._process.stdin, self._process.stdout
        if requests is None or answers is None:
            message = "the process has no pipes"
            raise OSError(message)
        return requests, answers
