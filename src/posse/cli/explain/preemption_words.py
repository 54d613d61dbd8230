"""Sentences about preemption: the victims, their cost, and the alternatives."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from posse.cli.explain.group_words import pods
from posse.engine.explain.preemption import Forgone, PreemptionStatus, ReservedCapacity
from posse.engine.groups.annotations import EXPECTED_DURATION
from posse.engine.keys import PodRef
from posse.engine.preemption.cost import Cost
from posse.engine.preemption.marks import described
from posse.engine.reporting.messages import counted, preemption_text
from posse.kinds.machinery.durations import human_duration

_MAX_VICTIMS = 8
_MAX_FORGONE = 3
_MAX_HOLDERS = 5


def making_room(told: PreemptionStatus) -> Iterator[str]:
    if told.progress is not None:
        yield preemption_text(told.progress)
    if told.victims:
        what = "terminating" if told.is_under_way else "would be evicted"
        yield f"{what}: {_names(told.victims, _MAX_VICTIMS)}"
    if told.cost is None or not told.victims:
        return
    yield f"at a cost of {_price(told.cost)}"
    for forgone in told.forgone:
        where = f" on {forgone.node}" if forgone.node else ""
        who = _names(forgone.victims, _MAX_FORGONE)
        yield f"rather than {who}{where}: {_drawback(forgone, told.cost)}"


def held_room(rooms: Sequence[ReservedCapacity]) -> Iterator[str]:
    for room in rooms[:_MAX_HOLDERS]:
        nodes = "1 node" if room.nodes == 1 else f"{room.nodes} nodes"
        yield f"on {nodes} for {described(room.who)}, priority {room.priority}, which {_reason(room)}"
    if len(rooms) > _MAX_HOLDERS:
        yield f"and for {len(rooms) - _MAX_HOLDERS} more"
    yield from (f"what has {text} may use it" for text in passing_text(rooms))


def passing_text(rooms: Sequence[ReservedCapacity]) -> Iterator[str]:
    """How short a run may use what is reserved for a later time, if any may."""
    soonest = min((room.starts_in for room in rooms), default=math.inf)
    if 0 < soonest < math.inf:
        stated = f"activeDeadlineSeconds or annotation {EXPECTED_DURATION}"
        yield f"a run time of at most {human_duration(soonest)} ({stated})"


def _reason(room: ReservedCapacity) -> str:
    if not room.starts_in:
        return "should have started by now, but for what runs longer than expected"
    if room.starts_in < math.inf:
        return f"is expected to start in {human_duration(room.starts_in)}"
    return "is preempting" if room.is_preempting else "has waited long"


def _names(victims: Sequence[PodRef], most: int) -> str:
    named = ", ".join(f"{one.namespace}/{one.name}" for one in victims[:most])
    return f"{named} and {len(victims) - most} more" if len(victims) > most else named


def _price(cost: Cost) -> str:
    overdrawn = f"; {_overdrawn(cost)}" if cost.budgets else ""
    return f"{pods(cost.pods)}, priority {cost.highest} at most{overdrawn}"


def _overdrawn(cost: Cost) -> str:
    return (
        "beyond a disruption budget"
        if cost.pods == 1
        else f"among them {counted(cost.budgets, 'unit')} beyond a disruption budget"
    )


def _drawback(forgone: Forgone, chosen: Cost) -> str:
    """Name the criterion that decided: the first in which the costs differ."""
    cost = forgone.cost
    if cost < chosen:
        return "which would now be enough too, and cost less"
    field = next((name for name in Cost._fields if getattr(cost, name) != getattr(chosen, name)), "")
    # The sum of priorities counts pods first of all.
    if field == "total" and cost.pods > chosen.pods:
        field = "pods"
    return _DRAWBACKS[field](cost)


_DRAWBACKS: Mapping[str, Callable[[Cost], str]] = {
    "budgets": _overdrawn,
    "highest": lambda cost: f"of priority {cost.highest}, which is higher",
    "total": lambda _: "their priorities add up to more",
    "pods": lambda cost: f"{pods(cost.pods)}, which is more",
    "dependents": lambda cost: f"which would take {pods(cost.dependents)} along that they own",
    "whole": lambda _: "of a group that is evicted as a whole, which ranks above single pods",
    "started": lambda _: "which started earlier",
    "": lambda _: "it costs the same",
}
"""What is worse about an alternative, by the first criterion in which it differs."""
