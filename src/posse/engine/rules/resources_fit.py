"""A node must have room for every resource the pod requests, and a free pod slot."""

from collections.abc import Sequence

import numpy as np

from posse.engine.arrays import BoolArray, Rows
from posse.engine.node_table import NodeTable
from posse.engine.resources import PODS
from posse.engine.scene import Scene, Subject


class ResourcesFit:
    name = "NodeResourcesFit"

    def compile(self, subject: Subject, scene: Scene) -> "ResourcesFitFilter":
        return ResourcesFitFilter(subject.pod_class.limited, scene.nodes)


class ResourcesFitFilter:
    is_row_local = True

    def __init__(self, requests: Sequence[tuple[int, int]], nodes: NodeTable) -> None:
        self._requests = requests
        self._nodes = nodes

    def passes(self, rows: Rows) -> BoolArray:
        fits = self._nodes.alive[rows]
        for index, wanted in self._requests:
            free = self._nodes.allocatable[index, rows] - self._nodes.requested[index, rows]
            fits = fits & np.greater_equal(free, wanted)
        return fits

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        names = {index: name for name, index in self._nodes.resource_index.items()}
        return [
            (
                "Too many pods" if names[index] == PODS else f"Insufficient {names[index]}",
                np.less(self._nodes.allocatable[index, rows] - self._nodes.requested[index, rows], wanted),
            )
            for index, wanted in self._requests
        ]

    def hopeless(self, rows: Rows) -> BoolArray:
        never = np.zeros(self._nodes.alive[rows].shape, dtype=np.bool_)
        for index, wanted in self._requests:
            never |= np.less(self._nodes.allocatable[index, rows], wanted)
        return never
