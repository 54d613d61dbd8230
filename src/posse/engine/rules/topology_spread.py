"""Even spreading over topology domains, as a law: no domain may be ahead of the emptiest by more than maxSkew.

Domains are those of nodes that carry every topology key of the pod's constraints and that the constraint's own
policies (node affinity, taints) include. Fewer domains than minDomains make the emptiest count as empty.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.nodes.arrays import BoolArray, Rows
from posse.engine.pods.domain_counts import has_domain
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.spread_counts import SpreadCount

_SKEWED = "node(s) didn't match pod topology spread constraints"
_NO_LABEL = f"{_SKEWED} (missing required label)"


class TopologySpread:
    name = "PodTopologySpread"

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "SpreadFilter | None":
        constraints = scheduling_class.pod_class.terms.hard_spread
        if not constraints:
            return None
        keys = [context.nodes.labels.column(spread.topology_key) for spread in constraints]
        return SpreadFilter([SpreadCount(spread, scheduling_class, context, keys) for spread in constraints])


class SpreadFilter:
    is_row_local = False
    reads_census_only = True

    def __init__(self, counts: Sequence[SpreadCount]) -> None:
        self._counts = counts

    def passes(self, rows: Rows) -> BoolArray:
        passes: BoolArray = np.logical_and.reduce([_keeps_balance(count) for count in self._counts])
        return passes[rows]

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        unlabelled, skewed = self._refused()
        return ((_NO_LABEL, unlabelled[rows]), (_SKEWED, skewed[rows]))

    def hopeless(self, rows: Rows) -> BoolArray:
        return self._refused()[0][rows]

    def _refused(self) -> tuple[BoolArray, BoolArray]:
        """Where a label is missing and where a domain is ahead, whichever of the constraints in their order says it first."""
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
    # Nodes without the key are turned away for lacking it, whatever stands behind the last domain.
    return np.append(allowed, False)[count.label.ids]
