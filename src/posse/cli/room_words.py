"""Who would be evicted to make room, what that costs, and what was decided against, in words."""

from collections.abc import Iterator, Sequence

from posse.cli.group_words import pods
from posse.engine.decisions import PodRef
from posse.engine.explaining import Explanation, Forgone, PodExplanation
from posse.engine.preemption.cost import Cost

_MOST_VICTIMS = 8
_MOST_FORGONE = 3


def making_room(told: Explanation | PodExplanation) -> Iterator[str]:
    yield told.preemption.partition("preemption: ")[2]
    if told.victims:
        yield f"would be evicted: {_names(told.victims, _MOST_VICTIMS)}"
    if told.cost is None or not told.victims:
        return
    yield f"at a cost of {_price(told.cost)}"
    for forgone in told.forgone:
        where = f" on {forgone.node}" if forgone.node else ""
        who = _names(forgone.victims, _MOST_FORGONE)
        yield f"rather than {who}{where}: {_drawback(forgone, told.cost)}"


def _names(victims: Sequence[PodRef], most: int) -> str:
    named = ", ".join(f"{one.namespace}/{one.name}" for one in victims[:most])
    return f"{named} and {len(victims) - most} more" if len(victims) > most else named


def _price(cost: Cost) -> str:
    return f"{pods(cost.pods)}, priority {cost.highest} at most{_overdrawn(cost)}"


def _overdrawn(cost: Cost) -> str:
    return f"; {cost.budgets} of them beyond a disruption budget" if cost.budgets else ""


def _drawback(forgone: Forgone, chosen: Cost) -> str:
    """The first criterion by which it is worse decides."""
    cost = forgone.cost
    if cost.budgets > chosen.budgets:
        return f"{cost.budgets} of them beyond a disruption budget"
    if cost.highest > chosen.highest:
        return f"of priority {cost.highest}, which is higher"
    if cost.pods > chosen.pods:
        return f"{pods(cost.pods)}, which is more"
    if cost.total > chosen.total:
        return "their priorities add up to more"
    return "it costs the same, and they have run as long or longer"
