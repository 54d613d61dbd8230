"""Groups about which the search is in doubt are put as a question to an exact one, outside; here is who asks what.

A question is a puzzle together with what its numbers stand for. While it is open the group waits; the answer is tried on the
cluster as it is by then, and holds as a proof only if the same question would be asked again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from posse.engine.decisions import Solve
from posse.engine.events import Solved
from posse.engine.keys import GroupKey
from posse.engine.placement_problem import PlacementProblem, Solution
from posse.engine.proof import Outcome

_MAX_IN_A_ROW = 3
"""A cluster that changes faster than questions are answered does not keep a group waiting for ever."""


@dataclass(frozen=True, slots=True)
class Question:
    problem: PlacementProblem
    nodes: tuple[str, ...]
    members: tuple[tuple[tuple[str, ...], ...], ...]
    """Uids by team of pods, by sort."""

    def plan(self, solution: Solution) -> dict[str, str]:
        """Where pods go, by uid."""
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
        """Whether what was found out about the cluster then is true of it now."""
        return question.problem == self.question.problem


@dataclass(slots=True)
class Questions:
    asks: bool
    """Whether there is anybody to answer."""
    effort: float
    """That may be spent on an answer: about seconds of one core."""
    _open: dict[GroupKey, tuple[int, Question]] = field(default_factory=dict)
    _answers: dict[GroupKey, Answer] = field(default_factory=dict)
    _in_a_row: dict[GroupKey, int] = field(default_factory=dict)
    _last: int = 0

    def ask(self, key: GroupKey, question: Question) -> Solve | None:
        """What to have solved; None if that is under way."""
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
        """Whether that was still to be known."""
        number, question = self._open.get(event.group, (0, None))
        if question is None or number != event.number:
            return False
        del self._open[event.group]
        self._answers[event.group] = Answer(question, event.solution)
        return True

    def has_answer(self, key: GroupKey) -> bool:
        return key in self._answers

    def take_answer(self, key: GroupKey) -> Answer | None:
        return self._answers.pop(key, None)

    def forget(self, key: GroupKey) -> None:
        """The group was decided upon, or is gone."""
        self._open.pop(key, None)
        self._answers.pop(key, None)
        self._in_a_row.pop(key, None)
