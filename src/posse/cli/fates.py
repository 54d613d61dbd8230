"""What has become of members of a group that it can no longer count on: those that ended, and those being evicted."""

from collections.abc import Iterable
from dataclasses import dataclass

from posse.model.pod import Pod

SUCCEEDED, FAILED = "Succeeded", "Failed"
PREEMPTION = "PreemptionByScheduler"


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


def was_preempted(pod: Pod) -> bool:
    """It had to make room; other disruptions have other reasons."""
    return any(
        one.type == "DisruptionTarget" and one.status == "True" and one.reason == PREEMPTION
        for one in pod.status.conditions
    )


def has_ended(pod: Pod) -> bool:
    return pod.status.phase in {SUCCEEDED, FAILED}
