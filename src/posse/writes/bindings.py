"""The bindings of one decision: all pods of a group are bound in one write."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from posse.engine.decisions import Bind
from posse.engine.events import BindRefused
from posse.kinds.machinery.errors import NOT_FOUND, ApiError
from posse.transport.notes import Note
from posse.transport.transport import PodBinding
from posse.writes.scheduling_events import not_bound, scheduled

Answers = Sequence[ApiError | None]
"""One for each pod, in the order of the placements; None if the pod was bound."""


@dataclass(frozen=True, slots=True)
class BindTogether:
    """All bindings hold or none does, as far as the cluster can promise that."""

    decision: Bind

    def bindings(self) -> list[PodBinding]:
        return [
            PodBinding(one.pod.namespace, one.pod.name, one.pod.uid, one.node)
            for one in self.decision.placements
        ]

    def failed(self, answers: Answers) -> list[BindRefused]:
        return [
            BindRefused(placement.pod.uid, placement.node, str(error))
            for placement, error in zip(self.decision.placements, answers, strict=True)
            if error is not None
        ]

    def notes(self, answers: Answers) -> Iterator[Note]:
        """No event about a pod that is gone."""
        for placement, error in zip(self.decision.placements, answers, strict=True):
            if error is None:
                yield scheduled(placement)
            elif error.code != NOT_FOUND:
                yield not_bound(placement, str(error))
