"""A node has each of its ports once."""

from collections.abc import Sequence

import numpy as np

from posse.engine.arrays import BoolArray, Rows
from posse.engine.host_ports import HostPort
from posse.engine.scene import Scene, Subject


class NodePorts:
    name = "NodePorts"

    def compile(self, subject: Subject, scene: Scene) -> "PortsFilter | None":
        wanted = subject.pod_class.ports
        return PortsFilter(wanted, scene) if wanted else None


class PortsFilter:
    is_row_local = True
    is_orderless = True
    reads_census_only = True

    def __init__(self, wanted: Sequence[HostPort], scene: Scene) -> None:
        self._wanted = wanted
        self._scene = scene

    def passes(self, rows: Rows) -> BoolArray:
        free = np.ones(self._scene.nodes.alive[rows].shape, dtype=np.bool_)
        for taken, column in self._scene.census.ports():
            if any(taken.clashes(port) for port in self._wanted):
                free &= np.equal(column.counts[rows], 0)
        return free

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        return (("node(s) didn't have free ports for the requested pod ports", ~self.passes(rows)),)

    def hopeless(self, rows: Rows) -> BoolArray:
        return np.zeros(self._scene.nodes.alive[rows].shape, dtype=np.bool_)
