"""Preferred affinity between pods: weights add up over domains, ours towards them and theirs towards us.

What already runs there and requires pods like ours attracts them a little too. The sums, negative ones included, are
stretched over the span from the worst to the best node.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, IntArray
from posse.engine.pods.affinity_terms import AttractingTerm, Term, WeightedTerm
from posse.engine.pods.census import Column
from posse.engine.pods.domain_counts import count_in_domain
from posse.engine.rules.context import RuleContext, SchedulingClass

_FULL_MARKS = 100


class InterPodPreference:
    name = "InterPodAffinity"

    def __init__(
        self, weight: int = 2, hard_affinity_weight: int = 1, *, heeds_existing_pods: bool = True
    ) -> None:
        self.weight = weight
        self._hard_affinity_weight = hard_affinity_weight
        self._heeds_existing_pods = heeds_existing_pods
        """False: what pods on nodes wish for matters only to pods that have wishes of their own."""

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
