"""Pods that want, or refuse, to share a domain with other pods; theirs and ours.

Required: some pod that satisfies all of our terms must be in the node's domain of every term, unless there is none
at all and we would satisfy our own terms. Forbidden: none may match, seen from us and seen from those already there.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.pods.affinity_terms import RepellingTerm, Term
from posse.engine.pods.census import Column
from posse.engine.pods.domain_counts import count_in_domain, has_domain
from posse.engine.rules.context import RuleContext, SchedulingClass

_NOT_NEAR = "node(s) didn't match pod affinity rules"
_TOO_NEAR = "node(s) didn't match pod anti-affinity rules"
_UNWANTED = "node(s) didn't satisfy existing pods anti-affinity rules"


class InterPodAffinity:
    name = "InterPodAffinity"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "AffinityFilter | None":
        repelling = [trait for trait in scheduling_class.matched_by if isinstance(trait, RepellingTerm)]
        terms = scheduling_class.pod_class.terms
        if not (terms.required or terms.forbidden or repelling):
            return None
        return AffinityFilter(scheduling_class, context, repelling)


class AffinityFilter:
    is_row_local = False
    reads_census_only = True

    def __init__(
        self, scheduling_class: SchedulingClass, context: RuleContext, repelling: Sequence[RepellingTerm]
    ) -> None:
        terms = scheduling_class.pod_class.terms
        self.is_orderless = not terms.required
        self._context = context
        self._nodes = context.nodes
        self._required = terms.required
        self._companions = context.census.column(terms.companions) if terms.required else None
        self._is_own_companion = terms.companions in scheduling_class.matches_own
        self._forbidden = [(term, context.census.column(term.query)) for term in terms.forbidden]
        self._repelling = repelling

    def passes(self, rows: Rows) -> BoolArray:
        return (self._near() & ~self._shares_domain(self._forbidden) & ~self._unwanted())[rows]

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        near, too_near = self._near(), self._shares_domain(self._forbidden)
        return (
            (_NOT_NEAR, ~near[rows]),
            (_TOO_NEAR, (near & too_near)[rows]),
            (_UNWANTED, (near & ~too_near & self._unwanted())[rows]),
        )

    def hopeless(self, rows: Rows) -> BoolArray:
        """Evicting pods brings nobody near."""
        return ~self._near()[rows]

    def _near(self) -> BoolArray:
        near = np.ones(self._nodes.alive.size, dtype=np.bool_)
        if self._companions is None:
            return near
        labels = [self._nodes.labels.column(term.topology_key) for term in self._required]
        anywhere = any(bool(np.any(self._companions.counts[has_domain(label)])) for label in labels)
        for label in labels:
            near &= has_domain(label)
            if anywhere or not self._is_own_companion:
                near &= np.greater(count_in_domain(label, self._companions), 0)
        return near

    def _unwanted(self) -> BoolArray:
        """Looked up anew each time: the last pod with such a term may have gone."""
        columns = [(trait.term, self._context.census.trait(trait)) for trait in self._repelling]
        return self._shares_domain([(term, column) for term, column in columns if column is not None])

    def _shares_domain(self, counted: Iterable[tuple[Term, Column]]) -> BoolArray:
        shares = np.zeros(self._nodes.alive.size, dtype=np.bool_)
        for term, column in counted:
            if column.total:
                shares |= np.greater(count_in_domain(self._nodes.labels.column(term.topology_key), column), 0)
        return shares
