"""Counts the members of a group that ended or are being evicted."""

from collections.abc import Iterable
from dataclasses import dataclass

from posse.engine.preemption.marks import was_preempted
from posse.model.pod import Pod

SUCCEEDED, FAILED = "Succeeded", "Failed"


@dataclass(frozen=True, slots=True)
class Fates:
    succeeded: int = 0
    failed: int = 0
    preempted: int = 0
    """Of those that are terminating."""
    failed_preempted: int = 0
    """Of those that have failed."""

    @property
    def ended(self) -> int:
        return self.succeeded + self.failed

    @property
    def in_words(self) -> str:
        preempted = f" ({self.failed_preempted} preempted)" if self.failed_preempted else ""
        parts = ((self.failed, f"failed{preempted}"), (self.succeeded, "succeeded"))
        return ", ".join(f"{number} {word}" for number, word in parts if number)


def fates_of(members: Iterable[Pod]) -> Fates:
    pods = list(members)
    phases = [pod.status.phase for pod in pods]
    preempted = [pod for pod in pods if was_preempted(pod)]
    return Fates(
        phases.count(SUCCEEDED),
        phases.count(FAILED),
        sum(1 for pod in preempted if pod.metadata.deletion_timestamp and not has_ended(pod)),
        sum(1 for pod in preempted if pod.status.phase == FAILED),
    )


def has_ended(pod: Pod) -> bool:
    return pod.status.phase in {SUCCEEDED, FAILED}
