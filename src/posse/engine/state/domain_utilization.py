"""Utilization of domains: points from 0 to 100 for the used share of a domain's total capacity.

As kube-scheduler's NodeResourcesFit scores placements: the fuller the better, whatever its strategy for
single nodes.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import IntArray
from posse.engine.nodes.domain_sums import DomainSums
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.resources import CPU, MEMORY
from posse.engine.nodes.topology_domains import Domains
from posse.engine.pods.pod_class import PodClass
from posse.engine.rules.resources import MostAllocated, WeightedResource

_SLOTS = {CPU: 0, MEMORY: 1}
"""Lines of the table's `scoring_requested`: containers that request none of these count with a default."""
_STRATEGY = MostAllocated()


class DomainUtilization:
    def __init__(self, nodes: NodeTable, domains: Domains, resources: Sequence[WeightedResource]) -> None:
        self.domains = domains
        self._nodes = nodes
        self._resources = [(_SLOTS.get(one.name), nodes.resource(one.name)) for one in resources]
        self._weights: IntArray = np.array([[one.weight] for one in resources], dtype=np.int64)
        lines = [line for _, line in self._resources]
        self._capacity = domains.sums(nodes.allocatable[lines][:, domains.members])
        self._used = DomainSums(nodes, domains)

    def used(self) -> IntArray:
        """One line per resource, one column per domain."""
        return self._used.present(self._used_on)

    def load(self, pod_class: PodClass) -> IntArray:
        """Requests of one pod, as a column."""
        requests, scoring = dict(pod_class.requests), pod_class.load.scoring_requests
        added = [requests.get(line, 0) if slot is None else scoring[slot] for slot, line in self._resources]
        return np.array(added, dtype=np.int64)[:, None]

    def points(self, used: IntArray) -> IntArray:
        """Points of every domain for this usage."""
        points = _STRATEGY.points(used, self._capacity)
        counted = self._weights * _STRATEGY.counts(points, self._capacity)
        return _STRATEGY.average(np.add.reduce(counted * points), np.add.reduce(counted))

    def points_of(self, number: int) -> int:
        """Points of one domain as it is now."""
        return int(self.points(self.used())[number])

    def _used_on(self, rows: IntArray) -> IntArray:
        table, scoring = self._nodes.requested, self._nodes.scoring_requested
        return np.array(
            [table[line, rows] if slot is None else scoring[slot, rows] for slot, line in self._resources]
        )
