"""Extended resources that some nodes offer themselves, through a device plugin: there a pod needs no devices.

On every node the pod needs devices for those resources that the node lacks.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from posse.engine.devices.needs import DeviceNeeds
from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.nodes.node_table import NodeTable

Cell = TypeVar("Cell", np.bool_, np.int64)


class PluginNodes:
    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes

    def sample(self, needs: DeviceNeeds) -> list[int]:
        """One row for each set of extended resources that nodes lack."""
        lacking = np.array([self._lacks(name) for name, _ in needs.extended_amounts])
        _, first = np.unique(lacking, axis=1, return_index=True)
        rows: list[int] = first.tolist()
        return rows

    def _lacks(self, resource: str) -> BoolArray:
        line = self._nodes.resource_index.get(resource)
        if line is None:
            return np.ones(self._nodes.alive.size, dtype=np.bool_)
        lacks: BoolArray = np.equal(self._nodes.allocatable[line], 0)
        return lacks

    def needs_on(self, needs: DeviceNeeds, row: int) -> DeviceNeeds:
        """The needs on one row: without the extended resources that it offers itself."""
        if not needs.extended:
            return needs
        lacking = tuple(name for name, _ in needs.extended_amounts if self._lacks(name)[row])
        return needs.lacking(lacking)

    def spread(
        self,
        needs: DeviceNeeds,
        rows: Rows,
        ask: Callable[[DeviceNeeds, Rows], NDArray[Cell]],
        kind: type[Cell],
    ) -> NDArray[Cell]:
        """Ask for the rows of each set of extended resources that nodes lack."""
        numbers = np.arange(self._nodes.alive.size)[rows]
        found = np.zeros(numbers.shape, dtype=kind)
        lacking = np.array([self._lacks(name)[rows] for name, _ in needs.extended_amounts])
        groups, which = np.unique(lacking, axis=1, return_inverse=True)
        names = [name for name, _ in needs.extended_amounts]
        for number in range(groups.shape[1]):
            there = np.flatnonzero(which.ravel() == number)
            some = tuple(
                name for name, is_lacking in zip(names, groups[:, number], strict=True) if is_lacking
            )
            found[there] = ask(needs.lacking(some), numbers[there])
        return found

    def has_resources(self, needs: DeviceNeeds, rows: Rows) -> BoolArray:
        """Rows that have enough left of those extended resources that they offer themselves."""
        nodes = self._nodes
        enough = nodes.alive[rows]
        for name, wanted in needs.extended_amounts:
            line = nodes.resource_index.get(name)
            if line is not None:
                free = nodes.allocatable[line][rows] - nodes.requested[line][rows]
                enough = enough & (self._lacks(name)[rows] | (free >= wanted))
        return enough
