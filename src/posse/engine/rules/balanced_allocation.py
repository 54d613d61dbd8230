"""Prefer nodes whose resources become, or stay, evenly used: CPU and memory by what pods really request.

Float arithmetic in the order of kube-scheduler's, so that the integers that come out are the same.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, FloatArray, IntArray, Rows, lines_at, pick
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.resources import CPU, MEMORY, is_scored
from posse.engine.rules.context import RuleContext, SchedulingClass

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
        self._lines = lines_at([index for index, _ in wanted])
        # With the pod and without it, side by side, so that every step is taken once for both.
        self._wanted = np.array([[[amount], [0]] for _, amount in wanted])

    def points(self, rows: Rows) -> IntArray:
        capacity = pick(self._nodes.allocatable, self._lines, rows)
        used = pick(self._nodes.requested, self._lines, rows)
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
    """What the standard deviation of two numbers comes to; with only one of them there is nothing to compare."""
    difference: FloatArray = np.abs((fractions[0] - fractions[1]) / 2) * (offered[0] & offered[1])
    return difference


def _deviation(fractions: FloatArray, offered: BoolArray) -> FloatArray:
    """Over the resources that a node offers; the others are left out there."""
    number = np.maximum(offered.sum(axis=0), 1)
    mean = (fractions * offered).sum(axis=0) / number
    deviation: FloatArray = np.sqrt((((fractions - mean) ** 2) * offered).sum(axis=0) / number)
    # Of two numbers it is worked out in another way, and differs in the last bit.
    span: FloatArray = np.where(offered, fractions, 0.0).max(axis=0) - np.where(offered, fractions, 1.0).min(
        axis=0
    )
    return np.where(np.equal(number, 2), span / 2, deviation)
