"""Sentences about what would let a refused group start."""

from collections.abc import Sequence

from posse.engine.placement_problem import (
    Advice,
    DemandName,
    Evicting,
    MoreNodes,
    NodeShape,
    NoNodeOpen,
    PodTooLarge,
    Remedies,
    Remedy,
    SmallerMinimum,
    TooManyShapes,
    Unadvised,
    UnmodelledRules,
    WithoutTopology,
)
from posse.engine.reporting.cause_messages import amount_text

BEHIND = "What waits ahead of it in the queue comes first, and may take added or freed capacity"
_MAX_NAMED = 4
_MAX_CHARACTERS = 400
"""Length of the sentence in a group's status."""


def advice_text(advice: Advice | Unadvised) -> str:
    """One sentence with the first remedy of each kind; empty if not even one is short enough."""
    if not isinstance(advice, Advice):
        return unadvised_text(advice)
    ways = [remedy_text(kind[0], advice.demands) for kind in advice.remedies.kinds if kind]
    if not ways:
        return no_remedy_text(advice)
    caveat = f" {BEHIND}." if advice.is_behind and yields_capacity(advice.remedies) else ""
    return f"{listed}{caveat}" if (listed := _listing(ways)) else ""


def yields_capacity(remedies: Remedies) -> bool:
    """Whether any of them adds or frees capacity, which entries ahead in the queue may take."""
    return bool(remedies.more_nodes or remedies.evictions)


def remedy_texts(remedies: Remedies, demands: Sequence[DemandName]) -> list[str]:
    return [remedy_text(remedy, demands) for kind in remedies.kinds for remedy in kind]


def unadvised_text(reason: Unadvised) -> str:
    match reason:
        case UnmodelledRules(rules):
            subject = f"{', '.join(rules)} of its pods" if rules else "the volumes of its pods"
            why = f"it cannot be calculated for {subject}"
        case NoNodeOpen(PodTooLarge() as size):
            way = "Lower the request, or add larger nodes" if size.largest else "Add nodes that have it"
            return f"{too_large_text(size)}. {way}."
        case NoNodeOpen():
            return "No node would accept any of its pods, even if it were empty. Add nodes that do."
        case TooManyShapes():
            why = "there are too many different nodes and pods"
    return f"No advice on what would let it start: {why}."


def too_large_text(size: PodTooLarge, of: str = "one of its pods") -> str:
    wanted, largest = (amount_text(size.resource, amount) for amount in (size.wanted, size.largest))
    if not size.largest:
        return f"No node has {size.resource}, of which {of} needs {wanted}"
    needs = f"it needs {wanted} of {size.resource}, and the largest node has {largest}"
    return f"No node is large enough for {of}: {needs}"


def no_remedy_text(advice: Advice) -> str:
    """A sentence that nothing was found, and what was considered."""
    kinds = ["more nodes like those there are", "evicting pods or groups", "a smaller minimum"]
    if advice.has_devices:
        kinds.remove("evicting pods or groups")
    if advice.has_topology:
        kinds.append("no topology key")
    return f"No change was found that would let it start, among {_listed(kinds)}."


def _listing(ways: Sequence[str]) -> str:
    """As many of them as fit in the status."""
    listed = "; ".join(ways)
    if len(listed) > _MAX_CHARACTERS and len(ways) > 1:
        return _listing(ways[:-1])
    return f"Any of these would let it start: {listed}." if len(listed) <= _MAX_CHARACTERS else ""


def remedy_text(remedy: Remedy, demands: Sequence[DemandName]) -> str:
    match remedy:
        case MoreNodes(nodes):
            return _listed([_more(shape, number) for shape, number in nodes])
        case Evicting(evictable_units):
            return f"evicting {_listed([one.name for one in evictable_units])}"
        case SmallerMinimum(number, minimum):
            return _smaller(demands, number, minimum)
        case WithoutTopology(number):
            return f"recreating {_name(demands, number)} without the topology constraint"


def _more(shape: NodeShape, number: int) -> str:
    nodes = "1 more node" if number == 1 else f"{number} more nodes"
    return f"{nodes} like {shape.like}{f' in {shape.where}' if shape.where else ''}"


def _smaller(demands: Sequence[DemandName], number: int, minimum: int) -> str:
    demand = demands[number]
    field = "minGroupCount" if demand.is_composite else "minCount"
    change = f"a {field} of {demand.running + minimum} instead of {demand.minimum}"
    if not demand.is_composite:
        return f"{change}{f' of {demand.name}' if len(demands) > 1 else ''}"
    # The minimum of a CompositePodGroup is immutable.
    return f"recreating {_name(demands, number)} with {change}"


def _name(demands: Sequence[DemandName], number: int) -> str:
    return demands[number].name if len(demands) > 1 else "it"


def _listed(names: Sequence[str]) -> str:
    shown, rest = list(names[:_MAX_NAMED]), len(names) - _MAX_NAMED
    if rest > 0:
        shown.append(f"{rest} more")
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
