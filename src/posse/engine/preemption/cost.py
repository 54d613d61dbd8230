"""The cost of a choice of victims, and the rejected choices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from posse.engine.preemption.units import NOT_YET, Unit


class LaterIsLess(str):
    """A time as text, which sorts the other way round."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str.__gt__(self, other)

    def __le__(self, other: str) -> bool:
        return str.__ge__(self, other)

    def __gt__(self, other: str) -> bool:
        return str.__lt__(self, other)

    def __ge__(self, other: str) -> bool:
        return str.__le__(self, other)


class Cost(NamedTuple):
    """Compared from left to right; lower is better."""

    budgets: int
    """How many units overdraw a disruption budget."""
    highest: int
    """The highest priority among the victims."""
    total: int
    """The sum of all priorities, counted from the lowest possible one, so the number of pods weighs most."""
    pods: int
    dependents: int = 0
    """Further pods that go because a victim owns them."""
    whole: int = 0
    """Pods of groups that are evicted as a whole; those of trees count twice."""
    started: LaterIsLess = LaterIsLess(NOT_YET)
    """Earliest start among the victims of highest priority: the later, the less work is lost."""


def cost_of(victims: Sequence[Unit], budgets: int) -> Cost:
    """The cost of evicting these units; terminating pods cost nothing."""
    pods = total = dependents = whole = 0
    highest, started = -(2**31), NOT_YET
    for unit in victims:
        if not unit.is_ending:
            priority, size = unit.priority, len(unit.records)
            if priority > highest or not pods:
                highest, started = priority, unit.started
            elif priority == highest and unit.started < started:
                started = unit.started
            pods += size
            total += (priority + 2**31) * size
            dependents += unit.dependents
            whole += size * unit.wholeness
    return Cost(budgets, highest, total, pods, dependents, whole, LaterIsLess(started))


@dataclass(frozen=True, slots=True)
class Choice:
    """Victims that would also have freed enough capacity."""

    victims: tuple[Unit, ...]
    """Highest priority first."""
    cost: Cost
    node: str = ""
    """The node, for a single pod."""
