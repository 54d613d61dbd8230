"""Observers of decisions and of how they are carried out. They never interfere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from posse.engine.cycle.cycle import AttemptRecord
from posse.engine.decisions import Bind, Decision
from posse.engine.events import EngineEvent
from posse.engine.keys import PodRef


@dataclass(frozen=True, slots=True)
class Round:
    """One call of `decide`: its start by the performance counter, its duration, and its results."""

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
        """The bindings of a round are written, except for these pods: reasons of refusal by uid."""

    def volumes_refused(self, pod: PodRef, node: str, reason: str) -> None:
        """The pod will not be bound, because its claims could not be bound."""


class EventObserver(DecisionObserver, Protocol):
    """Also observes what happens in the cluster."""

    def absorbed(self, event: EngineEvent) -> None:
        """The engine has absorbed this event."""


class DecisionObservers:
    def __init__(self, *observers: DecisionObserver) -> None:
        self._observers = observers

    def decided(self, done: Round) -> None:
        for observer in self._observers:
            observer.decided(done)

    def bound(self, done: Round, refusals: Mapping[str, str]) -> None:
        for observer in self._observers:
            observer.bound(done, refusals)

    def volumes_refused(self, pod: PodRef, node: str, reason: str) -> None:
        for observer in self._observers:
            observer.volumes_refused(pod, node, reason)
