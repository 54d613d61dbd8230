"""Refusals are values: what was decided, by which rule, why, and whether evicting somebody could change it."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Outcome(StrEnum):
    PLACED = "Placed"
    IMPOSSIBLE = "ProvenInfeasible"
    EXHAUSTED = "BudgetExhausted"
    UNDECIDED = "NotExhaustive"
    """Something decides that no search which leaves nothing out knows; never of a solution."""


class Code(IntEnum):
    """The answers to "does it fit"; only the second is worth a search for victims."""

    SUCCESS = 0
    UNSCHEDULABLE = 1
    UNRESOLVABLE = 2
    ERROR = 3
    """The question makes no sense as things are, such as that of one domain for pods which run in two."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason that stands between a pod and `nodes` nodes."""

    rule: str
    reason: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Proof:
    """How sure it is that a refused group fits nowhere."""

    doubts: tuple[str, ...] = ()
    """What the search cannot go through completely; with none, there is no placement."""
    exhausted: bool = False
    """A search that leaves nothing out was made, and given up."""

    @property
    def outcome(self) -> Outcome:
        if not self.doubts:
            return Outcome.IMPOSSIBLE
        return Outcome.EXHAUSTED if self.exhausted else Outcome.UNDECIDED

    @property
    def sentence(self) -> str:
        if not self.doubts:
            return "No placement exists in the room that is free."
        if self.exhausted:
            return "A placement may exist all the same: an exact search did not end within its budget."
        return (
            f"A placement may exist all the same: the search is not exhaustive for {', '.join(self.doubts)}."
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    code: Code
    message: str = ""
    refusals: tuple[Refusal, ...] = ()
    proof: Proof | None = None
    """Of groups that were refused."""

    @property
    def succeeded(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def outcome(self) -> Outcome | None:
        """Of the search for a placement; None where none was made."""
        if self.succeeded:
            return Outcome.PLACED
        return self.proof.outcome if self.proof is not None else None


SUCCESS = Verdict(Code.SUCCESS)
