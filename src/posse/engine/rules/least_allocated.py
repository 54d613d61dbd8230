"""Prefer nodes with the most room left, CPU and memory counting alike; integers as in kube-scheduler."""

import numpy as np

from posse.engine.node_table import IntArray, NodeTable, Rows
from posse.engine.pod_class import PodClass
from posse.engine.resources import CPU, MEMORY

_FULL_MARKS = 100


class LeastAllocated:
    name = "NodeResourcesFit"
    weight = 1

    def compile(self, pod_class: PodClass, nodes: NodeTable) -> "LeastAllocatedScore":
        return LeastAllocatedScore(pod_class.scoring, nodes)


class LeastAllocatedScore:
    def __init__(self, scoring: tuple[int, int], nodes: NodeTable) -> None:
        self._scoring = scoring
        self._nodes = nodes

    def points(self, rows: Rows) -> IntArray:
        total = np.zeros(self._nodes.alive[rows].shape, dtype=np.int64)
        weights = np.zeros_like(total)
        for slot, resource in enumerate((CPU, MEMORY)):
            capacity = self._nodes.allocatable[self._nodes.resource_index[resource], rows]
            free = capacity - self._nodes.scoring_requested[slot, rows] - self._scoring[slot]
            total += np.maximum(free, 0) * _FULL_MARKS // np.maximum(capacity, 1)
            weights += np.greater(capacity, 0)
        return total // np.maximum(weights, 1)
