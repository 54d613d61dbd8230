"""Resources: nodes with enough capacity for a pod, and scores for the resulting utilization.

Scores are integers as in kube-scheduler. CPU and memory count with defaults for containers that request none;
a resource that only some pods request counts for those alone; a resource that a node lacks is left out of its
average. The balance of resources is computed in floats, in the order of kube-scheduler's, so that the
integers agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posse.engine.nodes.arrays import BoolArray, FloatArray, IntArray, Lines, Rows
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.resources import CPU, MEMORY, PODS, Amounts, container_requests, is_scored
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
        self._lines = _lines_at(self._resources)
        # A column, so that one comparison covers all resources and rows.
        self._wanted = np.array([[wanted] for _, wanted in requests])

    def passes(self, rows: Rows) -> BoolArray:
        free = _pick(self._nodes.allocatable, self._lines, rows) - _pick(
            self._nodes.requested, self._lines, rows
        )
        enough: BoolArray = np.logical_and.reduce(free >= self._wanted)
        return enough

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        names = self._nodes.resource_names
        return [
            ("Too many pods" if names[index] == PODS else f"Insufficient {names[index]}", lacking)
            for index, lacking in zip(self._resources, self._lacking(rows), strict=True)
        ]

    def unresolvable(self, rows: Rows) -> BoolArray:
        offered = _pick(self._nodes.allocatable, self._lines, rows)
        never: BoolArray = np.any(offered < self._wanted, axis=0)
        return never

    def _lacking(self, rows: Rows) -> BoolArray:
        """One line per requested resource: the rows that have too little of it."""
        offered = _pick(self._nodes.allocatable, self._lines, rows)
        lacking: BoolArray = offered - _pick(self._nodes.requested, self._lines, rows) < self._wanted
        return lacking


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
        """From 0 to 100 for one resource; undefined where the capacity is 0."""
        ...

    def counts(self, points: IntArray, capacity: IntArray) -> BoolArray:
        """Where the resource is part of the node's average."""
        ...

    def average(self, total: IntArray, weight: IntArray) -> IntArray:
        """Average of weighted points, given the sum of weights, which may be 0 where the total is 0."""
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
    """Points follow a line through the shape, constant before its first point and after its last."""

    def __init__(self, shape: Sequence[ShapePoint]) -> None:
        self._curve = np.array([_on_curve(shape, percent) for percent in range(101)], dtype=np.int64)

    def points(self, used: IntArray, capacity: IntArray) -> IntArray:
        points: IntArray = self._curve[np.minimum(used, capacity) * 100 // np.maximum(capacity, 1)]
        return points

    def counts(self, points: IntArray, capacity: IntArray) -> BoolArray:
        """Without points a resource does not lower the average, as in kube-scheduler."""
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
    """Resources that are adjacent in the node table, one line each, including the pod's requests."""

    def __init__(self, nodes: NodeTable, resources: Sequence[WeightedResource], wanted: Amounts) -> None:
        self.weights = np.array([[resource.weight] for resource in resources])
        first = resources[0].name
        self._nodes = nodes
        self._lines = _lines(nodes.resource(first), len(resources))
        self._slots = _lines(_SLOTS[first], len(resources)) if first in _SLOTS else None
        self._wanted: IntArray = np.array([[wanted.get(resource.name, 0)] for resource in resources])

    def capacity(self, rows: Rows) -> IntArray:
        return _pick(self._nodes.allocatable, self._lines, rows)

    def used(self, rows: Rows) -> IntArray:
        if self._slots is None:
            return _pick(self._nodes.requested, self._lines, rows) + self._wanted
        return _pick(self._nodes.scoring_requested, self._slots, rows) + self._wanted


def _neighbours(resources: Sequence[WeightedResource]) -> list[list[WeightedResource]]:
    """CPU and memory are adjacent and nearly always requested together; that halves the work."""
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


_FULL_MARKS = 100


class BalancedAllocation:
    name = "NodeResourcesBalancedAllocation"

    def __init__(self, weight: int = 1, resources: tuple[str, ...] = (CPU, MEMORY)) -> None:
        self.weight = weight
        self._resources = resources

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "BalanceScore | None":
        requests = dict(scheduling_class.pod_class.requests)
        named = [(name, context.nodes.resource(name)) for name in self._resources]
        wanted = [
            (index, requests.get(index, 0))
            for name, index in named
            if is_scored(name, requests.get(index, 0))
        ]
        if not any(amount for _, amount in wanted):
            return None
        return BalanceScore(context.nodes, wanted)


class BalanceScore:
    reads_resources_only = True

    def __init__(self, nodes: NodeTable, wanted: Sequence[tuple[int, int]]) -> None:
        self._nodes = nodes
        self._lines = _lines_at([index for index, _ in wanted])
        # With the pod and without it, side by side, so that every step runs once for both.
        self._wanted = np.array([[[amount], [0]] for _, amount in wanted])

    def points(self, rows: Rows) -> IntArray:
        capacity = _pick(self._nodes.allocatable, self._lines, rows)
        used = _pick(self._nodes.requested, self._lines, rows)
        fractions = (used[:, None] + self._wanted) / np.maximum(capacity, 1)[:, None]
        balance = _balance(np.minimum(fractions, 1.0), capacity > 0)
        half = _FULL_MARKS // 2
        points: IntArray = half + (half + balance[0] - balance[1]) // 2
        return points


def _balance(fractions: FloatArray, offered: BoolArray) -> IntArray:
    """From 100 for evenly used resources down to 50."""
    deviation = (
        _half_difference(fractions, offered)
        if len(fractions) == 2
        else _deviation(fractions, offered[:, None])
    )
    balance: IntArray = ((1 - deviation) * _FULL_MARKS).astype(np.int64)
    return balance


def _half_difference(fractions: FloatArray, offered: BoolArray) -> FloatArray:
    """The standard deviation of two numbers; 0 with only one of them."""
    difference: FloatArray = np.abs((fractions[0] - fractions[1]) / 2) * (offered[0] & offered[1])
    return difference


def _deviation(fractions: FloatArray, offered: BoolArray) -> FloatArray:
    """Over the resources that a node offers; the others are ignored there."""
    number = np.maximum(offered.sum(axis=0), 1)
    mean = (fractions * offered).sum(axis=0) / number
    deviation: FloatArray = np.sqrt((((fractions - mean) ** 2) * offered).sum(axis=0) / number)
    # For two numbers it is computed in another way, and differs in the last bit.
    span: FloatArray = np.where(offered, fractions, 0.0).max(axis=0) - np.where(offered, fractions, 1.0).min(
        axis=0
    )
    return np.where(np.equal(number, 2), span / 2, deviation)


def _lines_at(indexes: Sequence[int]) -> Lines:
    """Lines of a table to `_pick`: a slice where they are adjacent, which is much faster to read."""
    if list(indexes) == list(range(indexes[0], indexes[0] + len(indexes))):
        return slice(indexes[0], indexes[0] + len(indexes))
    return np.array(indexes, dtype=np.int64)


def _pick(table: IntArray, lines: Lines, rows: Rows) -> IntArray:
    """Some lines of a table, at some rows only."""
    if isinstance(rows, slice):
        picked: IntArray = table[lines, rows]
    else:
        picked = (
            table[lines].take(rows, axis=1) if isinstance(lines, slice) else table.take(rows, axis=1)[lines]
        )
    return picked
