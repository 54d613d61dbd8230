"""Who looks on while decisions are made and carried out. What witnesses do with it is theirs; they never interfere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from posse.engine.decisions import Bind, Decision
from posse.engine.events import EngineEvent
from posse.engine.keys import PodRef
from posse.engine.trials.attempt_record import AttemptRecord


@dataclass(frozen=True, slots=True)
class Round:
    """One call of `decide`: when it began, by a clock for durations, how long it took, and what came out."""

    started: float
    seconds: float
    decisions: Sequence[Decision]
    tried: Sequence[AttemptRecord]

    def binds(self) -> Iterator[Bind]:
        return (decision for decision in self.decisions if isinstance(decision, Bind))


class DecisionObserver(Protocol):
    def decided(self, done: Round) -> None:
        """The engine has decided; nothing is carried out yet."""

    def bound(self, done: Round, refusals: Mapping[str, str]) -> None:
        """The API has answered the bindings of a round: yes, except for these pods, by uid, for these reasons."""

    def volumes_refused(self, pod: PodRef, node: str, reason: str) -> None:
        """The pod will not be bound, because its claims could not be."""


class EventObserver(DecisionObserver, Protocol):
    """A witness that is also told what happens in the cluster."""

    def absorbed(self, event: EngineEvent) -> None:
        """The engine was told this."""


class Witnesses:
    def __init__(self, *witnesses: DecisionObserver) -> None:
        self._witnesses = witnesses

    def decided(self, done: Round) -> None:
        for witness in self._witnesses:
            witness.decided(done)

    def bound(self, done: Round, refusals: Mapping[str, str]) -> None:
        for witness in self._witnesses:
            witness.bound(done, refusals)

    def volumes_refused(self, pod: PodRef, node: str, reason: str) -> None:
        for witness in self._witnesses:
            witness.volumes_refused(pod, node, reason)
