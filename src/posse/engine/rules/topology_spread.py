"""Even spreading over topology domains, as a law: no domain may be ahead of the emptiest by more than maxSkew.

Domains are those of nodes that carry every topology key of the pod's constraints and that the constraint's own
policies (node affinity, taints) include. Fewer domains than minDomains make the emptiest count as empty.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.arrays import BoolArray, Rows
from posse.engine.domains import has_domain
from posse.engine.scene import Scene, Subject
from posse.engine.spreading import SpreadCount

_SKEWED = "node(s) didn't match pod topology spread constraints"
_NO_LABEL = f"{_SKEWED} (missing required label)"


class TopologySpread:
    name = "PodTopologySpread"

    def compile(self, subject: Subject, scene: Scene) -> "SpreadFilter | None":
        constraints = subject.pod_class.terms.hard_spread
        if not constraints:
            return None
        keys = [scene.nodes.labels.column(spread.topology_key) for spread in constraints]
        return SpreadFilter([SpreadCount(spread, subject, scene, keys) for spread in constraints])


class SpreadFilter:
    is_row_local = False

    def __init__(self, counts: Sequence[SpreadCount]) -> None:
        self._counts = counts

    def passes(self, rows: Rows) -> BoolArray:
        return (self._labelled() & self._balanced())[rows]

    def refusals(self, rows: Rows) -> Sequence[tuple[str, BoolArray]]:
        labelled = self._labelled()
        return ((_NO_LABEL, ~labelled[rows]), (_SKEWED, (labelled & ~self._balanced())[rows]))

    def hopeless(self, rows: Rows) -> BoolArray:
        return ~self._labelled()[rows]

    def _labelled(self) -> BoolArray:
        labelled: BoolArray = np.logical_and.reduce([has_domain(count.label) for count in self._counts])
        return labelled

    def _balanced(self) -> BoolArray:
        balanced: BoolArray = np.logical_and.reduce([_keeps_balance(count) for count in self._counts])
        return balanced


def _keeps_balance(count: SpreadCount) -> BoolArray:
    pods, exists = count.domain_counts()
    domains = int(np.count_nonzero(exists))
    if not domains:
        return np.ones(count.label.ids.size, dtype=np.bool_)
    emptiest = int(pods[exists].min()) if domains >= count.spread.min_domains else 0
    allowed = np.less_equal(pods + count.self_match - emptiest, count.spread.max_skew)
    # Nodes without the key are turned away for lacking it, whatever stands behind the last domain.
    return np.append(allowed, False)[count.label.ids]
