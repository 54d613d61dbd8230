"""Has puzzles of the engine solved in a process of their own, one after the other, so that deciding is never held up.

The process is started with the first puzzle. If it dies, the puzzle it died of counts as not solved and the next one gets a
new process.
"""

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncGenerator

import msgspec

from posse.engine.decisions import GroupKey, Solve
from posse.engine.events import Solved
from posse.engine.puzzle import Outcome, Solution
from posse.solver.frames import LENGTH_BYTES, Request, frame

log = logging.getLogger(__name__)


_EFFORT = 10.0
"""About as many seconds of one core."""
_MOST_SECONDS = 60.0
"""After which the process is given up, whatever keeps it busy."""


class ExactSearch:
    def __init__(self) -> None:
        self._questions: dict[GroupKey, Solve] = {}
        """Those not begun yet, in the order of asking; of each group the last, since nobody waits for an earlier one."""
        self._has_questions = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None

    def put(self, question: Solve) -> None:
        self._questions[question.group] = question
        self._has_questions.set()

    async def answers(self) -> AsyncGenerator[Solved, None]:
        """Until cancelled; then the process is ended too."""
        try:
            while True:
                question = await self._next()
                yield Solved(question.group, question.number, await self._solve(question))
        finally:
            await self._end()

    async def _next(self) -> Solve:
        await self._has_questions.wait()
        question = self._questions.pop(next(iter(self._questions)))
        if not self._questions:
            self._has_questions.clear()
        return question

    async def _solve(self, question: Solve) -> Solution:
        try:
            async with asyncio.timeout(_MOST_SECONDS):
                return await self._ask(Request(question.puzzle, _EFFORT))
        except (OSError, EOFError) as error:
            log.warning("the exact search for %s failed: %s", question.group, error)
            await self._end()
            return Solution(Outcome.EXHAUSTED)

    async def _ask(self, request: Request) -> Solution:
        requests, answers = await self._pipes()
        requests.write(frame(request))
        await requests.drain()
        length = int.from_bytes(await answers.readexactly(LENGTH_BYTES))
        return msgspec.msgpack.decode(await answers.readexactly(length), type=Solution)

    async def _pipes(self) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "posse.solver",
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
        requests, answers = self._process.stdin, self._process.stdout
        if requests is None or answers is None:
            message = "the process has no pipes"
            raise OSError(message)
        return requests, answers

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
