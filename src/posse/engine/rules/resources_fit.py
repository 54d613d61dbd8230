"""A node must have room for every resource the pod requests, and a free pod slot."""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, Rows, lines_at, pick
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.resources import PODS
from posse.engine.rules.context import RuleContext, SchedulingClass


class ResourcesFit:
    name = "NodeResourcesFit"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "ResourcesFitFilter":
        return ResourcesFitFilter(scheduling_class.pod_class.limited, context.nodes)


class ResourcesFitFilter:
    is_row_local = True
    reads_resources_only = True

    def __init__(self, requests: Sequence[tuple[int, int]], nodes: NodeTable) -> None:
        self._nodes = nodes
        self._resources = [index for index, _ in requests]
        self._lines = lines_at(self._resources)
        # A column, so that one comparison covers all resources and all rows asked for.
        self._wanted = np.array([[wanted] for _, wanted in requests])

    def passes(self, rows: Rows) -> BoolArray:
        lacking: BoolArray = np.logical_or.reduce(self._lacking(rows))
        return ~lacking

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        names = {index: name for name, index in self._nodes.resource_index.items()}
        return [
            ("Too many pods" if names[index] == PODS else f"Insufficient {names[index]}", lacking)
            for index, lacking in zip(self._resources, self._lacking(rows), strict=True)
        ]

    def hopeless(self, rows: Rows) -> BoolArray:
        offered = pick(self._nodes.allocatable, self._lines, rows)
        never: BoolArray = np.any(offered < self._wanted, axis=0)
        return never

    def _lacking(self, rows: Rows) -> BoolArray:
        """One line per requested resource: the rows that have too little of it."""
        offered = pick(self._nodes.allocatable, self._lines, rows)
        lacking: BoolArray = offered - pick(self._nodes.requested, self._lines, rows) < self._wanted
        return lacking
