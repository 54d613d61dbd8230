"""Which taints a pod's tolerations cover.

Nodes share few distinct sets of taints, so a question is asked once per set and answered by its index.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.nodes.node_selectors import RowTest
from posse.engine.nodes.node_table import NodeTable
from posse.model.node import Taint
from posse.model.placement import Toleration

CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
"""What a cordon stands for."""

_REPELLING = frozenset({"NoSchedule", "NoExecute"})


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    return any(_covers(toleration, taint) for toleration in tolerations)


def _covers(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in {"", "Equal"} and toleration.value == taint.value


def repels(taint: Taint, tolerations: Sequence[Toleration]) -> bool:
    """Whether the taint keeps newcomers away that tolerate no more than this."""
    return taint.effect in _REPELLING and not tolerated(taint, tolerations)


def accepted_taints_test(nodes: NodeTable, tolerations: tuple[Toleration, ...]) -> RowTest:
    """Nodes without any taint that keeps such a pod away."""
    answers: list[bool] = []

    def accepts(taints: tuple[Taint, ...]) -> bool:
        return not any(repels(taint, tolerations) for taint in taints)

    def passes(rows: Rows) -> BoolArray:
        answers.extend(accepts(taints) for taints in nodes.taint_sets[len(answers) :])
        return np.array(answers, dtype=np.bool_)[nodes.taint_set[rows]]

    return passes
