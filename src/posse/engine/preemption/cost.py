"""The cost of a choice of victims, and the rejected choices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from posse.engine.preemption.units import Unit


class Cost(NamedTuple):
    """Compared from left to right; lower is better."""

    budgets: int
    """How many units overdraw a disruption budget."""
    highest: int
    """The highest priority among the victims."""
    total: int
    """The sum of all priorities, counted from the lowest possible one, so the number of pods weighs most."""
    pods: int


def cost_of(victims: Sequence[Unit], budgets: int) -> Cost:
    """The cost of evicting these units; terminating pods cost nothing."""
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
    """Victims that would also have freed enough capacity."""

    victims: tuple[Unit, ...]
    """Highest priority first."""
    cost: Cost
    node: str = ""
    """The node, for a single pod."""
