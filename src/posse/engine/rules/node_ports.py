"""A node has each of its ports once."""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.pods.host_ports import HostPort
from posse.engine.rules.context import RuleContext, SchedulingClass


class NodePorts:
    name = "NodePorts"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "PortsFilter | None":
        wanted = scheduling_class.pod_class.ports
        return PortsFilter(wanted, context) if wanted else None


class PortsFilter:
    is_row_local = True
    is_orderless = True
    reads_census_only = True

    def __init__(self, wanted: Sequence[HostPort], context: RuleContext) -> None:
        self._wanted = wanted
        self._context = context

    def passes(self, rows: Rows) -> BoolArray:
        free = np.ones(self._context.nodes.alive[rows].shape, dtype=np.bool_)
        for taken, column in self._context.census.ports():
            if any(taken.clashes(port) for port in self._wanted):
                free &= np.equal(column.counts[rows], 0)
        return free

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        return (("node(s) didn't have free ports for the requested pod ports", ~self.passes(rows)),)

    def hopeless(self, rows: Rows) -> BoolArray:
        return np.zeros(self._context.nodes.alive[rows].shape, dtype=np.bool_)
