"""How full a domain is: points from 0 to 100 for the used share of what all of its nodes offer together.

As kube-scheduler's NodeResourcesFit scores placements: the fuller the better, whatever its strategy for single nodes is.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.arrays import IntArray
from posse.engine.node_table import NodeTable
from posse.engine.pod_class import PodClass
from posse.engine.resources import CPU, MEMORY
from posse.engine.rules.resource_scores import MostAllocated, WeightedResource

_SLOTS = {CPU: 0, MEMORY: 1}
"""Lines of the table's `scoring_requested`: containers that request none of these count with a default."""
_STRATEGY = MostAllocated()


class Fullness:
    def __init__(self, nodes: NodeTable, resources: Sequence[WeightedResource]) -> None:
        self._nodes = nodes
        self._names = [resource.name for resource in resources]
        self._lines = [nodes.resource(name) for name in self._names]
        self._weights: IntArray = np.array([[resource.weight] for resource in resources], dtype=np.int64)

    def used(self) -> IntArray:
        """One line per resource, over all rows."""
        return np.array([self._used_line(name) for name in self._names])

    def capacity(self) -> IntArray:
        capacity: IntArray = self._nodes.allocatable[self._lines]
        return capacity

    def load(self, pod_class: PodClass) -> IntArray:
        """What one pod adds, as a column."""
        requests = dict(pod_class.requests)
        scoring = pod_class.load.scoring_requests
        added = [
            scoring[_SLOTS[name]] if name in _SLOTS else requests.get(line, 0)
            for name, line in zip(self._names, self._lines, strict=True)
        ]
        return np.array(added, dtype=np.int64)[:, None]

    def points(self, used: IntArray, capacity: IntArray) -> IntArray:
        """For sums over domains, or over the nodes of one."""
        points = _STRATEGY.points(used, capacity)
        counted = self._weights * _STRATEGY.counts(points, capacity)
        return _STRATEGY.average(np.add.reduce(counted * points), np.add.reduce(counted))

    def points_of(self, rows: IntArray) -> int:
        """Of the domain that these rows are, as it is now."""
        used = self.used()[:, rows].sum(axis=1, keepdims=True)
        capacity = self.capacity()[:, rows].sum(axis=1, keepdims=True)
        return int(self.points(used, capacity)[0])

    def _used_line(self, name: str) -> IntArray:
        slot = _SLOTS.get(name)
        line: IntArray = (
            self._nodes.requested[self._nodes.resource(name)]
            if slot is None
            else self._nodes.scoring_requested[slot]
        )
        return line
