"""Prefer nodes with the most room left, CPU and memory counting alike; integers as in kube-scheduler."""

import numpy as np

from posse.engine.arrays import IntArray, Rows
from posse.engine.node_table import NodeTable
from posse.engine.resources import CPU, MEMORY
from posse.engine.scene import Scene, Subject

_FULL_MARKS = 100


class LeastAllocated:
    name = "NodeResourcesFit"

    def __init__(self, weight: int = 1) -> None:
        self.weight = weight

    def compile(self, subject: Subject, scene: Scene) -> "LeastAllocatedScore":
        return LeastAllocatedScore(subject.pod_class.scoring, scene.nodes)


class LeastAllocatedScore:
    def __init__(self, scoring: tuple[int, int], nodes: NodeTable) -> None:
        self._scoring = scoring
        self._nodes = nodes

    def points(self, rows: Rows) -> IntArray:
        total: IntArray = np.zeros((), dtype=np.int64)
        offered: IntArray = np.zeros((), dtype=np.int64)
        for slot, resource in enumerate((CPU, MEMORY)):
            capacity = self._nodes.allocatable[self._nodes.resource_index[resource], rows]
            free = capacity - (self._nodes.scoring_requested[slot, rows] + self._scoring[slot])
            total = total + np.maximum(free, 0) * _FULL_MARKS // np.maximum(capacity, 1)
            offered = offered + (capacity > 0)
        return total // np.maximum(offered, 1)
