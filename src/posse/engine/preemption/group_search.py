"""Victims for a group as a whole: none are chosen unless all members that must start fit because of it.

1. Assume that all pods of lower priority are gone and place the group.
2. Put budget-protected pods back where the group's placement allows it.
3. Find the lowest priority up to which evicting suffices; with only those gone, reprieve by priority.
4. Try other placements of the group that spare more victims than its preferred one.
5. If few units are candidates, try choices of one to five that cost less, cheapest first.

Terminating pods count as gone and cost nothing.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np

from posse.engine.groups.group_book import GroupBook
from posse.engine.nodes.arrays import IntArray
from posse.engine.placement.gang.exhaustive import Steps
from posse.engine.preemption.amounts import Amounts, Sums, is_short, minus, plus
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.cost import Choice, Cost, cost_of
from posse.engine.preemption.units import Unit, by_importance, units_below
from posse.engine.state.cluster_state import ClusterState
from posse.engine.state.draft import Draft
from posse.engine.state.node_scores import REFUSED
from posse.engine.state.pod_record import PodRecord

_MAX_TRIALS = 128
_MAX_CHECKS = 2_000
"""Reprieve checks per search; victims not checked by then are evicted."""
_MAX_EFFORT = 20_000
_EFFORT_OF_A_MEMBER = 20
_NODES_IN_AN_EFFORT = 2
"""Placements tried to spare more victims.

The number shrinks with the pods that each has to detach and place, and with the nodes.
"""

_SHARES = 4
"""One choice may use one in so many of the remaining steps."""
_LARGEST_CHOICE = 5
_MAX_CHOICES = 1_000
"""Small choices of victims that are priced, and tried from the cheapest on."""

Places = tuple[tuple[PodRecord, str], ...]
"""Target nodes of a group's members."""

PlaceGroup = Callable[[Steps], Places]
"""Search for a placement in the present state and leave the state unchanged; empty if there is none.

Heuristics come first; where those fail, placements are enumerated, within the steps.
"""


@dataclass(frozen=True, slots=True)
class EvictionPlan:
    """Target nodes of a group and its victims; without victims if the terminating pods free enough."""

    victims: tuple[Unit, ...]
    """Highest priority first."""
    places: Places
    cost: Cost | None = None
    """Cost of the victims, if it was compared with others."""
    others: tuple[Choice, ...] = ()
    """Other sufficient choices of victims that cost more."""


