"""How large an entry of the queue is, beside the nodes of the cluster."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from posse.engine.nodes.arrays import FloatArray
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.pod_record import PodRecord


class EntrySize(NamedTuple):
    nodes: float
    """How many nodes it fills, by the resource of which each pod takes most of the largest node."""
    share: float
    """Of the whole cluster, by the resource of which it takes most."""


class EntrySizes:
    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._version = -1
        self._largest: FloatArray = np.zeros(0)
        """Of each resource, what the largest node has."""
        self._total: FloatArray = np.zeros(0)

    def of(self, records: Iterable[PodRecord]) -> EntrySize:
        self._renew()
        nodes = 0.0
        amounts: dict[int, int] = {}
        for record in records:
            requests = record.pod_class.limited
            nodes += max((amount / self._largest[index] for index, amount in requests), default=0.0)
            for index, amount in requests:
                amounts[index] = amounts.get(index, 0) + amount
        share = max((amount / self._total[index] for index, amount in amounts.items()), default=0.0)
        return EntrySize(float(nodes), float(share))

    def _renew(self) -> None:
        """Read all nodes, if any has changed. What no node has counts as one unit."""
        nodes = self._state.nodes
        if self._version == nodes.description_version and len(self._largest) == len(nodes.allocatable):
            return
        self._version = nodes.description_version
        self._largest = np.maximum(nodes.allocatable.max(axis=1), 1).astype(np.float64)
        self._total = np.maximum(nodes.allocatable.sum(axis=1), 1).astype(np.float64)
