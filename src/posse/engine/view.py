"""What one subject sees of the nodes: where its pods may go, and how good each place is.

`totals` is the whole answer: the score of a node that passes every filter, and REFUSED anywhere else. What depends on
a node and its pods alone is kept and brought up to date row by row; the rest is computed when it is asked for.
"""

from collections.abc import Sequence

import numpy as np

from posse.engine.arrays import ALL_ROWS, BoolArray, IntArray, Rows
from posse.engine.contract import ClusterScore, Filter, Precondition, RelativeScore, RowScore
from posse.engine.profile import Profile
from posse.engine.scene import Scene, Subject
from posse.engine.verdict import Code, Refusal, Verdict

REFUSED = -1


class View:
    def __init__(self, subject: Subject, scene: Scene, profile: Profile) -> None:
        self._nodes = scene.nodes
        self._requests = subject.pod_class.requests
        self._limited = subject.pod_class.limited
        self._scoring = subject.pod_class.scoring
        self._is_alone = bool(subject.pod_class.ports or subject.pod_class.volumes)
        """Whether one pod on a node may keep the next one away for another reason than lack of resources."""
        required = [(rule.name, rule.compile(subject, scene)) for rule in profile.preconditions]
        self._preconditions: list[tuple[str, Precondition]] = [
            (name, made) for name, made in required if made is not None
        ]
        filters = [(rule.name, rule.compile(subject, scene)) for rule in profile.filters]
        self._filters: list[tuple[str, Filter]] = [(name, made) for name, made in filters if made is not None]
        self._row_filters = [made for _, made in self._filters if made.is_row_local]
        self._cluster_filters = [made for _, made in self._filters if not made.is_row_local]
        row = [(rule.weight, rule.compile(subject, scene)) for rule in profile.row_scores]
        self._row_scores: list[tuple[int, RowScore]] = [(w, made) for w, made in row if made is not None]
        relative = [(rule.weight, rule.compile(subject, scene)) for rule in profile.relative_scores]
        self._relative: list[tuple[int, RelativeScore]] = [
            (w, made) for w, made in relative if made is not None
        ]
        cluster = [(rule.weight, rule.compile(subject, scene)) for rule in profile.cluster_scores]
        self._cluster: list[tuple[int, ClusterScore]] = [(w, made) for w, made in cluster if made is not None]
        self._rank: IntArray = np.empty(0, dtype=np.int64)
        """Points of the row scores where the row filters pass, else REFUSED."""
        self._raw: list[tuple[int, RelativeScore, IntArray]] = []
        """Weight, relative score and its raw column; only those that tell nodes apart at all."""
        self._version = -1
        self._description_version = -1
        """Versions of the node table that the two above agree with."""

    @property
    def is_row_local(self) -> bool:
        """Whether placing a pod changes the totals of its own node only."""
        self._refresh()
        return not (self._preconditions or self._cluster_filters or self._cluster or self._raw)

    def totals(self) -> IntArray:
        """Not to be written to."""
        if self.is_row_local:
            return self._rank
        if self._objection() is not None:
            return np.full_like(self._rank, REFUSED)
        feasible = np.not_equal(self._rank, REFUSED)
        for made in self._cluster_filters:
            if feasible.any():
                feasible &= made.passes(ALL_ROWS)
        if not feasible.any():
            return np.full_like(self._rank, REFUSED)
        return np.where(feasible, self._rank + self._extra_points(feasible), REFUSED)

    def bursts(self, rows: IntArray, best: int, most: int) -> IntArray:
        """How many pods in a row each of `rows` gets once it has its turn, if `best` is the best total around.

        A node that becomes better by a pod gets the next one too, until it is no better than the others were. Only for
        row-local subjects.
        """
        lengths = np.ones(rows.size, dtype=np.int64)
        better = np.arange(rows.size)
        pods = 1
        while pods < most and better.size and not self._is_alone:
            better = better[self._rank_with(rows[better], pods) > best]
            pods += 1
            lengths[better] = pods
        return lengths

    def capacity(self) -> IntArray:
        """How many more pods each node can take, as far as resources and the present answers of filters go."""
        room = np.full(self._nodes.alive.size, np.iinfo(np.int64).max, dtype=np.int64)
        for index, wanted in self._limited:
            free = self._nodes.allocatable[index] - self._nodes.requested[index]
            np.minimum(room, free // wanted, out=room)
        return np.where(np.not_equal(self.totals(), REFUSED), room, 0)

    def resolvable(self) -> BoolArray:
        """Nodes that do not refuse the pod for good: no filter turns it away in a way that eviction cannot mend."""
        open_rows = self._nodes.alive.copy()
        for _, made in self._filters:
            open_rows &= made.passes(ALL_ROWS) | ~made.hopeless(ALL_ROWS)
        return open_rows

    def refuse(self) -> Verdict:
        """Why no node takes the pod, counted by reason; each node speaks through the first rule that refused it."""
        rows = np.flatnonzero(self._nodes.alive)
        if not rows.size:
            return Verdict(Code.UNRESOLVABLE, "no nodes available to schedule pods")
        objection = self._objection()
        if objection is not None:
            message = f"0/{rows.size} nodes are available: {objection.reason}."
            return Verdict(Code.UNRESOLVABLE, message, (objection,))
        refusals: list[Refusal] = []
        undecided: BoolArray = np.ones(rows.size, dtype=np.bool_)
        resolvable: BoolArray = np.zeros(rows.size, dtype=np.bool_)
        for name, made in self._filters:
            refused = undecided & ~made.passes(rows)
            if refused.any():
                refusals += _counted(name, made.refusals(rows), refused)
                resolvable |= refused & ~made.hopeless(rows)
                undecided &= ~refused
        code = Code.UNSCHEDULABLE if resolvable.any() else Code.UNRESOLVABLE
        return Verdict(code, _message(rows.size, refusals), tuple(refusals))

    def _objection(self) -> Refusal | None:
        """What keeps the pod from going anywhere."""
        for name, made in self._preconditions:
            if reason := made.objection():
                return Refusal(name, reason, len(self._nodes))
        return None

    def _extra_points(self, feasible: BoolArray) -> IntArray:
        points = np.zeros_like(self._rank)
        for weight, relative, raw in self._raw:
            points += weight * relative.normalised(raw, feasible)
        for weight, score in self._cluster:
            points += weight * score.points(feasible)
        return points

    def _refresh(self) -> None:
        if self._version == self._nodes.version:
            return
        if self._description_version != self._nodes.description_version:
            rows = None
        else:
            rows = self._nodes.touched_since(self._version)
        if rows is None:
            self._rank = self._rank_of(ALL_ROWS)
            raw = [(weight, relative, relative.raw(ALL_ROWS)) for weight, relative in self._relative]
            self._raw = [(weight, relative, column) for weight, relative, column in raw if column.any()]
        else:
            self._rank[rows] = self._rank_of(rows)
        self._version = self._nodes.version
        self._description_version = self._nodes.description_version

    def _rank_with(self, rows: IntArray, pods: int) -> IntArray:
        """The rank if each of `rows` had that many more of these pods."""
        self._nodes.change_usage(rows, self._requests, self._scoring, pods)
        rank = self._rank_of(rows)
        self._nodes.change_usage(rows, self._requests, self._scoring, -pods)
        return rank

    def _rank_of(self, rows: Rows) -> IntArray:
        passes = self._nodes.alive[rows]
        for made in self._row_filters:
            passes = passes & made.passes(rows)
        points = np.zeros(passes.shape, dtype=np.int64)
        for weight, score in self._row_scores:
            points += weight * score.points(rows)
        return np.where(passes, points, REFUSED)


def _counted(rule: str, reasons: Sequence[tuple[str, BoolArray]], refused: BoolArray) -> list[Refusal]:
    counts = [(reason, int(np.count_nonzero(holds & refused))) for reason, holds in reasons]
    return [Refusal(rule, reason, count) for reason, count in counts if count]


def _message(node_count: int, refusals: Sequence[Refusal]) -> str:
    counts: dict[str, int] = {}
    for refusal in refusals:
        counts[refusal.reason] = counts.get(refusal.reason, 0) + refusal.nodes
    reasons = sorted(f"{count} {reason}" for reason, count in counts.items())
    return f"0/{node_count} nodes are available: {', '.join(reasons)}."
