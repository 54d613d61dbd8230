"""Node names and node affinity: required and preferred nodes of a pod."""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.nodes.node_selectors import (
    RowTest,
    name_test,
    pinned_names,
    required_affinity_test,
    selector_test,
    term_test,
)
from posse.engine.nodes.node_table import NodeTable
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.contract import StaticFilter
from posse.model.placement import NodeSelector, PreferredSchedulingTerm

_NO_MATCH = "node(s) didn't match Pod's node affinity/selector"
_NOT_NAMED = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
_CONFLICT = "pod affinity terms conflict"
_NOT_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"


class NamesAgree:
    """A term may list names several times; their intersection must not be empty."""

    name = "NodeAffinity"

    def compile(self, scheduling_class: SchedulingClass, _context: RuleContext) -> "NamesConflict | None":
        names = pinned_names(scheduling_class.pod_class.spec)
        return NamesConflict() if names is not None and not names else None


class NamesConflict:
    def objection(self) -> str:
        return _CONFLICT


class NamedNodes:
    name = "NodeAffinity"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> StaticFilter | None:
        names = pinned_names(scheduling_class.pod_class.spec)
        return StaticFilter(_NOT_NAMED, name_test(context.nodes, names)) if names else None


class NodeAffinityRule:
    name = "NodeAffinity"

    def __init__(self, added: NodeSelector | None = None) -> None:
        self._added = added

    def compile(
        self, scheduling_class: SchedulingClass, context: RuleContext
    ) -> "StaticFilter | EnforcedAffinityFilter | None":
        own = required_affinity_test(context.nodes, scheduling_class.pod_class.spec)
        if self._added is not None:
            return EnforcedAffinityFilter(selector_test(context.nodes, self._added.node_selector_terms), own)
        return StaticFilter(_NO_MATCH, own) if own is not None else None


class EnforcedAffinityFilter:
    is_row_local = True
    is_static = True

    def __init__(self, enforced: RowTest, own: RowTest | None) -> None:
        self._enforced = enforced
        self._own = own

    def passes(self, rows: Rows) -> BoolArray:
        return self._enforced(rows) & self._own(rows) if self._own is not None else self._enforced(rows)

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        enforced = self._enforced(rows)
        return ((_NOT_ENFORCED, ~enforced), (_NO_MATCH, enforced & ~self.passes(rows)))

    def unresolvable(self, rows: Rows) -> BoolArray:
        return ~self.passes(rows)


_FULL_MARKS = 100


class NodePreference:
    name = "NodeAffinity"

    def __init__(self, weight: int = 2, added: Sequence[PreferredSchedulingTerm] = ()) -> None:
        self.weight = weight
        self._added = added
        """Terms added to every pod."""

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
