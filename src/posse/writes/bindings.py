"""The bindings of one decision: all pods of a group are bound in one write."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from posse.engine.decisions import AllocateClaims, Bind
from posse.engine.events import BindRefused
from posse.engine.keys import ClaimKey
from posse.kinds.machinery.errors import NOT_FOUND, ApiError
from posse.transport.notes import Note
from posse.transport.transport import PodBinding
from posse.writes.scheduling_events import not_bound, scheduled

Answers = Sequence[ApiError | None]
"""One for each pod, in the order of the placements; None if the pod was bound."""


@dataclass(frozen=True, slots=True)
class BindTogether:
    """All bindings hold or none does, as far as the cluster can promise that.

    Pods whose devices must be prepared first are not bound yet; only their claims are written.
    """

    decision: Bind | AllocateClaims

    @property
    def claims(self) -> list[ClaimKey]:
        """The claims that are written before."""
        return [each.claim for each in self.decision.claims]

    def bindings(self) -> list[PodBinding]:
        if isinstance(self.decision, AllocateClaims):
            return []
        return [
            PodBinding(one.pod.namespace, one.pod.name, one.pod.uid, one.node)
            for one in self.decision.placements
        ]

    def answers_without(self, failures: Mapping[ClaimKey, ApiError]) -> Answers | None:
        """The answers if nothing is bound: a claim failed, or there is nothing to bind. None otherwise."""
        error = next((failures[claim] for claim in self.claims if claim in failures), None)
        if error is None and isinstance(self.decision, Bind):
            return None
        return [error] * len(self.decision.placements)

    def failed(self, answers: Answers) -> list[BindRefused]:
        return [
            BindRefused(placement.pod.uid, placement.node, str(error))
            for placement, error in zip(self.decision.placements, answers, strict=True)
            if error is not None
        ]

    def notes(self, answers: Answers) -> Iterator[Note]:
        """No event about a pod that is gone."""
        for placement, error in zip(self.decision.placements, answers, strict=True):
            if error is None and isinstance(self.decision, Bind):
                yield scheduled(placement)
            elif error is not None and error.code != NOT_FOUND:
                yield not_bound(placement, str(error))
