"""Preemption by a group as KEP-5710 describes it, and the cheapest there is, by going through every choice of victims.

The steps of the document are written down here once more. From Posse they take what may be evicted as one, and where the
group goes if some have left: that is scheduling, not preemption. Everything else is sums of cores and pods.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from itertools import combinations
from unittest.mock import patch

from posse.engine.nodes.arrays import IntArray
from posse.engine.preemption.cost import Cost
from posse.engine.preemption.domain_search import DomainSearch
from posse.engine.preemption.group_search import EvictionPlan, GroupSearch, Places
from posse.engine.preemption.units import Unit as PosseUnit
from posse.engine.preemption.units import by_importance
from posse.engine.state.pod_record import PodRecord
from posse.engine.trials import group_trial

"""Budgets overdrawn, highest priority, sum of priorities, pods."""
Unit = tuple[int, int]
"""Priority and number of pods."""


class Documented(GroupSearch):
    def find(self) -> EvictionPlan | None:
        units = sorted(self._units(self._attached()), key=by_importance)
        places = self._placed_without(units, ()) if units else ()
        if not places:
            return None
        violating, _ = self.budgets.split(units)
        pool, places = self._lowest_priorities(self._reprieved(units, places, violating), places)
        violating, harmless = self.budgets.split(pool)
        return EvictionPlan(tuple(self._reprieved(pool, places, [*violating, *harmless])), places)

    def _lowest_priorities(self, pool: list[PosseUnit], places: Places) -> tuple[list[PosseUnit], Places]:
        """Who goes if only the lowest priorities do that suffice, by binary search; and where the group goes then."""
        levels = sorted({unit.priority for unit in pool})
        best, low, high = (pool, places), 0, len(levels) - 1
        while low < high:
            middle = (low + high) // 2
            lower = [unit for unit in pool if unit.priority <= levels[middle]]
            if found := self._placed_without(lower, ()):
                best, high = (lower, found), middle
            else:
                low = middle + 1
        return best

    def _reprieved(
        self, pool: Sequence[PosseUnit], places: Places, order: Sequence[PosseUnit]
    ) -> list[PosseUnit]:
        """Let pods stay, in this order, that fit where they are beside the group; return those that go."""
        gone = {record.ref.uid for unit in pool for record in unit.records}
        there = [record for record in self.state.attached_records() if record.ref.uid not in gone]
        taken = [(record.node, record) for record in there] + [(node, record) for record, node in places]
        leaving = list(pool)
        for unit in order:
            back = [(record.node, record) for record in unit.records]
            concerned = {node for node, _ in back} & {node for _, node in places}
            if all(self._holds(name, [*taken, *back]) for name in concerned):
                taken += back
                leaving.remove(unit)
        return leaving

    def _holds(self, name: str, taken: Sequence[tuple[str, PodRecord]]) -> bool:
        nodes = self.state.nodes
        classes = [dict(record.pod_class.requests) for node, record in taken if node == name]
        return all(
            sum(requests.get(index, 0) for requests in classes)
            <= nodes.allocatable[index, nodes.row_of[name]]
            for index in self.resources
        )


def documented(search: GroupSearch, rows: IntArray | None) -> EvictionPlan | None:
    parts = {field.name: getattr(search, field.name) for field in fields(search)}
    return Documented(**parts | {"rows": rows}).find()


def documented_in_domains(search: DomainSearch) -> EvictionPlan | None:
    """The best of what is found in each of the domains."""
    state, found = search.search.state, []
    domains = state.domains(search.group.topology_key)
    for number in range(len(domains)):
        rows = domains.rows(number)
        with state.confined(rows):
            found.append(documented(search.search, rows))
    return min((room for room in found if room is not None), key=search.search.cost, default=None)


class _DocumentedDomains(DomainSearch):
    def find(self) -> EvictionPlan | None:
        return documented_in_domains(self)


@contextmanager
def as_documented() -> Iterator[None]:
    """Groups make room as the document has it. Nothing but resources may decide where they fit."""
    with (
        patch.object(group_trial, "GroupSearch", Documented),
        patch.object(group_trial, "DomainSearch", _DocumentedDomains),
    ):
        yield


_costs: list[tuple[Cost, Cost]] = []


class _Compared(GroupSearch):
    def find(self) -> EvictionPlan | None:
        ours = GroupSearch.find(self)
        _compare(self, ours, documented(self, self.rows))
        return ours


class _ComparedDomains(DomainSearch):
    def find(self) -> EvictionPlan | None:
        ours = DomainSearch.find(self)
        _compare(self.search, ours, documented_in_domains(self))
        return ours


def _compare(search: GroupSearch, ours: EvictionPlan | None, theirs: EvictionPlan | None) -> None:
    assert (ours is None) == (theirs is None), "room is found by one way of searching and not by the other"
    if ours is not None and theirs is not None:
        _costs.append((search.cost(ours), search.cost(theirs)))


@contextmanager
def compared() -> Iterator[list[tuple[Cost, Cost]]]:
    """Groups make room as usual; what it costs them is noted, and what it would cost by the document."""
    _costs.clear()
    with (
        patch.object(group_trial, "GroupSearch", _Compared),
        patch.object(group_trial, "DomainSearch", _ComparedDomains),
    ):
        yield _costs


def cost_of(victims: Sequence[Unit]) -> Cost:
    highest = max((priority for priority, _ in victims), default=-(2**31))
    total = sum((priority + 2**31) * pods for priority, pods in victims)
    return Cost(0, highest, total, sum(pods for _, pods in victims))


def least_cost(units: Sequence[Unit], suffices: Callable[[Sequence[int]], bool]) -> Cost | None:
    """Of all choices of these units that suffice; None if none does."""
    numbers = range(len(units))
    choices = (choice for size in range(len(units) + 1) for choice in combinations(numbers, size))
    costs = [cost_of([units[number] for number in choice]) for choice in choices if suffices(choice)]
    return min(costs, default=None)
