"""Answers questions of the engine in a separate process, one at a time; deciding never waits for them.

Whether a group fits comes before what would let it start. A question that the process does not answer counts
as unanswered.
"""

import asyncio
from collections.abc import AsyncGenerator

from posse.engine.decisions import Advise, Solve
from posse.engine.events import Advised, Solved
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import Remedies, Solution
from posse.engine.proof import Outcome
from posse.runtime.scheduling.solver_process import SolverProcess
from posse.solver.frames import AdviseRequest, SolveRequest

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
        self._process = SolverProcess()

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
            await self._process.end()

    async def _next(self) -> Solve | Advise:
        await self._has_questions.wait()
        waiting: dict[GroupKey, Solve] | dict[GroupKey, Advise] = self._questions or self._remedies
        question = waiting.pop(next(iter(waiting)))
        if not self._questions and not self._remedies:
            self._has_questions.clear()
        return question

    async def _answer(self, question: Solve | Advise) -> Solved | Advised:
        purpose = f"the exact search for {question.group}"
        if isinstance(question, Solve):
            request = SolveRequest(question.problem, question.effort)
            solution = await self._process.ask(request, Solution, _seconds(question.effort), purpose)
            return Solved(question.group, question.number, solution or Solution(Outcome.EXHAUSTED))
        wanted = AdviseRequest(question.remedy_problem)
        remedies = await self._process.ask(wanted, Remedies, _seconds(0.0), purpose)
        return Advised(question.group, question.number, remedies)


def _seconds(effort: float) -> float:
    return max(_MIN_TIMEOUT_SECONDS, _SECONDS_PER_EFFORT * effort)
