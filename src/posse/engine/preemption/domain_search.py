"""Victims for a group that must be in one domain: domain and victims are chosen together, at the lowest cost.

Domains are searched one by one: first those where evicting the lowest priorities may suffice, then those with
most free capacity. After a number of them, only some of those that may cost less are searched. Costs are
compared as between nodes for a single pod: budgets overdrawn, the highest priority, the sum of priorities,
pods, including group members that run elsewhere. Ties go to the domain that suits the group better.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from posse.engine.groups.part import Part
from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.topology_domains import Domains
from posse.engine.placement.gang.domain_bounds import bounds
from posse.engine.placement.gang.domain_pin import pin_of
from posse.engine.placement.gang.exhaustive import Steps
from posse.engine.placement.gang.proof import missing
from posse.engine.placement.search.fill import classes_of
from posse.engine.preemption.cost import Cost
from posse.engine.preemption.domain_costs import LeastCosts
from posse.engine.preemption.group_search import EvictionPlan, GroupSearch
from posse.engine.rules.context import SchedulingClass
from posse.engine.rules.profile import DomainScoring
from posse.engine.state.domain_utilization import DomainUtilization

_MAX_EQUALS = 12
"""Domains searched although they may cost as much as another.

The one that suits the group better is taken.
"""
_MAX_OTHERS = 36
"""Domains searched because they may cost less; the rest of the queue waits meanwhile."""
_MAX_THOROUGH = 3
"""Domains in which other placements are tried to spare more victims."""
_IMPOSSIBLE = np.iinfo(np.int64).max
_FULL_MARKS = 100


@dataclass(frozen=True, slots=True)
class _Found:
    number: int
    room: EvictionPlan
    cost: Cost
    points: int
    """Utilization points of the domain with all pods of lower priority gone."""

    def order(self, most: int, count_weight: int, fullness_weight: int) -> tuple[Cost, int, int]:
        share = count_weight * (len(self.room.places) * _FULL_MARKS // most)
        return self.cost, -(share + fullness_weight * self.points), self.number


@dataclass(frozen=True, slots=True)
class DomainSearch:
    search: GroupSearch
    """The search over the whole cluster."""
    group: Part

    def find(self) -> EvictionPlan | None:
        room = self.search.without_victims()
        return room if room is not None else self._with_victims()

    def find_quickly(self) -> EvictionPlan | None:
        """The first that is found, in few domains, whether or not others cost less."""
        utilization = self._fullness()
        levels = self._levels(utilization.domains)
        possible = [one for one in self._numbers(utilization.domains, levels) if levels[one] != _IMPOSSIBLE]
        for number in possible[:_MAX_EQUALS]:
            for found in self._search_in(utilization, number, thorough=False):
                return found.room
        return None

    def _with_victims(self) -> EvictionPlan | None:
        utilization = self._fullness()
        levels = self._levels(utilization.domains)
        numbers = self._numbers(utilization.domains, levels)
        found: list[_Found] = []
        for number in numbers[:_MAX_EQUALS]:
            if _is_too_dear(int(levels[number]), found):
                break
            found += self._search_in(utilization, number, thorough=False)
        others = [one for one in numbers[_MAX_EQUALS:] if not _is_too_dear(int(levels[one]), found)]
        found += self._cheaper(utilization, [one for one in others if levels[one] != _IMPOSSIBLE], found)
        closest = self._in_order(found)[:_MAX_THOROUGH]
        likely = [rough.number for rough in closest] or numbers[:_MAX_THOROUGH]
        better = [one for number in likely for one in self._search_in(utilization, number, thorough=True)]
        ordered = self._in_order([*better, *closest])
        return ordered[0].room if ordered else None

    def _cheaper(
        self, utilization: DomainUtilization, numbers: Sequence[int], found: Sequence[_Found]
    ) -> list[_Found]:
        """Of the other domains, those that may cost less than all before, the most promising first."""
        least = min((one.cost for one in found), default=None)
        costs = LeastCosts(self.search, self.group)
        bounds = sorted((costs.within(utilization.domains.rows(number)), number) for number in numbers)
        better: list[_Found] = []
        for bound, number in bounds[:_MAX_OTHERS]:
            if least is not None and bound >= least:
                break
            for one in self._search_in(utilization, number, thorough=False):
                better.append(one)
                least = one.cost if least is None else min(least, one.cost)
        return better

    def _numbers(self, domains: Domains, levels: IntArray) -> list[int]:
        """Numbers of the domains the group may use, the least costly first."""
        state, waiting = self.search.state, self.group.unattached()
        pinned = pin_of(state, self.group).value
        free = bounds(state, self.group.topology_key, classes_of(state, waiting)).counts
        ordered: list[int] = np.lexsort((-free, levels)).tolist()
        return [number for number in ordered if pinned in {None, domains.values[number]}]

    def _search_in(self, utilization: DomainUtilization, number: int, *, thorough: bool) -> list[_Found]:
        state, rows = self.search.state, utilization.domains.rows(number)
        with state.confined(rows):
            # Only heuristics, as long as it is not known which domains deserve more steps.
            steps = self.search.steps if thorough else Steps(0)
            here = replace(self.search, rows=rows, steps=steps)
            room = here.find() if thorough else here.find_quickly()
        if room is None:
            return []
        return [_Found(number, room, here.cost(room), self._points(utilization, number, room))]

    def _in_order(self, found: list[_Found]) -> list[_Found]:
        most = max((len(one.room.places) for one in found), default=1)
        scoring = self._scoring()
        return sorted(found, key=lambda one: one.order(most, scoring.count_weight, scoring.fullness_weight))

    def _fullness(self) -> DomainUtilization:
        state = self.search.state
        return state.utilization(state.domains(self.group.topology_key), self._scoring().resources)

    def _scoring(self) -> DomainScoring:
        return self.search.state.profile(self.group.unattached()[0].pod_class).domain_scoring

    def _points(self, utilization: DomainUtilization, number: int, room: EvictionPlan) -> int:
        """Utilization points with the members there and lower priorities gone, as in kube-scheduler."""
        state, used = self.search.state, utilization.used().copy()
        for row in utilization.domains.rows(number).tolist():
            for record in state.pods_on(state.nodes.names[row]):
                if record.effective_priority < self.search.priority:
                    used[:, number] -= utilization.load(record.pod_class)[:, 0]
        for record, _ in room.places:
            used[:, number] += utilization.load(record.pod_class)[:, 0]
        return int(utilization.points(used)[number])

    def _levels(self, domains: Domains) -> IntArray:
        """By domain: the lowest priority up to which evicting may suffice, by resources alone."""
        state = self.search.state
        classes = classes_of(state, self.group.unattached())
        levels = np.full(len(domains), _IMPOSSIBLE, dtype=np.int64)
        ending = [(record, record.node) for record in state.attached_records() if record.is_ending]
        # Terminating pods leave at no cost, whatever their priority.
        freed = state.usage_of(ending).requested
        for priority in state.usage.priorities():
            if priority >= self.search.priority:
                break
            gone = state.usage_of(one for one in ending if one[0].effective_priority == priority).requested
            freed += state.usage.requested(priority) - gone
            room = sum(self._room(domains, one, len(records), freed) for one, records in classes)
            levels[np.greater_equal(room, missing(self.group)) & (levels == _IMPOSSIBLE)] = priority
        return levels

    def _room(
        self, domains: Domains, scheduling_class: SchedulingClass, number: int, freed: IntArray
    ) -> IntArray:
        state, rows = self.search.state, domains.members
        room = np.where(state.capacity(scheduling_class).resolvable()[rows], number, 0)
        for index, wanted in scheduling_class.pod_class.limited:
            free = state.nodes.allocatable[index, rows] - state.nodes.requested[index, rows]
            np.minimum(room, (free + freed[index, rows]) // wanted, out=room)
        return np.minimum(domains.sums(np.maximum(room, 0)), number)


def _is_too_dear(level: int, found: Sequence[_Found]) -> bool:
    """Whether evicting there certainly costs more than a choice already found that violates no budget."""
    return any(one.cost[0] == 0 and one.cost[1] < level for one in found)
