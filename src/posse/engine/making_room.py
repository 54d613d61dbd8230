"""How room is made, or could be, for a group or a pod that waits: who leaves, why they and no others; and for whom room is held.

Nothing is changed by asking. While victims are ending, it is told of them, and what else would have done.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from posse.engine.cluster_state import PodRecord
from posse.engine.decisions import GroupKey, PodRef
from posse.engine.group_trial import GroupTrials, RoomSought
from posse.engine.intake import Intake
from posse.engine.pod_trial import PodTrials
from posse.engine.preemption.cost import Choice, Cost
from posse.engine.preemption.hindsight import Hindsight, as_if_undecided, in_hindsight, uids_of
from posse.engine.preemption.preempt import Outcome
from posse.engine.preemption.units import Unit, units_below
from posse.engine.preemption.wording import waiting_for
from posse.engine.situations import as_if_its_turn
from posse.engine.trees.tree import Root
from posse.engine.trying import probe_root


@dataclass(frozen=True, slots=True)
class Forgone:
    """Victims that would have made the room as well, but were not chosen."""

    victims: tuple[PodRef, ...]
    cost: Cost
    node: str = ""
    """Where, for a single pod."""


@dataclass(frozen=True, slots=True)
class MakingRoom:
    message: str = ""
    """What came of the search for victims; empty if there was none."""
    victims: tuple[PodRef, ...] = ()
    cost: Cost | None = None
    """Of these victims."""
    forgone: tuple[Forgone, ...] = ()
    """The next best choices there were."""
    is_under_way: bool = False
    """The victims are ending already; those that have gone are not among them."""


@dataclass(frozen=True, slots=True)
class HeldRoom:
    """Room on nodes that counts as taken, because evictions make it for somebody who matters as much or more."""

    who: GroupKey | PodRef
    priority: int
    nodes: int


def room_for_group(known: Intake, trials: GroupTrials, group: Root) -> MakingRoom:
    left = _left(known, group.key)
    if not left:
        sought = _seek(known, trials, group)
        victims = sought.room.victims if sought.room is not None else ()
        return _sought(sought, _instead(known, trials, group, victims))
    with as_if_undecided(left, group.members.values()):
        units = units_below(left, group.priority, known.groups)
        seen = in_hindsight(units, known.budgets, _seek(known, trials, group).room)
        others = seen.others or _instead(known, trials, group, units)
        return _under_way(known, group.key, replace(seen, others=others))


def room_for_pod(known: Intake, trials: PodTrials, record: PodRecord, outcome: Outcome | None) -> MakingRoom:
    """`outcome` is what an attempt made now comes to."""
    left = _left(known, record.ref.uid)
    if outcome is None or not left:
        return _found(outcome) if outcome is not None else MakingRoom()
    with as_if_undecided(left, [record]):
        units = units_below(left, record.priority, known.groups)
        again = trials.probe(record).outcome
        return _under_way(known, record.ref.uid, in_hindsight(units, known.budgets, again))


def held_against(known: Intake, priority: int, own: Collection[str]) -> tuple[HeldRoom, ...]:
    """What pods of this priority may not take, but for the pods `own`; most nodes first."""
    nodes: dict[GroupKey | PodRef, dict[str, None]] = {}
    ranks: dict[GroupKey | PodRef, int] = {}
    for record in known.nominations:
        if record.standing >= priority and record.ref.uid not in own:
            who = known.entry_of(record.group) if record.group is not None else record.ref
            nodes.setdefault(who, {})[record.nominated] = None
            ranks[who] = record.standing
    held = [HeldRoom(who, ranks[who], len(where)) for who, where in nodes.items()]
    return tuple(sorted(held, key=lambda one: -one.nodes))


def _seek(known: Intake, trials: GroupTrials, group: Root) -> RoomSought:
    with as_if_its_turn(known, group):
        return trials.seek_room(group, probe_root(known.state, group).verdict)


def _instead(known: Intake, trials: GroupTrials, group: Root, victims: Sequence[Unit]) -> tuple[Choice, ...]:
    """What would be chosen if none of these could be evicted; if that is nothing, without the most important of them."""
    for kept in (victims, victims[:1]) if victims else ():
        with as_if_its_turn(known, group):
            room = trials.room(group, uids_of(kept))
        if room is not None and room.cost is not None and uids_of(room.victims) != uids_of(victims):
            return (Choice(room.victims, room.cost),)
    return ()


def _left(known: Intake, preemptor: str | GroupKey) -> list[PodRecord]:
    preemption = known.ledger.get(preemptor)
    return [known.pods[uid] for uid in preemption.left] if preemption is not None else []


def _sought(sought: RoomSought, instead: tuple[Choice, ...]) -> MakingRoom:
    others = sought.room.others if sought.room is not None else ()
    victims = tuple(victim.ref for victim in sought.victims)
    return MakingRoom(sought.message, victims, sought.cost, _forgone(others or instead))


def _found(outcome: Outcome) -> MakingRoom:
    if outcome.chosen is None:
        return MakingRoom(outcome.message)
    chosen = outcome.chosen
    return MakingRoom(outcome.message, _refs(chosen.victims), chosen.cost(), _forgone(outcome.others))


def _under_way(known: Intake, preemptor: str | GroupKey, seen: Hindsight) -> MakingRoom:
    preemption = known.ledger.get(preemptor)
    message = f"preemption: {waiting_for(preemption)}." if preemption is not None else ""
    return MakingRoom(message, _refs(seen.victims), seen.cost, _forgone(seen.others), is_under_way=True)


def _forgone(others: Sequence[Choice]) -> tuple[Forgone, ...]:
    return tuple(Forgone(_refs(other.victims), other.cost, other.node) for other in others)


def _refs(units: Sequence[Unit]) -> tuple[PodRef, ...]:
    return tuple(record.ref for unit in units for record in unit.records)
