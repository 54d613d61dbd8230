"""Topology spread: pods are kept even over domains, by a limit or by preference."""

from collections.abc import Sequence
from math import log
from operator import attrgetter

import numpy as np

from posse.engine.nodes.arrays import ALL_ROWS, BoolArray, FloatArray, IntArray, Rows
from posse.engine.nodes.label_columns import LabelColumn
from posse.engine.nodes.node_selectors import RowTest, accepted_taints_test, required_affinity_test
from posse.engine.nodes.node_table import NodeTable
from posse.engine.pods.affinity_terms import Spread
from posse.engine.pods.domain_counts import HOSTNAME, domain_sums, has_domain
from posse.engine.rules.context import RuleContext, SchedulingClass


class KeyedNodes:
    """Nodes that have all of some topology keys, computed once for all constraints of a class."""

    def __init__(self, nodes: NodeTable, labels: Sequence[LabelColumn]) -> None:
        self._nodes = nodes
        self._labels = labels
        self._rows: BoolArray = np.empty(0, dtype=np.bool_)
        self._version = -1

    def rows(self) -> BoolArray:
        if self._version != self._nodes.description_version:
            self._rows = np.logical_and.reduce(
                [self._nodes.alive, *(has_domain(label) for label in self._labels)]
            )
            self._version = self._nodes.description_version
        return self._rows


class SpreadCount:
    def __init__(
        self,
        spread: Spread,
        scheduling_class: SchedulingClass,
        context: RuleContext,
        keyed: KeyedNodes,
    ) -> None:
        self.spread = spread
        self.label = context.nodes.labels.column(spread.topology_key)
        self._column = context.census.column(spread.query)
        self.self_match = int(spread.query in scheduling_class.matches_own)
        """1 if the pod itself counts in its target domain."""
        self._nodes = context.nodes
        self._keyed = keyed
        self._policies = _inclusion_tests(spread, scheduling_class, context)
        self._included: BoolArray = np.empty(0, dtype=np.bool_)
        self._exists: BoolArray = np.empty(0, dtype=np.bool_)
        """Whether any included node is in the domain, by value id."""
        self._version = -1
        labels = spread.selector.labels
        self._says_nothing = not labels.nothing and not labels.requirements

    @property
    def counts(self) -> IntArray:
        """Matching pods on each node. An empty selector counts no pods, as in kube-scheduler."""
        return np.zeros_like(self._column.counts) if self._says_nothing else self._column.counts

    def included(self) -> BoolArray:
        """Nodes that form domains and whose pods count; it changes only with the nodes themselves."""
        if self._version != self._nodes.description_version:
            included = self._keyed.rows().copy()
            for test in self._policies:
                included &= test(ALL_ROWS)
            exists = np.zeros(len(self.label.values) + 1, dtype=np.bool_)
            exists[self.label.ids[included] + 1] = True
            self._included, self._exists = included, exists[1:]
            self._version = self._nodes.description_version
        return self._included

    def domain_counts(self) -> tuple[IntArray, BoolArray]:
        """By value id of the topology key: matching pods, and whether any included node has that value."""
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


_SKEWED = "node(s) didn't match pod topology spread constraints"
_NO_LABEL = f"{_SKEWED} (missing required label)"


class TopologySpread:
    name = "PodTopologySpread"
    applies_to = attrgetter("pod_class.terms.hard_spread")

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "SpreadFilter | None":
        constraints = scheduling_class.pod_class.terms.hard_spread
        if not constraints:
            return None
        keys = [context.nodes.labels.column(spread.topology_key) for spread in constraints]
        keyed = KeyedNodes(context.nodes, keys)
        return SpreadFilter([SpreadCount(spread, scheduling_class, context, keyed) for spread in constraints])


class SpreadFilter:
    is_row_local = False
    is_enumerable = True

    def __init__(self, counts: Sequence[SpreadCount]) -> None:
        self._counts = counts

    def passes(self, rows: Rows) -> BoolArray:
        passes: BoolArray = np.logical_and.reduce([_keeps_balance(count) for count in self._counts])
        return passes[rows]

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        unlabelled, skewed = self._refused()
        return ((_NO_LABEL, unlabelled[rows]), (_SKEWED, skewed[rows]))

    def unresolvable(self, rows: Rows) -> BoolArray:
        return self._refused()[0][rows]

    def _refused(self) -> tuple[BoolArray, BoolArray]:
        """Rows that lack a label and rows in a crowded domain, by the first constraint that refuses them."""
        unlabelled = np.zeros(self._counts[0].label.ids.size, dtype=np.bool_)
        skewed = np.zeros_like(unlabelled)
        for count in self._counts:
            has_label = has_domain(count.label)
            unlabelled |= ~has_label & ~skewed
            skewed |= has_label & ~unlabelled & ~_keeps_balance(count)
        return unlabelled, skewed


def _keeps_balance(count: SpreadCount) -> BoolArray:
    pods, exists = count.domain_counts()
    domains = int(np.count_nonzero(exists))
    if not domains:
        return has_domain(count.label)
    emptiest = int(pods[exists].min()) if domains >= count.spread.min_domains else 0
    allowed = np.less_equal(pods + count.self_match - emptiest, count.spread.max_skew)
    # Nodes without the key are refused for lacking it, whatever follows the last domain.
    return np.append(allowed, False)[count.label.ids]


_FULL_MARKS = 100


class SpreadPreference:
    name = "PodTopologySpread"
    applies_to = attrgetter("pod_class.terms.soft_spread")

    def __init__(self, weight: int = 2) -> None:
        self.weight = weight

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "SpreadScore | None":
        constraints = scheduling_class.pod_class.terms.soft_spread
        if not constraints:
            return None
        keys = [
            context.nodes.labels.column(spread.topology_key) for spread in constraints if spread.needs_key
        ]
        keyed = KeyedNodes(context.nodes, keys)
        return SpreadScore([SpreadCount(spread, scheduling_class, context, keyed) for spread in constraints])


class SpreadScore:
    def __init__(self, counts: Sequence[SpreadCount]) -> None:
        self._counts = counts

    def points(self, feasible: BoolArray) -> IntArray:
        scored: BoolArray = np.logical_and.reduce(
            [feasible, *(has_domain(count.label) for count in self._counts if count.spread.needs_key)]
        )
        crowd = np.zeros(feasible.size, dtype=np.float64)
        for count in self._counts:
            crowd += _crowd(count, scored)
        # Half away from zero, as Go rounds; the numbers are never negative.
        rounded = np.floor(crowd + 0.5).astype(np.int64)
        return _normalised(rounded, scored)


def _crowd(count: SpreadCount, scored: BoolArray) -> FloatArray:
    ids = count.label.ids
    if count.spread.topology_key == HOSTNAME:
        pods, domains = count.counts, int(np.count_nonzero(scored))
    else:
        sums = domain_sums(count.label, np.where(count.included(), count.counts, 0))
        pods, domains = sums[ids + 1], np.unique(ids[scored]).size
    crowd = pods.astype(np.float64) * log(domains + 2) + float(count.spread.max_skew - 1)
    return np.where(has_domain(count.label), crowd, 0.0)


def _normalised(crowd: IntArray, scored: BoolArray) -> IntArray:
    if not scored.any():
        return np.zeros_like(crowd)
    least, most = int(crowd[scored].min()), int(crowd[scored].max())
    points = _FULL_MARKS * (most + least - crowd) // most if most else np.full_like(crowd, _FULL_MARKS)
    return np.where(scored, points, 0)
