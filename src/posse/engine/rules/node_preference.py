"""Preferred node affinity: the weights of the preferred terms that a node matches, the best node getting full marks."""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.nodes.node_selectors import RowTest, term_test
from posse.engine.nodes.node_table import NodeTable
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.model.placement import PreferredSchedulingTerm

_FULL_MARKS = 100


class NodePreference:
    name = "NodeAffinity"

    def __init__(self, weight: int = 2, added: Sequence[PreferredSchedulingTerm] = ()) -> None:
        self.weight = weight
        self._added = added
        """Terms that every pod has besides its own."""

    def compile(
        self, scheduling_class: SchedulingClass, context: RuleContext
    ) -> "NodePreferenceScore | None":
        affinity = scheduling_class.pod_class.spec.affinity
        node_affinity = affinity.node_affinity if affinity is not None else None
        own = node_affinity.preferred_during_scheduling_ignored_during_execution if node_affinity else ()
        preferred = (*self._added, *own)
        terms = [
            (term_test(context.nodes, item.preference), item.weight) for item in preferred if item.weight
        ]
        return NodePreferenceScore(context.nodes, terms) if terms else None


class NodePreferenceScore:
    def __init__(self, nodes: NodeTable, terms: list[tuple[RowTest, int]]) -> None:
        self._nodes = nodes
        self._terms = terms

    def raw(self, rows: Rows) -> IntArray:
        weights = np.zeros(self._nodes.alive[rows].shape, dtype=np.int64)
        for matches, weight in self._terms:
            weights += weight * matches(rows)
        return weights

    def normalised(self, raw: IntArray, feasible: BoolArray) -> IntArray:
        most = int(raw[feasible].max())
        return raw * _FULL_MARKS // most if most > 0 else raw
