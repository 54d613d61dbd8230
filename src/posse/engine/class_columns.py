"""What one pod class sees of the nodes, kept up to date row by row: where it fits, and how good each node is.

`rank` is the whole answer: the score of a node that passes every filter, and REFUSED anywhere else. Taking the
best node is one argmax. Only rows touched since the last look are computed again.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.contract import FilterRule, RowFilter, RowScore, ScoreRule
from posse.engine.node_table import ALL_ROWS, BoolArray, IntArray, NodeTable, Rows
from posse.engine.pod_class import PodClass
from posse.engine.verdict import Code, Refusal, Verdict

REFUSED = -1


class ClassColumns:
    def __init__(
        self,
        pod_class: PodClass,
        nodes: NodeTable,
        filters: Sequence[FilterRule],
        scores: Sequence[ScoreRule],
    ) -> None:
        self._nodes = nodes
        self._requests = pod_class.requests
        self._filters = _compiled_filters(pod_class, nodes, filters)
        self._scores = _compiled_scores(pod_class, nodes, scores)
        self._rank: IntArray = np.empty(0, dtype=np.int64)
        self._version = -1
        """Version of the node table that `_rank` agrees with."""

    def rank(self) -> IntArray:
        if self._version != self._nodes.version:
            self._refresh()
        return self._rank

    def _refresh(self) -> None:
        rows = self._nodes.touched_since(self._version) if self._rank.size == self._nodes.alive.size else None
        if rows is None:
            self._rank = self._rank_of(ALL_ROWS)
        else:
            self._rank[rows] = self._rank_of(rows)
        self._version = self._nodes.version

    def _rank_of(self, rows: Rows) -> IntArray:
        passes = self._nodes.alive[rows]
        for _, row_filter in self._filters:
            passes = passes & row_filter.passes(rows)
        points = np.zeros(passes.shape, dtype=np.int64)
        for weight, score in self._scores:
            points += weight * score.points(rows)
        return np.where(passes, points, REFUSED)

    def capacity(self) -> IntArray:
        """How many more pods of this class each node can take."""
        room = np.full(self._nodes.alive.size, np.iinfo(np.int64).max, dtype=np.int64)
        for index, wanted in self._requests:
            free = self._nodes.allocatable[index] - self._nodes.requested[index]
            np.minimum(room, free // wanted, out=room)
        return np.where(np.not_equal(self.rank(), REFUSED), room, 0)

    def hopeless_everywhere(self) -> bool:
        """Whether no node could take such a pod even if every other pod were gone."""
        rows = np.flatnonzero(self._nodes.alive)
        resolvable: BoolArray = np.ones(rows.size, dtype=np.bool_)
        for _, row_filter in self._filters:
            resolvable &= row_filter.passes(rows) | ~row_filter.hopeless(rows)
        return not resolvable.any()

    def refuse(self) -> Verdict:
        """Why no node takes the pod, counted by reason; each node speaks through the first rule that refused it."""
        rows = np.flatnonzero(self._nodes.alive)
        if not rows.size:
            return Verdict(Code.UNRESOLVABLE, "no nodes available to schedule pods")
        refusals: list[Refusal] = []
        undecided: BoolArray = np.ones(rows.size, dtype=np.bool_)
        for name, row_filter in self._filters:
            refused = undecided & ~row_filter.passes(rows)
            if refused.any():
                for reason, holds in row_filter.refusals(rows):
                    count = int(np.count_nonzero(holds & refused))
                    if count:
                        refusals.append(Refusal(name, reason, count))
                undecided &= ~refused
        code = Code.UNRESOLVABLE if self.hopeless_everywhere() else Code.UNSCHEDULABLE
        return Verdict(code, _message(rows.size, refusals), tuple(refusals))


def _message(node_count: int, refusals: Sequence[Refusal]) -> str:
    counts: dict[str, int] = {}
    for refusal in refusals:
        counts[refusal.reason] = counts.get(refusal.reason, 0) + refusal.nodes
    reasons = sorted(f"{count} {reason}" for reason, count in counts.items())
    return f"0/{node_count} nodes are available: {', '.join(reasons)}."


def _compiled_filters(
    pod_class: PodClass, nodes: NodeTable, rules: Sequence[FilterRule]
) -> list[tuple[str, RowFilter]]:
    compiled = [(rule.name, rule.compile(pod_class, nodes)) for rule in rules]
    return [(name, row_filter) for name, row_filter in compiled if row_filter is not None]


def _compiled_scores(
    pod_class: PodClass, nodes: NodeTable, rules: Sequence[ScoreRule]
) -> list[tuple[int, RowScore]]:
    compiled = [(rule.weight, rule.compile(pod_class, nodes)) for rule in rules]
    return [(weight, score) for weight, score in compiled if score is not None]
