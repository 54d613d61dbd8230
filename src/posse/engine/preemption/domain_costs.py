"""Lower bound on the eviction cost in a domain, by resources alone.

It is quicker than a search, and never above its result. Every pod counts by itself, even if it is evicted
only together with others, and budgets are ignored.
"""

from collections.abc import Sequence
from itertools import accumulate

from posse.engine.groups.part import Part
from posse.engine.nodes.arrays import IntArray
from posse.engine.placement.gang.proof import missing
from posse.engine.placement.search.fill import classes_of
from posse.engine.preemption.cost import Cost
from posse.engine.preemption.group_search import GroupSearch
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord

_LOWEST = -(2**31)


class LeastCosts:
    def __init__(self, search: GroupSearch, group: Part) -> None:
        self._search = search
        self._state = search.state
        self._needed = _needed(search.state, group)

    def within(self, rows: IntArray) -> Cost:
        names = [self._state.nodes.names[row] for row in rows.tolist()]
        there = [record for name in names for record in self._state.pods_on(name)]
        lesser = [r for r in there if not r.is_ending and r.effective_priority < self._search.priority]
        count = max([self._fewest(index, rows, there, lesser) for index in self._needed], default=0)
        lowest = sorted(record.effective_priority for record in lesser)[:count]
        total = sum(lowest) - _LOWEST * len(lowest)
        return Cost(0, lowest[-1] if lowest else _LOWEST, total, len(lowest))

    def _fewest(
        self, index: int, rows: IntArray, there: Sequence[PodRecord], lesser: Sequence[PodRecord]
    ) -> int:
        """The fewest pods that must leave to free enough of a resource, the largest first."""
        nodes = self._state.nodes
        free = int((nodes.allocatable[index, rows] - nodes.requested[index, rows]).clip(min=0).sum())
        free += sum(_amount(record, index) for record in there if record.is_ending)
        largest = sorted((_amount(record, index) for record in lesser), reverse=True)
        freed = accumulate(largest, initial=free)
        return sum(1 for amount in freed if amount < self._needed[index])


def _needed(state: ClusterState, group: Part) -> dict[int, int]:
    """Total requests of the members that must start, each counted as the smallest, by resource."""
    wanted = [
        dict(scheduling_class.pod_class.limited)
        for scheduling_class, _ in classes_of(state, group.unattached())
    ]
    shared = [index for index in wanted[0] if all(index in one for one in wanted)]
    return {index: missing(group) * min(one[index] for one in wanted) for index in shared}


def _amount(record: PodRecord, index: int) -> int:
    return dict(record.pod_class.requests).get(index, 0)
