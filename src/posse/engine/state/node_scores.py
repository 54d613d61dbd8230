"""What one subject sees of the nodes: where its pods may go, and how good each place is.

`totals` is the whole answer: the score of a node that passes every filter, and REFUSED anywhere else. What depends on
a node and its pods alone is kept and brought up to date row by row; the rest is computed when it is asked for.
"""

from collections.abc import Callable, Sequence

import numpy as np

from posse.engine.nodes.arrays import ALL_ROWS, BoolArray, IntArray, Rows
from posse.engine.nodes.domain_sums import DomainSums
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.topology_domains import Domains
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.contract import (
    ClusterScore,
    Filter,
    Precondition,
    RelativeScore,
    RowScore,
    is_orderless,
    is_static,
    reads_census_only,
    reads_resources_only,
)
from posse.engine.rules.profile import Profile
from posse.engine.verdict import Code, Refusal, Verdict

FEW = 8
"""Rows for which looking up one by one beats computing all at once."""

_MOST_REMEMBERED = 50_000


class RankMemo:
    def __init__(self, nodes: NodeTable, compute: Callable[[IntArray, int], IntArray]) -> None:
        self._nodes = nodes
        self._compute = compute
        """Works ranks out for rows that each have some pods more."""
        self._known: dict[tuple[bytes, int], int] = {}

    def rank(self, row: int, pods: int) -> int:
        """A row without a node is left to the caller."""
        key = (self._nodes.resource_state(row), pods)
        known = self._known.get(key)
        if known is None:
            if len(self._known) > _MOST_REMEMBERED:
                self._known.clear()
            known = self._known[key] = int(self._compute(np.array([row]), pods)[0])
        return known


REFUSED = -1
_MANY = 2**52
"""More pods than there are, and far from overflowing when added up over all nodes."""
_PLENTY = 2**40
"""The same where sums of any number of nodes must be safe from it."""


