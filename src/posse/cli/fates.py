"""What has become of members of a group that it can no longer count on: those that ended, and those being evicted."""

from collections.abc import Iterable
from dataclasses import dataclass

from posse.model.pod import Pod

SUCCEEDED, FAILED = "Succeeded", "Failed"


@dataclass(frozen=True, slots=True)
class Fates:
    succeeded: int = 0
    failed: int = 0

    @property
    def ended(self) -> int:
        return self.succeeded + self.failed

    @property
    def in_words(self) -> str:
        parts = ((self.failed, "failed"), (self.succeeded, "succeeded"))
        return ", ".join(f"{number} {word}" for number, word in parts if number)


def fates_of(members: Iterable[Pod]) -> Fates:
    phases = [pod.status.phase for pod in members]
    return Fates(phases.count(SUCCEEDED), phases.count(FAILED))


def has_ended(pod: Pod) -> bool:
    return pod.status.phase in {SUCCEEDED, FAILED}
