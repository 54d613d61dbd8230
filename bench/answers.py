"""Answers for a single group in a small cluster, with and without the exact search."""

from collections.abc import Iterable
from dataclasses import dataclass

from posse.engine.decisions import Bind, Decision, ReportGroup, Solve
from posse.engine.engine import Engine
from posse.engine.events import ClusterObject, Observed, Solved
from posse.engine.options import EngineOptions
from posse.engine.proof import Outcome
from posse.solver.solving import solve

_EFFORT = 10.0
_NOW = 1000.0


@dataclass(frozen=True, slots=True)
class Answer:
    started: bool
    outcome: Outcome | None
    """Of the search for a placement."""

    @property
    def is_proof(self) -> bool:
        return self.outcome is Outcome.IMPOSSIBLE


def answer(objects: Iterable[ClusterObject], *, asks: bool) -> Answer:
    engine = Engine(EngineOptions(asks=asks))
    for obj in objects:
        engine.absorb(Observed(obj))
    decisions = _decided(engine)
    if any(isinstance(decision, Bind) for decision in decisions):
        return Answer(started=True, outcome=Outcome.PLACED)
    findings = (one.finding for one in decisions if isinstance(one, ReportGroup) and not one.scheduled)
    outcomes = (finding.outcome for finding in findings if finding is not None)
    return Answer(started=False, outcome=next(outcomes, None))


def _decided(engine: Engine) -> list[Decision]:
    decisions = engine.decide(_NOW)
    for question in [decision for decision in decisions if isinstance(decision, Solve)]:
        engine.absorb(Solved(question.group, question.number, solve(question.problem, _EFFORT)))
        decisions = engine.decide(_NOW)
    return decisions
