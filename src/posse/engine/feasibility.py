"""Whether a group can still reach its minimum, from how its members have fared so far."""

from dataclasses import dataclass
from enum import Enum


class Feasibility(Enum):
    SUCCESS = "the minimum is placed"
    WAIT = "the minimum can still be reached with free capacity"
    UNSCHEDULABLE = "the minimum can only be reached by evicting others"
    UNRESOLVABLE = "the minimum cannot be reached, whoever is evicted"


@dataclass(frozen=True, slots=True)
class Standing:
    """How the members of a group stand in the middle, or at the end, of an attempt."""

    minimum: int
    placed: int
    """On nodes: those that were there before and those that found a place now."""
    untried: int
    resolvable: int
    """Found no place, but would if others were evicted."""

    @property
    def feasibility(self) -> Feasibility:
        if self.placed >= self.minimum:
            return Feasibility.SUCCESS
        if self.placed + self.untried >= self.minimum:
            return Feasibility.WAIT
        if self.placed + self.untried + self.resolvable >= self.minimum:
            return Feasibility.UNSCHEDULABLE
        return Feasibility.UNRESOLVABLE
