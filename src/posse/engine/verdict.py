"""Refusals are values: what was decided, by which rule, why, and whether evicting somebody could change it."""

from dataclasses import dataclass
from enum import IntEnum


class Code(IntEnum):
    """The answers to "does it fit"; only the second is worth a search for victims."""

    SUCCESS = 0
    UNSCHEDULABLE = 1
    UNRESOLVABLE = 2


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason that stands between a pod and `nodes` nodes."""

    rule: str
    reason: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Verdict:
    code: Code
    message: str = ""
    refusals: tuple[Refusal, ...] = ()

    @property
    def succeeded(self) -> bool:
        return self.code is Code.SUCCESS


SUCCESS = Verdict(Code.SUCCESS)
