"""The score of every node for pods of one scheduling class, and why no node takes them.

`totals` is the whole answer: the score of a node that passes every filter, and REFUSED anywhere else. Values
that depend on a node and its pods alone are kept and updated row by row; the rest is computed on demand.
"""

from collections.abc import Callable, Sequence

import numpy as np

from posse.engine.causes import ClaimElsewhere, DeviceShortage, NoNodeFits, Refusal
from posse.engine.nodes.arrays import ALL_ROWS, BoolArray, IntArray, Rows
from posse.engine.nodes.node_table import NodeTable
from posse.engine.nodes.row_states import NO_LIMIT, RowStates
from posse.engine.rules.context import RuleContext, SchedulingClass
from posse.engine.rules.contract import RelativeScore
from posse.engine.rules.devices import DeviceFilter
from posse.engine.rules.profile import CompiledRules, is_static
from posse.engine.verdict import Code, Verdict

FEW = 8
"""Rows for which single lookups beat computing all at once."""
REFUSED = -1
_UNRANKED = NO_LIMIT
"""Above any rank, so that the best rank shows whether one is missing."""
MAX_REMEMBERED_BYTES = 8 * 1024 * 1024
"""Per scheduling class. The state of a row takes some 200 bytes, and 16 more for each resource name."""


class RankMemo:
    """Ranks of rows by their state, with this many additional pods each.

    It must not refer to its owner: the owner would then outlive its scheduling class.
    """

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes
        self._known: dict[tuple[bytes, int], int] = {}
        self._bytes = 0

    def rank(self, row: int, pods: int, compute: Callable[[IntArray, int], IntArray]) -> int:
        """The rank of a row with a node, with this many additional pods; `compute` is the slow way."""
        key = (self._nodes.resource_state(row), pods)
        known = self._known.get(key)
        if known is None:
            self._bytes += len(key[0])
            if self._bytes > MAX_REMEMBERED_BYTES:
                self._known.clear()
                self._bytes = len(key[0])
            known = self._known[key] = int(compute(np.array([row]), pods)[0])
        return known


class StateRanks:
    """Ranks by the numbers of resource states: for changed rows if they are more than a few, or for all."""

    def __init__(self, states: RowStates) -> None:
        self._states = states
        self._generation = -1
        self._ranks: IntArray = np.empty(0, dtype=np.int64)

    def of(self, rows: IntArray, compute: Callable[[IntArray], IntArray]) -> IntArray:
        """The ranks of these rows, all of which have nodes; `compute` is the slow way."""
        numbers = self._states.of(rows)
        self._make_space()
        ranks: IntArray = self._ranks[numbers]
        if ranks.size and ranks[ranks.argmax()] == _UNRANKED:
            unranked = ranks == _UNRANKED
            self._ranks[numbers[unranked]] = ranks[unranked] = compute(rows[unranked])
        return ranks

    def with_best(self, compute: Callable[[IntArray], IntArray]) -> tuple[IntArray, int]:
        """The ranks by number, of all states that rows are in, and the best of these.

        The rows must have been numbered by now.
        """
        self._make_space()
        limits = self._states.limits()
        if not limits.size:
            return self._ranks, REFUSED
        ranks = self._ranks[: limits.size]
        present = np.minimum(ranks, limits)
        best = present[present.argmax()]
        if best == _UNRANKED:
            unranked = np.flatnonzero(present == _UNRANKED)
            ranks[unranked] = present[unranked] = compute(self._states.some_rows(unranked))
            best = present[present.argmax()]
        return ranks, int(best)

    def _make_space(self) -> None:
        """One place for each number; numbers that started again begin without ranks."""
        states = self._states
        if self._generation != states.generation:
            self._ranks, self._generation = np.empty(0, dtype=np.int64), states.generation
        if self._ranks.size < states.count:
            more = max(states.count, 2 * self._ranks.size) - self._ranks.size
            self._ranks = np.concatenate((self._ranks, np.full(more, _UNRANKED, dtype=np.int64)))


