"""Actual or possible preemption for a waiting group or pod.

Its victims, the alternatives, and reserved capacity.

Queries change nothing. While victims are terminating, these are shown with the alternatives.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import msgspec

from posse.engine.explain.group_status import as_if_its_turn
from posse.engine.groups.part import Root
from posse.engine.intake.knowledge import Knowledge
from posse.engine.keys import GroupKey, PodRef
from posse.engine.placement.tree.attempt import probe_placement
from posse.engine.preemption.budgets import BudgetBook
from posse.engine.preemption.cost import Choice, Cost, cost_of
from posse.engine.preemption.group_search import EvictionPlan
from posse.engine.preemption.pod_search import PodSearchResult
from posse.engine.preemption.units import Unit, units_below
from posse.engine.queue.starvation_guard import ends_by
from posse.engine.state.pod_record import PodRecord
from posse.engine.trials.group_trial import GroupTrials, VictimSearch
from posse.engine.trials.pod_trial import PodTrials
from posse.engine.verdict import GroupPreemption, PodPreemption


@dataclass(frozen=True, slots=True)
class Hindsight:
    victims: tuple[Unit, ...]
    cost: Cost
    others: tuple[Choice, ...]
    """The best alternatives, then or now."""


@contextmanager
def as_if_undecided(victims: Sequence[PodRecord], waiting: Iterable[PodRecord]) -> Iterator[None]:
    """Replay a search: no victim is terminating, and no capacity is reserved for the waiting pods."""
    endings = [(record, record.pod, record.evicted_for) for record in victims]
    nominations = [(record, record.nominated) for record in waiting]
    for record in victims:
        metadata = msgspec.structs.replace(record.pod.metadata, deletion_timestamp="")
        record.pod, record.evicted_for = msgspec.structs.replace(record.pod, metadata=metadata), ""
    for record, _ in nominations:
        record.nominated = ""
    try:
        yield
    finally:
        for record, pod, evicted_for in endings:
            record.pod, record.evicted_for = pod, evicted_for
        for record, node in nominations:
            record.nominated = node


def in_hindsight(
    units: Sequence[Unit], budgets: BudgetBook, found: EvictionPlan | PodSearchResult | None
) -> Hindsight:
    """The preemption with these victims, beside the choices that a search finds now."""
    violating, _ = budgets.split(units)
    chosen = uids_of(units)
    others = tuple(
        choice for choice in _choices(found) if not uids_of(choice.victims).keys() >= chosen.keys()
    )
    return Hindsight(tuple(units), cost_of(units, len(violating)), others)


def _choices(found: EvictionPlan | PodSearchResult | None) -> Iterator[Choice]:
    if isinstance(found, PodSearchResult) and found.chosen is not None:
        yield Choice(found.chosen.victims, found.chosen.cost(), found.chosen.node)
    elif isinstance(found, EvictionPlan) and found.cost is not None:
        yield Choice(found.victims, found.cost)
    yield from found.others if found is not None else ()


def uids_of(units: Iterable[Unit]) -> dict[str, None]:
    """Their order is irrelevant."""
    return {record.ref.uid: None for unit in units for record in unit.records}


@dataclass(frozen=True, slots=True)
class Forgone:
    """An alternative choice of victims."""

    victims: tuple[PodRef, ...]
    cost: Cost
    node: str = ""
    """The node, for a single pod."""


@dataclass(frozen=True, slots=True)
class PreemptionStatus:
    progress: PodPreemption | GroupPreemption | None = None
    """Outcome of the search for victims; None if there was none."""
    victims: tuple[PodRef, ...] = ()
    cost: Cost | None = None
    """Cost of these victims."""
    forgone: tuple[Forgone, ...] = ()
    """The next best choices."""
    is_under_way: bool = False
    """The victims are terminating; those that have left are not among them."""


@dataclass(frozen=True, slots=True)
class ReservedCapacity:
    """Capacity on nodes reserved for a pod or group of equal or higher priority."""

    who: GroupKey | PodRef
    priority: int
    nodes: int
    is_preempting: bool = True
    """Otherwise it is reserved for a group because it has waited long."""
    starts_in: float = math.inf
    """Seconds until that group is expected to start, and what ends before may pass; infinite if unknown."""


def preemption_for_group(knowledge: Knowledge, trials: GroupTrials, group: Root) -> PreemptionStatus:
    left = _left(knowledge, group.key)
    if not left:
        sought = _seek(knowledge, trials, group)
        victims = sought.room.victims if sought.room is not None else ()
        return _sought(sought, _instead(knowledge, trials, group, victims))
    with as_if_undecided(left, group.members.values()):
        units = units_below(left, group.waiting_priorities[0], knowledge.groups)
        seen = in_hindsight(units, knowledge.budgets, _seek(knowledge, trials, group).room)
        others = seen.others or _instead(knowledge, trials, group, units)
        return _under_way(knowledge, group.key, replace(seen, others=others))


def preemption_for_pod(
    knowledge: Knowledge, trials: PodTrials, record: PodRecord, outcome: PodSearchResult | None
) -> PreemptionStatus:
    """The preemption status of a pod; `outcome` is the result of an attempt made now."""
    left = _left(knowledge, record.ref.uid)
    if outcome is None or not left:
        return _found(outcome) if outcome is not None else PreemptionStatus()
    with as_if_undecided(left, [record]):
        units = units_below(left, record.priority, knowledge.groups)
        again = trials.probe(record).outcome
        return _under_way(knowledge, record.ref.uid, in_hindsight(units, knowledge.budgets, again))


def held_against(
    knowledge: Knowledge, entry: Root | PodRecord, own: Collection[str]
) -> tuple[ReservedCapacity, ...]:
    """Reservations that a group or pod meets, most nodes first; not those of `own` pods."""
    priority, key = entry.priority, entry.ref.uid if isinstance(entry, PodRecord) else entry.key
    nodes: dict[GroupKey | PodRef, dict[str, None]] = {}
    ranks: dict[GroupKey | PodRef, int] = {}
    for record in knowledge.nominations:
        if record.effective_priority >= priority and record.ref.uid not in own:
            who = knowledge.entry_of(record.group) if record.group is not None else record.ref
            nodes.setdefault(who, {})[record.nominated] = None
            ranks[who] = record.effective_priority
    held = [ReservedCapacity(who, ranks[who], len(where)) for who, where in nodes.items()]
    guard = knowledge.starvation_guard
    for guarded in guard.met_by(priority, key, ends_by(guard, knowledge.run_times, entry)):
        if not isinstance(guarded.key, GroupKey):
            continue
        who, rank, count = guarded.key, guarded.priority, guarded.rows.size
        starts_in = max(0.0, guarded.begins - knowledge.run_times.now)
        held.append(ReservedCapacity(who, rank, count, is_preempting=False, starts_in=starts_in))
    return tuple(sorted(held, key=lambda one: -one.nodes))


def _seek(knowledge: Knowledge, trials: GroupTrials, group: Root) -> VictimSearch:
    with as_if_its_turn(knowledge, group):
        return trials.seek_victims(group, probe_placement(knowledge.state, group).verdict)


def _instead(
    knowledge: Knowledge, trials: GroupTrials, group: Root, victims: Sequence[Unit]
) -> tuple[Choice, ...]:
    """The choice if none of these could be evicted; else the one without the highest-priority victim."""
    for kept in (victims, victims[:1]) if victims else ():
        with as_if_its_turn(knowledge, group):
            room = trials.room(group, uids_of(kept))
        if room is not None and room.cost is not None and uids_of(room.victims) != uids_of(victims):
            return (Choice(room.victims, room.cost),)
    return ()


def _left(knowledge: Knowledge, preemptor: str | GroupKey) -> list[PodRecord]:
    preemption = knowledge.ledger.get(preemptor)
    return [knowledge.pods[uid] for uid in preemption.left] if preemption is not None else []


def _sought(sought: VictimSearch, instead: tuple[Choice, ...]) -> PreemptionStatus:
    others = sought.room.others if sought.room is not None else ()
    victims = tuple(victim.ref for victim in sought.victims)
    return PreemptionStatus(sought.progress, victims, sought.cost, _forgone(others or instead))


def _found(outcome: PodSearchResult) -> PreemptionStatus:
    if outcome.chosen is None:
        return PreemptionStatus(outcome.progress)
    chosen = outcome.chosen
    return PreemptionStatus(outcome.progress, _refs(chosen.victims), chosen.cost(), _forgone(outcome.others))


def _under_way(knowledge: Knowledge, preemptor: str | GroupKey, seen: Hindsight) -> PreemptionStatus:
    preemption = knowledge.ledger.get(preemptor)
    progress = preemption.progress if preemption is not None else None
    return PreemptionStatus(
        progress, _refs(seen.victims), seen.cost, _forgone(seen.others), is_under_way=True
    )


def _forgone(others: Sequence[Choice]) -> tuple[Forgone, ...]:
    return tuple(Forgone(_refs(other.victims), other.cost, other.node) for other in others)


def _refs(units: Sequence[Unit]) -> tuple[PodRef, ...]:
    return tuple(record.ref for unit in units for record in unit.records)
