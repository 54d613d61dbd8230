"""Taints: cordoned nodes and nodes whose taints a pod does not tolerate are refused, or avoided."""

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.nodes.node_selectors import CORDON, accepted_taints_test, tolerated
from posse.engine.nodes.node_table import NodeTable
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.contract import StaticFilter
from posse.model.node import Taint
from posse.model.placement import Toleration


class NodeUnschedulable:
    name = "NodeUnschedulable"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> StaticFilter | None:
        if tolerated(CORDON, scheduling_class.pod_class.spec.tolerations):
            return None

        def passes(rows: Rows) -> BoolArray:
            return ~context.nodes.unschedulable[rows]

        return StaticFilter("node(s) were unschedulable", passes)


class TaintToleration:
    name = "TaintToleration"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> StaticFilter:
        test = accepted_taints_test(context.nodes, scheduling_class.pod_class.spec.tolerations)
        return StaticFilter("node(s) had untolerated taint(s)", test)


_FULL_MARKS = 100


class TaintPreference:
    name = "TaintToleration"

    def __init__(self, weight: int = 3) -> None:
        self.weight = weight

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "TaintPreferenceScore":
        # A toleration of another effect says nothing about PreferNoSchedule.
        tolerations = [
            t for t in scheduling_class.pod_class.spec.tolerations if t.effect in {"", "PreferNoSchedule"}
        ]
        return TaintPreferenceScore(context.nodes, tolerations)


class TaintPreferenceScore:
    def __init__(self, nodes: NodeTable, tolerations: list[Toleration]) -> None:
        self._nodes = nodes
        self._tolerations = tolerations
        self._counts: list[int] = []

    def raw(self, rows: Rows) -> IntArray:
        self._counts.extend(self._count(taints) for taints in self._nodes.taint_sets[len(self._counts) :])
        sets = self._nodes.taint_set[rows]
        if not any(self._counts):
            return np.zeros(sets.shape, dtype=np.int64)
        counted: IntArray = np.array(self._counts, dtype=np.int64)[sets]
        return counted

    def normalised(self, raw: IntArray, feasible: BoolArray) -> IntArray:
        most = int(raw[feasible].max())
        return _FULL_MARKS - raw * _FULL_MARKS // most if most > 0 else np.full_like(raw, _FULL_MARKS)

    def _count(self, taints: tuple[Taint, ...]) -> int:
        return sum(
            1 for t in taints if t.effect == "PreferNoSchedule" and not tolerated(t, self._tolerations)
        )