class NodeScores:
    def __init__(self, scheduling_class: SchedulingClass, context: RuleContext, rules: CompiledRules) -> None:
        self._nodes = context.nodes
        self._scope = context.scope
        self._load = scheduling_class.pod_class.load
        self._terms = 1 + len(scheduling_class.pod_class.queries) + len(scheduling_class.matched_by)
        self._rules = rules
        self._memo = RankMemo(self._nodes) if rules.rank_by_resources else None
        self._states = context.states
        self._ranks = StateRanks(context.states) if rules.rank_by_resources else None
        self._passes: BoolArray = np.empty(0, dtype=np.bool_)
        """Nodes that exist and pass the static filters."""
        self._all_pass = False
        """Whether all nodes do."""
        self._points: IntArray = np.empty(0, dtype=np.int64)
        """Points of the static scores."""
        self._has_points = False
        """Whether any node has some."""
        self._rank: IntArray = np.empty(0, dtype=np.int64)
        """Points of the row scores where the row filters pass, else REFUSED."""
        self._raw: list[tuple[int, RelativeScore, IntArray]] = []
        """Weight, relative score and its raw column; only those that distinguish nodes at all."""
        self._version = -1
        self._description_version = -1
        """Versions of the node table that the columns above agree with."""

    @property
    def is_row_local(self) -> bool:
        """Whether placing a pod changes the total of its own node only."""
        self._follow_descriptions()
        return self._rules.read_own_node_only and not self._raw

    @property
    def cost(self) -> int:
        """Steps of choosing a node: rules about other nodes are computed again for every pod."""
        return 1 if self.is_row_local else self._terms * (1 + self._nodes.row_count // 1000)

    def best_rows(self) -> IntArray:
        """Return the rows that share the best total; none if all refuse."""
        rows = self._scope.rows
        if rows is None or not self.is_row_local:
            return _best(self.totals())
        # In a large cluster, a few rows must not cost as much as a pass over all rows.
        self._refresh()
        return rows[_best(self._rank[rows])]

    def best_row_from(self, turn: int) -> int | None:
        """Return the first row of the best total, from `turn` on and then from row 0; None if all refuse."""
        if not self.is_row_local:
            return _first_best(self.totals(), turn)
        rows = self._scope.rows
        if rows is None and self._ranks is not None and not self._has_points and self._states.are_few:
            return self._best_by_state(self._ranks, turn)
        self._refresh()
        if rows is None:
            return _first_best(self._rank, turn)
        place = _first_best(self._rank[rows], int(np.searchsorted(rows, turn)))
        return None if place is None else int(rows[place])

    def _best_by_state(self, ranks_by_state: StateRanks, turn: int) -> int | None:
        """The same, where the total follows from the state that a row is in: only the best state is sought.

        Nodes take turns, so mostly the row whose turn it is has the best total. No row has a better one than
        the best state; if some rows are refused by static filters, however, the best row may have a worse.
        """
        numbers = self._states.of_all()
        ranks, best = ranks_by_state.with_best(self._usage_rank)
        if best == REFUSED:
            return None
        if turn < numbers.size and self._passes[turn] and ranks[numbers[turn]] == best:
            return turn
        if not self._all_pass:
            self._refresh()
            return _first_best(self._rank, turn)
        return _first_best(ranks[numbers[: self._nodes.row_count]], turn)

    def totals(self) -> IntArray:
        """Return the total of every row, which the caller must not write to."""
        self._refresh()
        if self.is_row_local:
            return self._rank if self._scope.rows is None else self._confined(self._rank)
        feasible = self.takes_one()
        if not feasible.any():
            return np.full_like(self._rank, REFUSED)
        if not (self._raw or self._rules.cluster_scores):
            return np.where(feasible, self._rank, REFUSED)
        return np.where(feasible, self._rank + self._extra_points(feasible), REFUSED)

    def takes_one(self) -> BoolArray:
        """Return the nodes that pass every filter now."""
        feasible = self.passes_by_itself()
        if self._rules.objection() is not None:
            feasible[:] = False
        if self._scope.rows is not None:
            feasible &= self._scope.inside(feasible.size)
        for made in self._rules.cluster_filters:
            if feasible.any():
                feasible &= made.passes(ALL_ROWS)
        return feasible

    def passes_when_empty(self) -> BoolArray:
        """Return the nodes, in the scope or not, that pass the filters which read the node alone."""
        self._follow_descriptions()
        return self._passes

    def passes_by_itself(self, rows: Rows = ALL_ROWS) -> BoolArray:
        """Return where a node and the pods on it pass, whatever is on other nodes."""
        self._refresh()
        return np.not_equal(self._rank[rows], REFUSED)

    def bursts(self, rows: IntArray, most: int) -> tuple[IntArray, IntArray | None]:
        """Return how many pods in a row each of `rows` gets at its turn; they share the best total.

        A node that a pod improves gets the next one too, until it is no better than the others were. Only for
        row-local classes. The second value is the rank of each row after that, if it was computed.
        """
        if self._rules.is_alone:
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
        """Take ranks that were computed beforehand, if only these rows were touched since `version`."""
        if self._version == version and self._nodes.version == version + rows.size:
            self._rank[rows] = rank
            self._version = self._nodes.version

    def refuse(self) -> Verdict:
        """Return why no node takes the pod; each node counts for the first rule that refuses it."""
        undecided = self._scope.usable(self._nodes.alive)
        node_count = int(np.count_nonzero(undecided))
        if not node_count:
            return Verdict(Code.UNRESOLVABLE, NoNodeFits(0))
        objection = self._rules.objection()
        if objection is not None:
            code = Code.ERROR if self._rules.is_in_error else Code.UNRESOLVABLE
            return Verdict(code, NoNodeFits(node_count, (objection,), is_precondition=True))
        refusals: list[Refusal] = []
        devices: tuple[DeviceShortage | ClaimElsewhere, ...] = ()
        resolvable = np.zeros_like(undecided)
        has_closed_nodes = bool((undecided & ~self.passes_when_empty()).any())
        decides = None
        if len(self._rules.row_filters) == 1 and not has_closed_nodes:
            # No other filter is part of the ranks, which are known already.
            (decides,) = self._rules.row_filters
        for name, made in self._rules.filters:
            if is_static(made) and not has_closed_nodes:
                continue
            refused = undecided & ~(self.passes_by_itself() if made is decides else made.passes(ALL_ROWS))
            if refused.any():
                refusals += _counted(name, made.refusals(ALL_ROWS), refused)
                resolvable |= refused & ~made.unresolvable(ALL_ROWS)
                undecided &= ~refused
                if isinstance(made, DeviceFilter):
                    devices = made.shortages(refused)
        code = Code.UNSCHEDULABLE if resolvable.any() else Code.UNRESOLVABLE
        return Verdict(code, NoNodeFits(node_count, tuple(refusals), devices=devices))

    def closures(self) -> tuple[Refusal, ...]:
        """Return why nodes refuse the pod even when empty, counted as in `refuse`."""
        refusals: list[Refusal] = []
        undecided = self._scope.usable(self._nodes.alive)
        for name, made in self._rules.filters:
            if is_static(made):
                refused = undecided & ~made.passes(ALL_ROWS)
                refusals += _counted(name, made.refusals(ALL_ROWS), refused)
                undecided &= ~refused
        return tuple(refusals)

    def _confined(self, totals: IntArray) -> IntArray:
        return np.where(self._scope.inside(totals.size), totals, REFUSED)

    def _extra_points(self, feasible: BoolArray) -> IntArray:
        points = np.zeros_like(self._rank)
        for weight, relative, raw in self._raw:
            points += weight * relative.normalised(raw, feasible)
        for weight, score in self._rules.cluster_scores:
            points += weight * score.points(feasible)
        return points

    def _refresh(self) -> None:
        self._follow_descriptions()
        if self._version == self._nodes.version:
            return
        rows = self._nodes.touched_since(self._version)
        if rows is None:
            rank = self._usage_rank_of_all()
            self._rank = np.where(self._passes & (rank != REFUSED), rank + self._points, REFUSED)
        else:
            if not self._all_pass:
                # Nodes that fail a static filter fail it whatever pods do on them.
                rows = rows[self._passes[rows]]
            self._rank[rows] = self._rank_with(rows, 0)
        self._version = self._nodes.version

    def _follow_descriptions(self) -> None:
        if self._description_version != self._nodes.description_version:
            self._read_descriptions()
            self._version = -1

    def _read_descriptions(self) -> None:
        """Compute values that change only when nodes do, not when pods come and go."""
        self._passes = self._nodes.alive.copy()
        for made in self._rules.static_filters:
            self._passes &= made.passes(ALL_ROWS)
        self._all_pass = bool(self._passes[: self._nodes.row_count].all())
        points: IntArray | None = None
        for weight, score in self._rules.static_scores:
            more = weight * score.points(ALL_ROWS)
            points = more if points is None else points + more
        self._points = points if points is not None else np.zeros(self._passes.size, dtype=np.int64)
        self._has_points = bool(self._points.any())
        raw = [(weight, relative, relative.raw(ALL_ROWS)) for weight, relative in self._rules.relative_scores]
        self._raw = [(weight, relative, column) for weight, relative, column in raw if column.any()]
        self._description_version = self._nodes.description_version

    def _rank_with(self, rows: IntArray, pods: int) -> IntArray:
        """The rank if each of `rows`, which pass the static filters, had this many additional pods."""
        if self._memo is not None and rows.size <= FEW:
            return np.array([self._remembered_rank(row, pods) for row in rows.tolist()], dtype=np.int64)
        if self._ranks is not None and not pods:
            rank = self._ranks.of(rows, self._usage_rank)
        else:
            rank = self._usage_rank_with(rows, pods)
        return np.where(rank == REFUSED, REFUSED, rank + self._points[rows]) if self._has_points else rank

    def _remembered_rank(self, row: int, pods: int) -> int:
        rank = self._memo.rank(row, pods, self._usage_rank_with) if self._memo is not None else REFUSED
        return rank if rank == REFUSED else rank + int(self._points[row])

    def _usage_rank_with(self, rows: IntArray, pods: int) -> IntArray:
        if not pods:
            return self._usage_rank(rows)
        self._nodes.change_usage(rows, self._load, pods)
        rank = self._usage_rank(rows)
        self._nodes.change_usage(rows, self._load, -pods)
        return rank

    def _usage_rank_of_all(self) -> IntArray:
        """Computed once for each distinct state. Nothing is kept: most classes read all rows only once."""
        self._states.note_full_read()
        if self._ranks is None or not self._states.pays_for_all:
            return self._usage_rank(ALL_ROWS)
        rank = np.full(self._passes.size, REFUSED, dtype=np.int64)
        rows = np.flatnonzero(self._passes)
        _, first, state_of_row = np.unique(self._states.of(rows), return_index=True, return_inverse=True)
        rank[rows] = self._usage_rank(rows[first])[state_of_row]
        return rank

    def _usage_rank(self, rows: Rows) -> IntArray:
        """Points by the pods on a node, where the row filters pass."""
        passes = None
        for made in self._rules.row_filters:
            passes = made.passes(rows) if passes is None else passes & made.passes(rows)
        if passes is None:
            passes = self._nodes.alive[rows]
        if not _has_any(passes):
            return np.full(passes.shape, REFUSED, dtype=np.int64)
        points: IntArray | None = None
        for weight, score in self._rules.row_scores:
            more = score.points(rows) if weight == 1 else weight * score.points(rows)
            points = more if points is None else points + more
        return np.where(passes, points if points is not None else 0, REFUSED)


def _has_any(mask: BoolArray) -> bool:
    """Like `mask.any()`, but several times as fast for the few hundred rows of most changes."""
    return bool(mask.size) and bool(mask[mask.argmax()])


def _first_best(totals: IntArray, first: int) -> int | None:
    """The first place of the best total, from `first` on and then from the start; None if all refuse."""
    if not totals.size:
        return None
    place = int(totals.argmax())
    best = totals[place]
    if best == REFUSED:
        return None
    if place < first < totals.size:
        later = first + int(totals[first:].argmax())
        place = later if totals[later] == best else place
    return place


def _best(totals: IntArray) -> IntArray:
    best = totals.max(initial=REFUSED)
    return np.flatnonzero(np.equal(totals, best)) if best != REFUSED else np.empty(0, dtype=np.int64)


def _counted(rule: str, reasons: Sequence[tuple[str, BoolArray]], refused: BoolArray) -> list[Refusal]:
    counts = [(reason, int(np.count_nonzero(holds & refused))) for reason, holds in reasons]
    return [Refusal(rule, reason, count) for reason, count in counts if count]
