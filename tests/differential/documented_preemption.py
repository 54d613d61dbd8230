"""Preemption by a group as the documents describe it, and the cheapest there is, by going through every choice of victims."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import ClassVar
from unittest.mock import patch

from posse.engine import group_trial
from posse.engine.preemption.group_search import GroupSearch, Room

Cost = tuple[int, int, int, int]
"""Budgets overdrawn, highest priority, sum of priorities, pods."""
Unit = tuple[int, int]
"""Priority and number of pods."""


class Documented(GroupSearch):
    """Place the group with everybody gone who matters less, then let stay whom that placement leaves room for."""

    def find(self) -> Room | None:
        return self.find_quickly()


@contextmanager
def as_documented() -> Iterator[None]:
    with patch.object(group_trial, "GroupSearch", Documented):
        yield


class Compared(GroupSearch):
    """Searches both ways and notes what each costs."""

    costs: ClassVar[list[tuple[Cost, Cost]]] = []
    """Posse's, and the documents'."""

    def find(self) -> Room | None:
        ours, documented = GroupSearch.find(self), self.find_quickly()
        if ours is not None and documented is not None:
            self.costs.append((self.cost(ours), self.cost(documented)))
        return ours


@contextmanager
def compared() -> Iterator[list[tuple[Cost, Cost]]]:
    Compared.costs.clear()
    with patch.object(group_trial, "GroupSearch", Compared):
        yield Compared.costs


def cost_of(victims: Sequence[Unit]) -> Cost:
    highest = max((priority for priority, _ in victims), default=-(2**31))
    total = sum((priority + 2**31) * pods for priority, pods in victims)
    return 0, highest, total, sum(pods for _, pods in victims)


def least_cost(units: Sequence[Unit], suffices: Callable[[Sequence[int]], bool]) -> Cost | None:
    """Of all choices of these units that suffice; None if none does."""
    numbers = range(len(units))
    choices = (choice for size in range(len(units) + 1) for choice in combinations(numbers, size))
    costs = [cost_of([units[number] for number in choice]) for choice in choices if suffices(choice)]
    return min(costs, default=None)
