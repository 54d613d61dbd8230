"""Affinity and anti-affinity between pods, required and preferred."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray, Rows
from posse.engine.pods.affinity_terms import AttractingTerm, RepellingTerm, Term, WeightedTerm
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
    is_enumerable = True

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

    def unresolvable(self, rows: Rows) -> BoolArray:
        """Eviction never satisfies affinity."""
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
        """Looked up each time: the last pod with such a term may be gone."""
        columns = [(trait.term, self._context.census.trait(trait)) for trait in self._repelling]
        return self._shares_domain([(term, column) for term, column in columns if column is not None])

    def _shares_domain(self, counted: Iterable[tuple[Term, Column]]) -> BoolArray:
        shares = np.zeros(self._nodes.alive.size, dtype=np.bool_)
        for term, column in counted:
            if column.total:
                shares |= np.greater(count_in_domain(self._nodes.labels.column(term.topology_key), column), 0)
        return shares


_FULL_MARKS = 100


class InterPodPreference:
    name = "InterPodAffinity"

    def __init__(
        self, weight: int = 2, hard_affinity_weight: int = 1, *, heeds_existing_pods: bool = True
    ) -> None:
        self.weight = weight
        self._hard_affinity_weight = hard_affinity_weight
        self._heeds_existing_pods = heeds_existing_pods
        """If False, preferences of attached pods count only for pods with preferences of their own."""

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "PreferenceScore | None":
        ours = [
            (p.term, p.weight, context.census.column(p.term.query))
            for p in scheduling_class.pod_class.terms.preferred
        ]
        if not ours and not self._heeds_existing_pods:
            return None
        theirs = [
            (trait, self._weight_of(trait))
            for trait in scheduling_class.matched_by
            if isinstance(trait, WeightedTerm | AttractingTerm) and self._weight_of(trait)
        ]
        return PreferenceScore(context, ours, theirs) if ours or theirs else None

    def _weight_of(self, trait: WeightedTerm | AttractingTerm) -> int:
        return trait.weight if isinstance(trait, WeightedTerm) else self._hard_affinity_weight


class PreferenceScore:
    def __init__(
        self,
        context: RuleContext,
        ours: Sequence[tuple[Term, int, Column]],
        theirs: Sequence[tuple[WeightedTerm | AttractingTerm, int]],
    ) -> None:
        self._nodes = context.nodes
        self._census = context.census
        self._ours = ours
        self._theirs = theirs

    def points(self, feasible: BoolArray) -> IntArray:
        pull = np.zeros(feasible.size, dtype=np.int64)
        for term, weight, column in self._pulls():
            if column.total:
                pull += weight * count_in_domain(self._nodes.labels.column(term.topology_key), column)
        candidates = pull[feasible]
        least, most = int(candidates.min()), int(candidates.max())
        if least == most:
            return np.zeros_like(pull)
        # In this order of operations, since kube-scheduler computes it in floating point this way.
        return (_FULL_MARKS * ((pull - least) / (most - least))).astype(np.int64)

    def _pulls(self) -> Iterator[tuple[Term, int, Column]]:
        yield from self._ours
        for trait, weight in self._theirs:
            column = self._census.trait(trait)
            if column is not None:
                yield trait.term, weight, column
