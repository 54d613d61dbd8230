"""Cordoned nodes take no pods, except those that tolerate the taint a cordon stands for."""

from posse.engine.node_table import BoolArray, NodeTable, Rows
from posse.engine.pod_class import PodClass
from posse.engine.rules.static_filter import StaticFilter
from posse.engine.tolerations import tolerated
from posse.model.node import Taint

_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


class NodeUnschedulable:
    name = "NodeUnschedulable"

    def compile(self, pod_class: PodClass, nodes: NodeTable) -> StaticFilter | None:
        if tolerated(_CORDON, pod_class.spec.tolerations):
            return None

        def passes(rows: Rows) -> BoolArray:
            return ~nodes.unschedulable[rows]

        return StaticFilter("node(s) were unschedulable", passes)