@dataclass(frozen=True, slots=True)
class GroupSearch:
    state: ClusterState
    groups: GroupBook
    budgets: BudgetBook
    priority: int
    place: PlaceGroup
    steps: Steps
    """Step budget for enumerating placements, shared by all choices of victims."""
    resources: tuple[int, ...] = ()
    """The resources that alone decide where members fit, if so: then victims follow from sums."""
    depends_on_other_nodes: bool = True
    """Whether pods elsewhere decide where members may go."""
    keeping: Collection[str] = ()
    """Uids of pods that must not be evicted, whatever their priority."""
    rows: IntArray | None = None
    """Where the group may go and victims are sought; pods elsewhere are evicted only together with these."""

    def find(self) -> EvictionPlan | None:
        return self.without_victims() or self._with_victims(thorough=True)

    def without_victims(self) -> EvictionPlan | None:
        """The placement once all terminating pods are gone."""
        ending = [record for record in self._attached() if record.is_ending]
        is_clearing = self.state.devices.held.is_any_clearing
        places = self._placed_without([], ending) if ending or is_clearing else ()
        return EvictionPlan((), places) if places else None

    def find_quickly(self) -> EvictionPlan | None:
        """The same, without trying other placements that would spare more victims."""
        return self.without_victims() or self._with_victims(thorough=False)

    def _with_victims(self, *, thorough: bool) -> EvictionPlan | None:
        attached = self._attached()
        ending = [record for record in attached if record.is_ending]
        units = self._units(attached)
        places = self._placed_without(units, ending) if units else ()
        if not places:
            return None
        as_it_likes = self._where_it_likes(units, places, ending)
        if not thorough:
            return replace(as_it_likes, cost=self.cost(as_it_likes))
        pruned = self._sparing_more(as_it_likes.victims, ending, len(places))
        moved = self._sparing_more(units, ending, len(places))
        answers = [answer for answer in (as_it_likes, pruned, moved) if answer is not None]
        best = min(answers, key=self.cost)
        chosen = self._cheaper(best, units, ending, len(places)) or best
        return replace(chosen, cost=self.cost(chosen), others=self._others(chosen, answers))

    def _others(self, chosen: EvictionPlan, answers: Sequence[EvictionPlan]) -> tuple[Choice, ...]:
        """Other answers, without those that evict the same units and more: they are no alternative."""
        different = {tuple(map(id, room.victims)): room for room in reversed(answers)}
        enough = tuple(map(id, chosen.victims))
        others = (room for ids, room in different.items() if not all(one in ids for one in enough))
        ranked = sorted(others, key=self.cost)
        return tuple(Choice(room.victims, self.cost(room)) for room in ranked)

    def cost(self, room: EvictionPlan) -> Cost:
        violating, _ = self.budgets.split(room.victims)
        return cost_of(room.victims, len(violating))

    def _cheaper(
        self, best: EvictionPlan, units: Sequence[Unit], ending: Sequence[PodRecord], members: int
    ) -> EvictionPlan | None:
        """The cheapest sufficient choice of few victims that costs less; None if none was found in time."""
        trials = self._trials(best.victims, members)
        bar = self.cost(best)
        # Units above the highest priority so far never cost less, unless that spares a budget.
        pool = [unit for unit in units if bar.budgets or unit.priority <= bar.highest]
        small = _small_choices(pool) if trials else ()
        priced = [(self.cost(EvictionPlan(choice, ())), choice) for choice in small]
        cheaper = sorted((one for one in priced if one[0] < bar), key=lambda one: one[0])
        for _, choice in cheaper[:trials]:
            if places := self._placed_without(choice, ending):
                return self._without_needless(choice, places, ending)
        return None

    def _sparing_more(
        self, pool: Sequence[Unit], ending: Sequence[PodRecord], members: int
    ) -> EvictionPlan | None:
        """Spare units that the group's placement can do without: protected units first, then by priority.

        Many are spared at once where that works, within a number of trials; None if none was spared by then.
        """
        places: Places = ()
        violating, harmless = self.budgets.split(pool)
        evicted = {id(unit): unit for unit in (*violating, *harmless)}
        blocks = [list(evicted.values())]
        for _ in range(self._trials(pool, members)):
            if not blocks:
                break
            block = blocks.pop(0)
            ids = dict.fromkeys(map(id, block))
            found = self._placed_without([u for key, u in evicted.items() if key not in ids], ending)
            if found:
                places = found
                evicted = {key: unit for key, unit in evicted.items() if key not in ids}
            elif len(block) > 1:
                middle = len(block) // 2
                blocks[:0] = [block[:middle], block[middle:]]
        return self._without_needless(evicted.values(), places, ending) if places else None

    def _trials(self, pool: Sequence[Unit], members: int) -> int:
        placing = _EFFORT_OF_A_MEMBER * members + self.state.nodes.alive.size // _NODES_IN_AN_EFFORT
        return min(_MAX_TRIALS, _MAX_EFFORT // (sum(len(unit.records) for unit in pool) + placing))

    def _without_needless(
        self, evicted: Iterable[Unit], places: Places, ending: Sequence[PodRecord]
    ) -> EvictionPlan:
        """Spare every victim that can stay beside these placements and that earlier checks missed."""
        units = sorted(evicted, key=by_importance)
        spared = self._spared(units, places, units, ending)
        return EvictionPlan(tuple(unit for unit in units if id(unit) not in spared), places)

    def _attached(self) -> list[PodRecord]:
        """Pods on the rows that the group may use; all pods, where pods elsewhere also count."""
        if self.rows is None or self.depends_on_other_nodes:
            return self.state.attached_records()
        names = self.state.nodes.names
        return [record for row in self.rows.tolist() for record in self.state.pods_on(names[row])]

    def _units(self, attached: Sequence[PodRecord]) -> list[Unit]:
        staying = [record for record in attached if not record.is_ending]
        units = units_below(staying, self.priority, self.groups)
        return [unit for unit in units if not self._keeps(unit)] if self.keeping else units

    def _keeps(self, unit: Unit) -> bool:
        return any(record.ref.uid in self.keeping for record in unit.records)

    def _where_it_likes(
        self, units: Sequence[Unit], places: Places, ending: Sequence[PodRecord]
    ) -> EvictionPlan:
        violating, _ = self.budgets.split(units)
        spared = self._spared(units, places, violating, ending) if violating else {}
        pool = [unit for unit in units if id(unit) not in spared]
        pool, places = self._lowest_level(pool, places, ending)
        violating, harmless = self.budgets.split(pool)
        spared = self._spared(pool, places, [*violating, *harmless], ending)
        return EvictionPlan(tuple(unit for unit in pool if id(unit) not in spared), places)

    def _lowest_level(
        self, pool: Sequence[Unit], places: Places, ending: Sequence[PodRecord]
    ) -> tuple[list[Unit], Places]:
        """The fewest priorities that suffice, from the lowest up."""
        levels = sorted(dict.fromkeys(unit.priority for unit in pool))
        low, high = 0, len(levels) - 1
        best: tuple[list[Unit], Places] = (list(pool), places)
        while low < high:
            middle = (low + high) // 2
            part = [unit for unit in pool if unit.priority <= levels[middle]]
            found = self._placed_without(part, ending)
            if found:
                best, high = (part, found), middle
            else:
                low = middle + 1
        return best

    @contextmanager
    def all_gone(self) -> Iterator[None]:
        """The state without the pods that may be evicted, and without those that terminate."""
        attached = self._attached()
        ending = [record for record in attached if record.is_ending]
        with self._without([*ending, *_records(self._units(attached))]):
            yield

    @contextmanager
    def _without(self, gone: Sequence[PodRecord]) -> Iterator[None]:
        if self.resources:
            with self.state.lightened(gone):
                yield
            return
        draft = Draft(self.state)
        draft.remove(gone)
        yield
        draft.roll_back()

    def _placed_without(self, units: Sequence[Unit], ending: Sequence[PodRecord]) -> Places:
        with self._without([*ending, *_records(units)]):
            return self._place()

    def _place(self) -> Places:
        """Most choices do not suffice, so checking one must not use up the steps of the others."""
        share = Steps(self.steps.left // _SHARES)
        self.steps.left -= share.left
        places = self.place(share)
        self.steps.left += share.left
        return places

    def _spared(
        self, pool: Sequence[Unit], places: Places, order: Sequence[Unit], ending: Sequence[PodRecord]
    ) -> dict[int, None]:
        """Ids of the units that can stay beside the group's placements, tried in this order."""
        if self.resources:
            return self._spared_by_sums(pool, places, order, ending)
        nodes = dict.fromkeys(node for _, node in places)
        near = [unit for unit in order if _touches(unit, nodes)]
        close = dict.fromkeys(map(id, near))
        far = [unit for unit in order if id(unit) not in close]
        spared: dict[int, None] = {} if self.depends_on_other_nodes else dict.fromkeys(map(id, far))
        draft = Draft(self.state)
        draft.remove([*ending, *_records(unit for unit in pool if id(unit) not in spared)])
        for record, node in places:
            draft.place([record], np.array([self.state.nodes.row_of[node]]))
        # Units are put back in blocks where that works; the result equals putting them back one by one.
        blocks = [block for block in (far if self.depends_on_other_nodes else [], near) if block]
        for _ in range(_MAX_CHECKS):
            if not blocks:
                break
            block = blocks.pop(0)
            before = draft.checkpoint()
            draft.put_back(_records(block))
            if self._still_fits(draft, block, places):
                spared |= dict.fromkeys(map(id, block))
                continue
            draft.roll_back(before)
            if len(block) > 1:
                middle = len(block) // 2
                blocks[:0] = [block[:middle], block[middle:]]
        draft.roll_back()
        return spared

    def _spared_by_sums(
        self, pool: Sequence[Unit], places: Places, order: Sequence[Unit], ending: Sequence[PodRecord]
    ) -> dict[int, None]:
        """The same, where it is enough that no node of the group exceeds its capacity."""
        sums = Sums(self.state.nodes, self.resources)
        nodes = list(dict.fromkeys(node for _, node in places))
        free = dict(zip(nodes, sums.free([self.state.nodes.row_of[node] for node in nodes]), strict=True))
        for record in (*ending, *_records(pool)):
            if record.node in free:
                free[record.node] = plus(free[record.node], sums.requests[record.pod_class])
        for record, node in places:
            free[node] = minus(free[node], sums.requests[record.pod_class])
        spared: dict[int, None] = {}
        for unit in order:
            left: dict[str, Amounts] = {}
            for record in unit.records:
                node = record.node
                if node in free:
                    left[node] = minus(left.get(node) or free[node], sums.requests[record.pod_class])
            if not any(map(is_short, left.values())):
                free |= left
                spared[id(unit)] = None
        return spared

    def _still_fits(self, draft: Draft, block: Sequence[Unit], places: Places) -> bool:
        """Whether the members still fit on their nodes with these units back."""
        changed = dict.fromkeys(record.node for record in _records(block))
        concerned = [(r, node) for r, node in places if self.depends_on_other_nodes or node in changed]
        before = draft.checkpoint()
        draft.remove([record for record, _ in concerned])
        fits = all(self._takes(draft, record, node) for record, node in concerned)
        draft.roll_back(before)
        return fits

    def _takes(self, draft: Draft, record: PodRecord, node: str) -> bool:
        """Place the member on its node, beside earlier ones, if feasible; returns whether it is."""
        row = self.state.nodes.row_of[node]
        if self.state.scores(self.state.scheduling_class(record)).totals()[row] == REFUSED:
            return False
        draft.place([record], np.array([row]))
        return True


def _small_choices(units: Sequence[Unit]) -> list[tuple[Unit, ...]]:
    """All choices of one unit, of two, of three and so on, up to a limit; highest priority first in each."""
    choices: list[tuple[Unit, ...]] = []
    for size in range(1, _LARGEST_CHOICE + 1):
        if len(choices) + comb(len(units), size) > _MAX_CHOICES:
            break
        choices += combinations(units, size)
    return choices


def _records(units: Iterable[Unit]) -> list[PodRecord]:
    return [record for unit in units for record in unit.records]


def _touches(unit: Unit, nodes: Collection[str]) -> bool:
    return any(record.node in nodes for record in unit.records)
