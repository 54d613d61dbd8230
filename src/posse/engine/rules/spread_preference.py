"""Even spreading as a wish: the fewer matching pods in the node's domains, the better.

Each constraint weighs by the logarithm of its number of domains, so that many small domains do not drown few large ones.
Nodes that lack a topology key get nothing, unless the constraints are those every pod has by default.
"""

from collections.abc import Sequence
from math import log

import numpy as np

from posse.engine.nodes.arrays import BoolArray, FloatArray, IntArray
from posse.engine.pods.domain_counts import HOSTNAME, domain_sums, has_domain
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.spread_counts import SpreadCount

_FULL_MARKS = 100


class SpreadPreference:
    name = "PodTopologySpread"

    def __init__(self, weight: int = 2) -> None:
        self.weight = weight

    def compile(self, scheduling_class: SchedulingClass, context: RuleContext) -> "SpreadScore | None":
        constraints = scheduling_class.pod_class.terms.soft_spread
        if not constraints:
            return None
        keys = [
            context.nodes.labels.column(spread.topology_key) for spread in constraints if spread.needs_key
        ]
        return SpreadScore([SpreadCount(spread, scheduling_class, context, keys) for spread in constraints])


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
