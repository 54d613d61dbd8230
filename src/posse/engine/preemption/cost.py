"""What a choice of victims costs, and what was chosen against."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from posse.engine.preemption.units import Unit


class Cost(NamedTuple):
    """Compared from left to right; less is better."""

    budgets: int
    """How many units overdraw a disruption budget."""
    highest: int
    """The priority of the most important victim."""
    total: int
    """The sum of all priorities, counted from the lowest there is: so the number of pods weighs most."""
    pods: int


def cost_of(victims: Sequence[Unit], budgets: int) -> Cost:
    """Who is ending anyway costs nothing."""
    pods = total = 0
    highest = -(2**31)
    for unit in victims:
        if not unit.is_ending:
            priority, size = unit.priority, len(unit.records)
            highest = max(highest, priority)
            pods += size
            total += (priority + 2**31) * size
    return Cost(budgets, highest, total, pods)


@dataclass(frozen=True, slots=True)
class Choice:
    """Victims that would have done."""

    victims: tuple[Unit, ...]
    """Most important first."""
    cost: Cost
    node: str = ""
    """Where, for a single pod."""
