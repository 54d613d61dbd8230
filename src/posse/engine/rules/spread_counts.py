"""Counting pods per domain for one spread constraint: which nodes take part, and what their domains hold."""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import ALL_ROWS, BoolArray, IntArray
from posse.engine.nodes.label_columns import LabelColumn
from posse.engine.nodes.node_selectors import RowTest, required_affinity_test
from posse.engine.nodes.tolerations import accepted_taints_test
from posse.engine.pods.affinity_terms import Spread
from posse.engine.pods.domain_counts import domain_sums, has_domain
from posse.engine.rules.context import RuleContext, SchedulingClass


class SpreadCount:
    def __init__(
        self,
        spread: Spread,
        scheduling_class: SchedulingClass,
        context: RuleContext,
        keyed_by: Sequence[LabelColumn],
    ) -> None:
        self.spread = spread
        self.label = context.nodes.labels.column(spread.topology_key)
        self._column = context.census.column(spread.query)
        self.self_match = int(spread.query in scheduling_class.matches_own)
        """1 if the pod itself counts where it goes."""
        self._nodes = context.nodes
        self._keyed_by = keyed_by
        self._policies = _inclusion_tests(spread, scheduling_class, context)
        self._included: BoolArray = np.empty(0, dtype=np.bool_)
        self._exists: BoolArray = np.empty(0, dtype=np.bool_)
        """Whether any included node is in the domain, by value id."""
        self._version = -1
        labels = spread.selector.labels
        self._says_nothing = not labels.nothing and not labels.requirements

    @property
    def counts(self) -> IntArray:
        """Matching pods on each node. A selector that says nothing at all counts nobody, as in kube-scheduler."""
        return np.zeros_like(self._column.counts) if self._says_nothing else self._column.counts

    def included(self) -> BoolArray:
        """Nodes that make domains and whose pods count; it changes only with the nodes themselves."""
        if self._version != self._nodes.description_version:
            included = self._nodes.alive.copy()
            for label in self._keyed_by:
                included &= has_domain(label)
            for test in self._policies:
                included &= test(ALL_ROWS)
            exists = np.zeros(len(self.label.values) + 1, dtype=np.bool_)
            exists[self.label.ids[included] + 1] = True
            self._included, self._exists = included, exists[1:]
            self._version = self._nodes.description_version
        return self._included

    def domain_counts(self) -> tuple[IntArray, BoolArray]:
        """For each value id of the topology key: matching pods, and whether any included node has that value."""
        sums = domain_sums(self.label, self.counts * self.included())[1:]
        return sums, self._exists


def _inclusion_tests(
    spread: Spread, scheduling_class: SchedulingClass, context: RuleContext
) -> list[RowTest]:
    spec = scheduling_class.pod_class.spec
    tests: list[RowTest] = []
    affinity = required_affinity_test(context.nodes, spec) if spread.honors_affinity else None
    if affinity is not None:
        tests.append(affinity)
    if spread.honors_taints:
        tests.append(accepted_taints_test(context.nodes, spec.tolerations))
    return tests
