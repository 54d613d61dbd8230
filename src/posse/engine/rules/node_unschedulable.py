"""Cordoned nodes take no pods, except those that tolerate the taint a cordon stands for."""

from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.nodes.tolerations import CORDON, tolerated
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.static_filter import StaticFilter


class NodeUnschedulable:
    name = "NodeUnschedulable"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> StaticFilter | None:
        if tolerated(CORDON, scheduling_class.pod_class.spec.tolerations):
            return None

        def passes(rows: Rows) -> BoolArray:
            return ~context.nodes.unschedulable[rows]

        return StaticFilter("node(s) were unschedulable", passes)
