"""Taints with effect NoSchedule or NoExecute keep away pods that do not tolerate them.

Nodes share few distinct sets of taints, so the question is asked once per set and answered by its index.
"""

import numpy as np

from posse.engine.node_table import BoolArray, NodeTable, Rows
from posse.engine.pod_class import PodClass
from posse.engine.rules.static_filter import StaticFilter
from posse.engine.tolerations import tolerated
from posse.model.node import Taint

_REPELLING = frozenset({"NoSchedule", "NoExecute"})


class TaintToleration:
    name = "TaintToleration"

    def compile(self, pod_class: PodClass, nodes: NodeTable) -> StaticFilter:
        tolerations = pod_class.spec.tolerations
        answers: list[bool] = []

        def accepts(taints: tuple[Taint, ...]) -> bool:
            return all(t.effect not in _REPELLING or tolerated(t, tolerations) for t in taints)

        def passes(rows: Rows) -> BoolArray:
            answers.extend(accepts(taints) for taints in nodes.taint_sets[len(answers) :])
            return np.array(answers, dtype=np.bool_)[nodes.taint_set[rows]]

        return StaticFilter("node(s) had untolerated taint(s)", passes)
