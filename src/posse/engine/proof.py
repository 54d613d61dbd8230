"""How certain it is that a refused group fits nowhere."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """Outcome of a search for a placement."""

    PLACED = "Placed"
    IMPOSSIBLE = "ProvenInfeasible"
    EXHAUSTED = "BudgetExhausted"
    UNDECIDED = "NotExhaustive"
    """A rule applies that the exact search cannot model; never returned with a solution."""


@dataclass(frozen=True, slots=True)
class Proof:
    doubts: tuple[str, ...] = ()
    """Rules and properties that the search does not cover completely. Without any, no placement exists."""
    exhausted: bool = False
    """An exact search was made and ran out of its budget."""

    @property
    def outcome(self) -> Outcome:
        if not self.doubts:
            return Outcome.IMPOSSIBLE
        return Outcome.EXHAUSTED if self.exhausted else Outcome.UNDECIDED