class NodeScores:
    def __init__(self, scheduling_class: SchedulingClass, context: RuleContext, profile: Profile) -> None:
        self._nodes = context.nodes
        self._confines = context.scope
        self._limited = scheduling_class.pod_class.limited
        self._load = scheduling_class.pod_class.load
        self._is_alone = bool(scheduling_class.pod_class.ports or scheduling_class.pod_class.volumes)
        """Whether one pod on a node may keep the next one away for another reason than lack of resources."""
        self._most_per_node = 1 if self._is_alone else _MANY
        lines, wanted = zip(*self._limited, strict=True) if self._limited else ((), ())
        self._limits = np.array(lines, dtype=np.int64)[:, None], np.array(wanted, dtype=np.int64)[:, None]
        required = [(rule.name, rule.compile(scheduling_class, context)) for rule in profile.preconditions]
        self._preconditions: list[tuple[str, Precondition]] = [
            (name, made) for name, made in required if made is not None
        ]
        filters = [
            (rule.name, rule.compile(scheduling_class, context))
            for rule in (*profile.narrowings, *profile.filters)
        ]
        self._filters: list[tuple[str, Filter]] = [(name, made) for name, made in filters if made is not None]
        self._static_filters = [made for _, made in self._filters if is_static(made)]
        self._row_filters = [made for _, made in self._filters if made.is_row_local and not is_static(made)]
        self._cluster_filters = [made for _, made in self._filters if not made.is_row_local]
        row = [(rule.weight, rule.compile(scheduling_class, context)) for rule in profile.row_scores]
        self._static_scores: list[tuple[int, RowScore]] = [
            (w, made) for w, made in row if made and is_static(made)
        ]
        self._row_scores: list[tuple[int, RowScore]] = [
            (w, made) for w, made in row if made and not is_static(made)
        ]
        relative = [
            (rule.weight, rule.compile(scheduling_class, context)) for rule in profile.relative_scores
        ]
        self._relative: list[tuple[int, RelativeScore]] = [
            (w, made) for w, made in relative if made is not None
        ]
        cluster = [(rule.weight, rule.compile(scheduling_class, context)) for rule in profile.cluster_scores]
        self._cluster: list[tuple[int, ClusterScore]] = [(w, made) for w, made in cluster if made is not None]
        by_usage: list[Filter | RowScore] = [*self._row_filters, *(made for _, made in self._row_scores)]
        self._memo: RankMemo | None = None
        if all(reads_resources_only(made) for made in by_usage):
            self._memo = RankMemo(self._nodes, self._usage_rank_with)
        self._passes: BoolArray = np.empty(0, dtype=np.bool_)
        """Nodes that are there and pass the static filters."""
        self._points: IntArray = np.empty(0, dtype=np.int64)
        """Points of the static scores."""
        self._rank: IntArray = np.empty(0, dtype=np.int64)
        """Points of the row scores where the row filters pass, else REFUSED."""
        self._raw: list[tuple[int, RelativeScore, IntArray]] = []
        """Weight, relative score and its raw column; only those that tell nodes apart at all."""
        self._most_in: dict[str, DomainSums] = {}
        """By topology key, for whole clusters."""
        self._version = -1
        self._description_version = -1
        """Versions of the node table that the two above agree with."""

    @property
    def is_row_local(self) -> bool:
        """Whether placing a pod changes the totals of its own node only."""
        self._refresh()
        return not (self._preconditions or self._cluster_filters or self._cluster or self._raw)

    def best_rows(self) -> IntArray:
        """The rows that share the best total; none if all refuse."""
        rows = self._confines.rows
        if rows is None or not self.is_row_local:
            return _best(self.totals())
        # A few rows of a large cluster: this may not cost as much as a look at all of them.
        return rows[_best(self._rank[rows])]

    def totals(self) -> IntArray:
        """Not to be written to."""
        if self.is_row_local:
            return self._rank if self._confines.rows is None else self._confined(self._rank)
        feasible = self.takes_one()
        if not feasible.any():
            return np.full_like(self._rank, REFUSED)
        if not (self._raw or self._cluster):
            return np.where(feasible, self._rank, REFUSED)
        return np.where(feasible, self._rank + self._extra_points(feasible), REFUSED)

    def takes_one(self) -> BoolArray:
        """The nodes that pass every filter now, however good they are."""
        self._refresh()
        feasible = np.not_equal(self._rank, REFUSED)
        if self._objection() is not None:
            feasible[:] = False
        if self._confines.rows is not None:
            feasible &= self._confines.inside(feasible.size)
        for made in self._cluster_filters:
            if feasible.any():
                feasible &= made.passes(ALL_ROWS)
        return feasible

    def bursts(self, rows: IntArray, most: int) -> tuple[IntArray, IntArray | None]:
        """How many pods in a row each of `rows` gets once it has its turn; they share the best total around.

        A node that becomes better by a pod gets the next one too, until it is no better than the others were. Only for
        row-local subjects. The second answer is the rank of each row after that, if it was worked out.
        """
        if self._is_alone:
            return np.ones(rows.size, dtype=np.int64), None
        best = int(self._rank[rows[0]])
        lengths = np.ones(rows.size, dtype=np.int64)
        after = self._rank_with(rows, 1)
        better = np.flatnonzero(after > best)
        while better.size and lengths[better[0]] < most:
            lengths[better] += 1
            after[better] = self._rank_with(rows[better], int(lengths[better[0]]))
            better = better[after[better] > best]
        return lengths, after

    def adopt(self, rows: IntArray, rank: IntArray, version: int) -> None:
        """Take ranks that were worked out beforehand, if nothing but these rows was touched since `version`."""
        if self._version == version and self._nodes.version == version + rows.size:
            self._rank[rows] = rank
            self._version = self._nodes.version

    @property
    def depends_on_other_nodes(self) -> tuple[str, ...]:
        """Rules that let pods elsewhere decide where these may go. Without them, counting node by node is exact."""
        around = [name for name, made in self._filters if not made.is_row_local]
        return tuple(dict.fromkeys([*(name for name, _ in self._preconditions), *around]))

    @property
    def counts_by_resources(self) -> bool:
        """Whether `capacity` is exact: nothing but resources limits how many of these pods a node takes."""
        by_resources = all(reads_resources_only(made) for made in self._row_filters)
        return by_resources and not (self._is_alone or self._cluster_filters or self._preconditions)

    @property
    def non_resource_rules(self) -> tuple[str, ...]:
        """Rules by which a pod that is placed may keep others away, or draw them, in another way than by what it takes."""
        made = [
            name
            for name, made in self._filters
            if not is_static(made) and not (made.is_row_local and reads_resources_only(made))
        ]
        return tuple(dict.fromkeys([*(name for name, _ in self._preconditions), *made]))

    @property
    def is_orderless(self) -> bool:
        """Whether it does not matter if these pods come before or after others, as far as their own rules go."""
        return not self._preconditions and all(is_orderless(made) for _, made in self._filters)

    @property
    def uncountable_rules(self) -> tuple[str, ...]:
        """Rules that look at more than what nodes and the pods on them are seen to be, such as which volumes are left."""
        beyond = [
            name
            for name, made in self._filters
            if not (is_static(made) or reads_resources_only(made) or reads_census_only(made))
        ]
        return tuple(dict.fromkeys([*(name for name, _ in self._preconditions), *beyond]))

    def capacity(self) -> IntArray:
        """How many more pods each node can take, as far as resources and the present answers of filters go."""
        return np.where(np.not_equal(self.totals(), REFUSED), self._room(), 0)

    def most_in(self, domains: Domains) -> IntArray:
        """How many more pods each domain can take at the very most, whatever else is placed."""
        known = self._most_in.get(domains.key)
        if known is None or known.domains is not domains:
            known = DomainSums(self._nodes, domains, self._most)
            # What is seen inside of confines is seen once; what is known of the whole cluster is worth keeping.
            if self._confines.rows is None:
                self._most_in[domains.key] = known
        return known.present()

    def _most(self, rows: IntArray) -> IntArray:
        self._refresh()
        # What looks around may let pods in once others are there; resources and the node itself never do.
        open_rows = (
            self._passes[rows] if self.depends_on_other_nodes else np.not_equal(self._rank[rows], REFUSED)
        )
        # Others may have overfilled a node; that takes nothing away from its neighbours.
        room = np.minimum(np.maximum(self.room_on(rows), 0), _PLENTY)
        return np.where(open_rows, room, 0)

    def _room(self) -> IntArray:
        room = np.full(self._nodes.alive.size, self._most_per_node, dtype=np.int64)
        for index, wanted in self._limited:
            free = self._nodes.allocatable[index] - self._nodes.requested[index]
            np.minimum(room, free // wanted, out=room)
        return room

    def room_on(self, rows: IntArray) -> IntArray:
        """How many more pods these rows can take as far as resources go, all resources at once."""
        lines, wanted = self._limits
        free = self._nodes.allocatable[lines, rows] - self._nodes.requested[lines, rows]
        room: IntArray = np.minimum.reduce(free // wanted, axis=0, initial=self._most_per_node)
        return room

    def _candidates(self) -> BoolArray:
        """Nodes that are there and may be used."""
        alive = self._nodes.alive
        return alive.copy() if self._confines.rows is None else alive & self._confines.inside(alive.size)

    def _confined(self, totals: IntArray) -> IntArray:
        return np.where(self._confines.inside(totals.size), totals, REFUSED)

    def resolvable(self) -> BoolArray:
        """Nodes that do not refuse the pod for good: no filter turns it away in a way that eviction cannot mend."""
        open_rows = self._candidates()
        for _, made in self._filters:
            open_rows &= made.passes(ALL_ROWS) | ~made.hopeless(ALL_ROWS)
        return open_rows

    def open_when_empty(self) -> BoolArray:
        """Nodes that the pods could be on if no other pod were there, as far as that can be told from the nodes alone."""
        self._refresh()
        return self._passes & self._candidates()

    def objecting_only(self, rule: str) -> BoolArray:
        """Nodes to which no other rule than this one objects."""
        rows = self._candidates() & (self._objection() is None)
        for name, made in self._filters:
            if name != rule:
                rows &= made.passes(ALL_ROWS)
        return rows

    def refuse(self) -> Verdict:
        """Why no node takes the pod, counted by reason; each node speaks through the first rule that refused it."""
        undecided = self._candidates()
        node_count = int(np.count_nonzero(undecided))
        if not node_count:
            return Verdict(Code.UNRESOLVABLE, "no nodes available to schedule pods")
        objection = self._objection()
        if objection is not None:
            message = f"0/{node_count} nodes are available: {objection.reason}."
            return Verdict(Code.UNRESOLVABLE, message, (objection,))
        refusals: list[Refusal] = []
        resolvable = np.zeros_like(undecided)
        for name, made in self._filters:
            refused = undecided & ~made.passes(ALL_ROWS)
            if refused.any():
                refusals += _counted(name, made.refusals(ALL_ROWS), refused)
                resolvable |= refused & ~made.hopeless(ALL_ROWS)
                undecided &= ~refused
        code = Code.UNSCHEDULABLE if resolvable.any() else Code.UNRESOLVABLE
        return Verdict(code, _message(node_count, refusals), tuple(refusals))

    def closures(self) -> tuple[Refusal, ...]:
        """What nodes say of themselves that keeps the pod away whoever else is there; counted as in `refuse`."""
        refusals: list[Refusal] = []
        undecided = self._candidates()
        for name, made in self._filters:
            if is_static(made):
                refused = undecided & ~made.passes(ALL_ROWS)
                refusals += _counted(name, made.refusals(ALL_ROWS), refused)
                undecided &= ~refused
        return tuple(refusals)

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
            self._look_at_descriptions()
            rows = None
        else:
            rows = self._nodes.touched_since(self._version)
        if rows is None:
            self._rank = _summed(self._usage_rank(ALL_ROWS), self._points)
            self._rank[~self._passes] = REFUSED
        else:
            # Nodes that are out of the question stay so, whatever pods do on them.
            rows = rows[self._passes[rows]]
            self._rank[rows] = self._rank_with(rows, 0)
        self._version = self._nodes.version

    def _look_at_descriptions(self) -> None:
        """Work out what changes only when nodes do, not when pods come and go."""
        self._passes = self._nodes.alive.copy()
        for made in self._static_filters:
            self._passes &= made.passes(ALL_ROWS)
        self._points = np.zeros(self._passes.size, dtype=np.int64)
        for weight, score in self._static_scores:
            self._points += weight * score.points(ALL_ROWS)
        raw = [(weight, relative, relative.raw(ALL_ROWS)) for weight, relative in self._relative]
        self._raw = [(weight, relative, column) for weight, relative, column in raw if column.any()]
        self._description_version = self._nodes.description_version

    def _rank_with(self, rows: IntArray, pods: int) -> IntArray:
        """The rank if each of `rows`, which pass the static filters, had that many more of these pods."""
        if self._memo is not None and rows.size <= FEW:
            return np.array([self._remembered_rank(row, pods) for row in rows.tolist()], dtype=np.int64)
        return _summed(self._usage_rank_with(rows, pods), self._points[rows])

    def _remembered_rank(self, row: int, pods: int) -> int:
        rank = self._memo.rank(row, pods) if self._memo is not None else REFUSED
        return rank if rank == REFUSED else rank + int(self._points[row])

    def _usage_rank_with(self, rows: IntArray, pods: int) -> IntArray:
        if not pods:
            return self._usage_rank(rows)
        self._nodes.change_usage(rows, self._load, pods)
        rank = self._usage_rank(rows)
        self._nodes.change_usage(rows, self._load, -pods)
        return rank

    def _usage_rank(self, rows: Rows) -> IntArray:
        """What follows from the pods on a node: points where the row filters pass."""
        passes = self._nodes.alive[rows]
        for made in self._row_filters:
            passes = passes & made.passes(rows)
        if not passes.any():
            return np.full(passes.shape, REFUSED, dtype=np.int64)
        points = np.zeros(passes.shape, dtype=np.int64)
        for weight, score in self._row_scores:
            points = points + weight * score.points(rows)
        return np.where(passes, points, REFUSED)


def _summed(rank: IntArray, points: IntArray) -> IntArray:
    return np.where(np.equal(rank, REFUSED), REFUSED, rank + points)


def _best(totals: IntArray) -> IntArray:
    best = totals.max(initial=REFUSED)
    return np.flatnonzero(np.equal(totals, best)) if best != REFUSED else np.empty(0, dtype=np.int64)


def _counted(rule: str, reasons: Sequence[tuple[str, BoolArray]], refused: BoolArray) -> list[Refusal]:
    counts = [(reason, int(np.count_nonzero(holds & refused))) for reason, holds in reasons]
    return [Refusal(rule, reason, count) for reason, count in counts if count]


def _message(node_count: int, refusals: Sequence[Refusal]) -> str:
    counts: dict[str, int] = {}
    for refusal in refusals:
        counts[refusal.reason] = counts.get(refusal.reason, 0) + refusal.nodes
    reasons = sorted(f"{count} {reason}" for reason, count in counts.items())
    return f"0/{node_count} nodes are available: {', '.join(reasons)}."
