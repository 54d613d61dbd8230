"""Cordoned nodes take no pods, except those that tolerate the taint a cordon stands for."""

from posse.engine.arrays import BoolArray, Rows
from posse.engine.rules.static_filter import StaticFilter
from posse.engine.scene import Scene, Subject
from posse.engine.tolerations import CORDON, tolerated


class NodeUnschedulable:
    name = "NodeUnschedulable"

    def compile(self, subject: Subject, scene: Scene) -> StaticFilter | None:
        if tolerated(CORDON, subject.pod_class.spec.tolerations):
            return None

        def passes(rows: Rows) -> BoolArray:
            return ~scene.nodes.unschedulable[rows]

        return StaticFilter("node(s) were unschedulable", passes)
