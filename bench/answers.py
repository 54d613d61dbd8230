"""What a group that is alone in a small cluster is told, with the exact search at the engine's side or without."""

from collections.abc import Iterable
from dataclasses import dataclass

from posse.engine.decisions import Bind, Decision, ReportGroup, Solve
from posse.engine.engine import Engine
from posse.engine.events import ClusterObject, Observed, Solved
from posse.engine.options import EngineOptions
from posse.solver.solving import solve

_EFFORT = 10.0
_NOW = 1000.0


@dataclass(frozen=True, slots=True)
class Answer:
    started: bool
    message: str
    """Of the refusal."""

    @property
    def is_proof(self) -> bool:
        return "No placement exists" in self.message


def answer(objects: Iterable[ClusterObject], *, asks: bool) -> Answer:
    engine = Engine(EngineOptions(asks=asks))
    for obj in objects:
        engine.absorb(Observed(obj))
    decisions = _decided(engine)
    if any(isinstance(decision, Bind) for decision in decisions):
        return Answer(started=True, message="")
    told = (one.message for one in decisions if isinstance(one, ReportGroup) and not one.scheduled)
    return Answer(started=False, message=next(told, ""))


def _decided(engine: Engine) -> list[Decision]:
    decisions = engine.decide(_NOW)
    for question in [decision for decision in decisions if isinstance(decision, Solve)]:
        engine.absorb(Solved(question.group, question.number, solve(question.problem, _EFFORT)))
        decisions = engine.decide(_NOW)
    return decisions
