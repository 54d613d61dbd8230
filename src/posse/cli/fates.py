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

    @property
    def ended(self) -> int:
        return self.succeeded + self.failed

    @property
    def in_words(self) -> str:
        parts = ((self.failed, "failed"), (self.succeeded, "succeeded"))
        return ", ".join(f"{number} {word}" for number, word in parts if number)


def fates_of(members: Iterable[Pod]) -> Fates:
    pods = list(members)
    phases = [pod.status.phase for pod in pods]
    return Fates(phases.count(SUCCEEDED), phases.count(FAILED), sum(map(is_preempted, pods)))


def is_preempted(pod: Pod) -> bool:
    """On its way out, to make room; other disruptions have other reasons."""
    return bool(pod.metadata.deletion_timestamp) and any(
        one.type == "DisruptionTarget" and one.status == "True" and one.reason == PREEMPTION
        for one in pod.status.conditions
    )


def has_ended(pod: Pod) -> bool:
    return pod.status.phase in {SUCCEEDED, FAILED}
