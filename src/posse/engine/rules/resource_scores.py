"""Prefer nodes by how full the pod would make them: the emptiest, the fullest, or along a curve of one's own.

Integers as in kube-scheduler. CPU and memory count with defaults for containers that request none; a resource that only
some pods ask for counts for those alone; what a node does not offer is left out of its average.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows, pick
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.resources import CPU, MEMORY, Amounts, container_requests, is_scored
from posse.engine.rules.context import RuleContext, SchedulingClass

_FULL_MARKS = 100
_SLOTS = {CPU: 0, MEMORY: 1}
"""Lines of the table's `scoring_requested`, in the order of its other lines."""


@dataclass(frozen=True, slots=True)
class WeightedResource:
    name: str
    weight: int = 1


CPU_AND_MEMORY = (WeightedResource(CPU), WeightedResource(MEMORY))


class Strategy(Protocol):
    def points(self, used: IntArray, capacity: IntArray) -> IntArray:
        """From 0 to 100 for one resource; anything where the capacity is none."""
        ...

    def counts(self, points: IntArray, capacity: IntArray) -> BoolArray:
        """Where the resource takes part in the node's average."""
        ...

    def average(self, total: IntArray, weight: IntArray) -> IntArray:
        """Of weighted points, given the sum of weights, which may be none where the total is none."""
        ...


class LeastAllocated:
    def points(self, used: IntArray, capacity: IntArray) -> IntArray:
        free: IntArray = np.maximum(capacity - used, 0)
        return free * _FULL_MARKS // np.maximum(capacity, 1)

    def counts(self, _points: IntArray, capacity: IntArray) -> BoolArray:
        return np.greater(capacity, 0)

    def average(self, total: IntArray, weight: IntArray) -> IntArray:
        return total // np.maximum(weight, 1)


class MostAllocated:
    def points(self, used: IntArray, capacity: IntArray) -> IntArray:
        return np.minimum(used, capacity) * _FULL_MARKS // np.maximum(capacity, 1)

    def counts(self, _points: IntArray, capacity: IntArray) -> BoolArray:
        return np.greater(capacity, 0)

    def average(self, total: IntArray, weight: IntArray) -> IntArray:
        return total // np.maximum(weight, 1)


@dataclass(frozen=True, slots=True)
class ShapePoint:
    """Points from 0 to 100 at a utilization from 0 to 100."""

    utilization: int
    points: int


class RequestedToCapacityRatio:
    """Points follow a line through the shape, level before its first point and behind its last."""

    def __init__(self, shape: Sequence[ShapePoint]) -> None:
        self._curve = np.array([_on_curve(shape, percent) for percent in range(101)], dtype=np.int64)

    def points(self, used: IntArray, capacity: IntArray) -> IntArray:
        points: IntArray = self._curve[np.minimum(used, capacity) * 100 // np.maximum(capacity, 1)]
        return points

    def counts(self, points: IntArray, capacity: IntArray) -> BoolArray:
        """Without points a resource does not pull the average down; that is kube-scheduler's rule."""
        return np.greater(capacity, 0) & np.greater(points, 0)

    def average(self, total: IntArray, weight: IntArray) -> IntArray:
        """Halves are rounded up."""
        return (2 * total + weight) // np.maximum(2 * weight, 1)


LEAST_ALLOCATED = LeastAllocated()


class ResourceScores:
    name = "NodeResourcesFit"

    def __init__(
        self,
        weight: int = 1,
        strategy: Strategy = LEAST_ALLOCATED,
        resources: Sequence[WeightedResource] = CPU_AND_MEMORY,
    ) -> None:
        self.weight = weight
        self._strategy = strategy
        self._resources = resources

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "ResourceScore | None":
        wanted = container_requests(scheduling_class.pod_class.spec)
        counted = [
            resource for resource in self._resources if is_scored(resource.name, wanted.get(resource.name, 0))
        ]
        gauges = [Gauge(context.nodes, together, wanted) for together in _neighbours(counted)]
        return ResourceScore(gauges, self._strategy) if gauges else None


class ResourceScore:
    reads_resources_only = True

    def __init__(self, gauges: Sequence["Gauge"], strategy: Strategy) -> None:
        self._gauges = gauges
        self._strategy = strategy

    def points(self, rows: Rows) -> IntArray:
        total, weight = self._sums(self._gauges[0], rows)
        for gauge in self._gauges[1:]:
            more, heavier = self._sums(gauge, rows)
            total, weight = total + more, weight + heavier
        return self._strategy.average(total, weight)

    def _sums(self, gauge: "Gauge", rows: Rows) -> tuple[IntArray, IntArray]:
        """Weighted points and weights, over the lines of the gauge."""
        capacity = gauge.capacity(rows)
        points = self._strategy.points(gauge.used(rows), capacity)
        counted = gauge.weights * self._strategy.counts(points, capacity)
        return np.add.reduce(counted * points), np.add.reduce(counted)


class Gauge:
    """Resources that are neighbours in the node table, one line each, with the pod on top of what is used."""

    def __init__(self, nodes: NodeTable, resources: Sequence[WeightedResource], wanted: Amounts) -> None:
        self.weights = np.array([[resource.weight] for resource in resources])
        first = resources[0].name
        self._nodes = nodes
        self._lines = _lines(nodes.resource(first), len(resources))
        self._slots = _lines(_SLOTS[first], len(resources)) if first in _SLOTS else None
        self._wanted: IntArray = np.array([[wanted.get(resource.name, 0)] for resource in resources])

    def capacity(self, rows: Rows) -> IntArray:
        return pick(self._nodes.allocatable, self._lines, rows)

    def used(self, rows: Rows) -> IntArray:
        if self._slots is None:
            return pick(self._nodes.requested, self._lines, rows) + self._wanted
        return pick(self._nodes.scoring_requested, self._slots, rows) + self._wanted


def _neighbours(resources: Sequence[WeightedResource]) -> list[list[WeightedResource]]:
    """CPU and memory lie side by side and are nearly always asked for together; that halves the work."""
    together: list[list[WeightedResource]] = []
    for resource in resources:
        if resource.name == MEMORY and together and together[-1][-1].name == CPU:
            together[-1].append(resource)
        else:
            together.append([resource])
    return together


def _lines(first: int, number: int) -> slice:
    return slice(first, first + number)


def _on_curve(shape: Sequence[ShapePoint], percent: int) -> int:
    before = shape[0]
    for point in shape:
        if percent <= point.utilization:
            rise = (point.points - before.points) * (percent - before.utilization)
            # Towards zero, as integers divide in Go, also where the line falls.
            return before.points + int(rise / max(point.utilization - before.utilization, 1))
        before = point
    return before.points
