"""On which nodes eviction could help, and the necessary victims there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter, sub

import msgspec

from posse.engine.groups.group_book import GroupBook
from posse.engine.preemption.amounts import Amounts, Sums, is_short, minus, plus
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.cost import Choice, Cost, cost_of
from posse.engine.preemption.units import LesserUnits, Unit, by_importance, units_below
from posse.engine.rules.context import SchedulingClass
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.node_scores import REFUSED
from posse.engine.state.pod_record import PodRecord

MAX_ALTERNATIVES = 3
"""Rejected choices that are reported all the same."""
_AT_ONCE = 128
"""Nodes whose free capacity is read at once; mostly these are enough."""


class Candidate(msgspec.Struct, frozen=True, eq=False):
    node: str
    victims: tuple[Unit, ...]
    """Highest priority first."""
    violations: int
    """How many of them overdraw a disruption budget."""

    def cost(self) -> Cost:
        return cost_of(self.victims, self.violations)


@dataclass(frozen=True, slots=True)
class Preemptor:
    record: PodRecord
    scheduling_class: SchedulingClass
    priority: int


@dataclass(frozen=True, slots=True)
class Search:
    """The inputs of a search for victims."""

    state: ClusterState
    groups: GroupBook
    budgets: BudgetBook
    preemptor: Preemptor

    def examine(self, rows: Sequence[int]) -> Iterator[Candidate]:
        """For each row where evictions make the pod fit: the necessary victims there."""
        rules = self.state.rules(self.preemptor.scheduling_class)
        found = self._counted(rows) if rules.counts_by_resources else map(self._tried, rows)
        return (candidate for candidate in found if candidate is not None)

    # --- nodes where only resources keep the pod away
    # ---------------------------------------------------------

    def _counted(self, rows: Sequence[int]) -> Iterator[Candidate | None]:
        limited = self.preemptor.scheduling_class.pod_class.limited
        sums = Sums(self.state.nodes, [line for line, _ in limited])
        lesser = LesserUnits(self.preemptor.priority, self.groups)
        is_open = self.state.capacity(self.preemptor.scheduling_class).open_when_empty()
        wanted = tuple(amount for _, amount in limited)
        for first in range(0, len(rows), _AT_ONCE):
            some = [row for row in rows[first : first + _AT_ONCE] if is_open[row]]
            for row, free in zip(some, sums.free(some), strict=True):
                yield self._count(row, minus(free, wanted), sums, lesser)

    def _count(self, row: int, spare: Amounts, sums: Sums, lesser: LesserUnits) -> Candidate | None:
        """`spare` is what would be left on the row beside the pod; no value may be negative at the end."""
        node = self.state.nodes.names[row]
        freed: dict[Unit, Amounts] = {}
        for record in self.state.pods_on(node):
            unit = lesser[record]
            if unit is not None:
                amounts = sums.requests[record.pod_class]
                freed[unit] = plus(freed[unit], amounts) if unit in freed else amounts
        spare = tuple(map(sum, zip(spare, *freed.values(), strict=True)))
        if not freed or is_short(spare):
            return None
        violating, harmless = self.budgets.split(sorted(freed, key=by_importance))
        if not violating:
            return Candidate(node, tuple(_needed(harmless, freed, spare)[1]), 0)
        spare, protected = _needed(violating, freed, spare)
        _, others = _needed(harmless, freed, spare)
        victims = sorted([*protected, *others], key=by_importance)
        return Candidate(node, tuple(victims), len(protected))

    # --- all other nodes
    # --------------------------------------------------------------------------------------

    def _tried(self, row: int) -> Candidate | None:
        node = self.state.nodes.names[row]
        units = units_below(self._near(node), self.preemptor.priority, self.groups)
        parts = {id(unit): self._part(unit, node) for unit in units}
        draft = Draft(self.state)
        for part in parts.values():
            draft.remove(part)
        candidate = self._reprieve(draft, row, units, parts) if units and self._fits(row) else None
        draft.roll_back()
        return candidate

    def _near(self, node: str) -> Iterable[PodRecord]:
        """The pods on the node, and those elsewhere that hold devices which the node can reach, too."""
        here, needs = self.state.pods_on(node), self.preemptor.scheduling_class.pod_class.devices
        if needs is None or not needs.spans_nodes:
            return here
        holders = self.state.devices.span_holders()
        far = [one for one in self.state.attached_records() if one.ref.uid in holders and one.node != node]
        return [*here, *far]

    def _reprieve(
        self, draft: Draft, row: int, units: Sequence[Unit], parts: Mapping[int, Sequence[PodRecord]]
    ) -> Candidate:
        """Reprieve units that need not go: those that budgets protect first, then by descending priority."""
        violating, harmless = self.budgets.split(units)
        victims: list[Unit] = []
        violations = 0
        for unit in (*violating, *harmless):
            before = draft.checkpoint()
            draft.put_back(parts[id(unit)])
            if not self._fits(row):
                draft.roll_back(before)
                victims.append(unit)
                violations += unit in violating
        return Candidate(self.state.nodes.names[row], tuple(sorted(victims, key=by_importance)), violations)

    def _part(self, unit: Unit, node: str) -> Sequence[PodRecord]:
        """The relevant pods of a unit: for a group across the cluster, mostly its pods on this node."""
        if self.state.rules(self.preemptor.scheduling_class).depends_on_other_nodes:
            return unit.records
        return [record for record in unit.records if record.node == node]

    def _fits(self, row: int) -> bool:
        return bool(self.state.scores(self.preemptor.scheduling_class).totals()[row] != REFUSED)


def _needed(
    units: Sequence[Unit], freed: Mapping[Unit, Amounts], spare: Amounts
) -> tuple[Amounts, list[Unit]]:
    """The units that cannot stay, tried in order, and the spare capacity beside those that can."""
    victims: list[Unit] = []
    for unit in units:
        left = tuple(map(sub, spare, freed[unit]))
        if left and min(left) < 0:
            victims.append(unit)
        else:
            spare = left
    return spare, victims


def least_lost(candidates: Sequence[Candidate]) -> tuple[Candidate, tuple[Choice, ...]]:
    """The cheapest candidate, the first of equals, and the next best few."""
    costs = [candidate.cost() for candidate in candidates]
    chosen = candidates[costs.index(min(costs))]
    ranked = sorted(zip(costs, candidates, strict=True), key=itemgetter(0))
    return chosen, tuple(islice(_different(chosen, ranked), MAX_ALTERNATIVES))


def _different(chosen: Candidate, ranked: Sequence[tuple[Cost, Candidate]]) -> Iterator[Choice]:
    """Other choices of victims, each once: evicting one unit may free capacity on many nodes."""
    seen = {_uids(chosen): None}
    for cost, other in ranked:
        if _uids(other) not in seen:
            seen[_uids(other)] = None
            yield Choice(other.victims, cost, other.node)


def _uids(candidate: Candidate) -> tuple[str, ...]:
    return tuple(record.ref.uid for unit in candidate.victims for record in unit.records)
