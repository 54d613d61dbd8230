"""Answers questions of the engine in a separate process, one at a time; deciding never waits for them.

Whether a group fits comes before what would let it start. The first question starts the process. If the
process dies, its question counts as unanswered, and the next question starts a new process.
"""

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncGenerator
from typing import TypeVar

import msgspec

from posse.engine.decisions import Advise, Solve
from posse.engine.events import Advised, Solved
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import Remedies, Solution
from posse.engine.proof import Outcome
from posse.solver.frames import LENGTH_BYTES, AdviseRequest, Request, SolveRequest, frame

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_MIN_TIMEOUT_SECONDS = 60.0
_SECONDS_PER_EFFORT = 5.0
"""The process is killed after that time."""


class ExactSearch:
    def __init__(self) -> None:
        self._questions: dict[GroupKey, Solve] = {}
        """Not begun yet, in the order of asking; a later question of a group replaces an earlier one."""
        self._remedies: dict[GroupKey, Advise] = {}
        """Questions for remedies, likewise; they are answered when no other question waits."""
        self._has_questions = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None

    def put(self, question: Solve | Advise) -> None:
        if isinstance(question, Solve):
            self._questions[question.group] = question
        else:
            self._remedies[question.group] = question
        self._has_questions.set()

    async def answers(self) -> AsyncGenerator[Solved | Advised, None]:
        """Until cancelled; then the process is ended too."""
        try:
            while True:
                yield await self._answer(await self._next())
        finally:
            await self._end()

    async def _next(self) -> Solve | Advise:
        await self._has_questions.wait()
        waiting: dict[GroupKey, Solve] | dict[GroupKey, Advise] = self._questions or self._remedies
        question = waiting.pop(next(iter(waiting)))
        if not self._questions and not self._remedies:
            self._has_questions.clear()
        return question

    async def _answer(self, question: Solve | Advise) -> Solved | Advised:
        if isinstance(question, Solve):
            solution = await self._ask(
                SolveRequest(question.problem, question.effort), Solution, question.group
            )
            return Solved(question.group, question.number, solution or Solution(Outcome.EXHAUSTED))
        remedies = await self._ask(AdviseRequest(question.remedy_problem), Remedies, question.group)
        return Advised(question.group, question.number, remedies)

    async def _ask(self, request: Request, form: type[Answer], group: GroupKey) -> Answer | None:
        """None if there was no answer."""
        try:
            async with asyncio.timeout(_seconds(request)):
                requests, answers = await self._pipes()
                requests.write(frame(request))
                await requests.drain()
                length = int.from_bytes(await answers.readexactly(LENGTH_BYTES))
                return msgspec.msgpack.decode(await answers.readexactly(length), type=form | None)
        except (OSError, EOFError) as error:
            log.warning("the exact search for %s failed: %s", group, error)
            await self._end()
            return None

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

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _seconds(request: Request) -> float:
    effort = request.effort if isinstance(request, SolveRequest) else 0.0
    return max(_MIN_TIMEOUT_SECONDS, _SECONDS_PER_EFFORT * effort)
