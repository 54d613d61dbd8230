"""Questions to the exact solver about groups whose refusal is no proof, and their answers.

A question is a placement problem with the meaning of its numbers. The group waits for the answer, which is
tried on the cluster as it is by then. It is a proof only if the same question would be asked again. A group
that does not fit may raise a second one: whether it would without the pods that it may preempt.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from posse.engine.decisions import Solve
from posse.engine.events import Solved
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import PlacementProblem, Solution
from posse.engine.proof import Outcome

_MAX_IN_A_ROW = 3
"""A cluster that changes faster than questions are answered does not delay a group for ever."""


@dataclass(frozen=True, slots=True)
class Question:
    problem: PlacementProblem
    nodes: tuple[str, ...]
    members: tuple[tuple[tuple[str, ...], ...], ...]
    """Uids by group, by pod set."""

    def plan(self, solution: Solution) -> dict[str, str]:
        """Target nodes by uid of the pod."""
        return dict(self._places(solution))

    def _places(self, solution: Solution) -> Iterator[tuple[str, str]]:
        for demand, shares in zip(self.members, solution.shares, strict=True):
            for uids, share in zip(demand, shares, strict=True):
                nodes = (self.nodes[node] for node, number in share for _ in range(number))
                yield from zip(uids, nodes, strict=False)


@dataclass(frozen=True, slots=True)
class Answer:
    question: Question
    solution: Solution

    @property
    def plan(self) -> dict[str, str]:
        return self.question.plan(self.solution) if self.solution.outcome is Outcome.PLACED else {}

    def settles(self, question: Question) -> bool:
        """Whether the answer to this question still holds for the other one."""
        return question.problem == self.question.problem


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers about a group since it was last decided, in their order."""

    answers: tuple[Answer, ...] = ()

    @property
    def plan(self) -> dict[str, str]:
        """The latest placement that was found; empty if there is none."""
        return next((answer.plan for answer in reversed(self.answers) if answer.plan), {})

    def to(self, question: Question | None) -> Answer | None:
        """The answer that still holds for the question, if there is one."""
        if question is None:
            return None
        return next((answer for answer in self.answers if answer.settles(question)), None)


@dataclass(slots=True)
class Questions:
    asks: bool
    """Whether a solver is available."""
    effort: float
    """Effort limit of an answer: about seconds of one core."""
    _open: dict[GroupKey, tuple[int, Question]] = field(default_factory=dict)
    _answers: dict[GroupKey, Answers] = field(default_factory=dict)
    _in_a_row: dict[GroupKey, int] = field(default_factory=dict)
    _last: int = 0

    def ask(self, key: GroupKey, question: Question) -> Solve | None:
        """The problem to solve; None if it is in flight."""
        number, asked = self._open.get(key, (0, None))
        if asked is not None and asked.problem == question.problem:
            self._open[key] = number, question
            return None
        self._last += 1
        self._in_a_row[key] = self._in_a_row.get(key, 0) + 1
        self._open[key] = self._last, question
        return Solve(key, self._last, question.problem, self.effort)

    def may_ask(self, key: GroupKey) -> bool:
        return self.asks and self._in_a_row.get(key, 0) < _MAX_IN_A_ROW

    def answered(self, event: Solved) -> bool:
        """Store the answer; returns whether the question was still open."""
        number, question = self._open.get(event.group, (0, None))
        if question is None or number != event.number:
            return False
        del self._open[event.group]
        earlier = self.answers(event.group).answers
        self._answers[event.group] = Answers((*earlier, Answer(question, event.solution)))
        return True

    def has_answer(self, key: GroupKey) -> bool:
        return key in self._answers

    def answers(self, key: GroupKey) -> Answers:
        return self._answers.get(key, Answers())

    def forget(self, key: GroupKey) -> None:
        """The group was decided, or is gone."""
        self._open.pop(key, None)
        self._answers.pop(key, None)
        self._in_a_row.pop(key, None)
