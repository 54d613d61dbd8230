"""What would let a refused group start, in words: line by line for who asks, and in a sentence for the group's status."""

from collections.abc import Sequence

from posse.engine.placement_problem import (
    ADVICE_OPENING,
    USELESS_OPENING,
    DemandName,
    NodeShape,
    RemedyProblem,
)
from posse.solver.remedies import Evicting, MoreNodes, Remedy, SmallerMinimum, WithoutTopology, remedies

_MOST_NAMED = 4
_LONGEST = 400
"""Of the sentence, in letters."""


def ways_out(remedy_problem: RemedyProblem) -> list[str] | None:
    """Each of these would let the group start, by itself; None if it could start as things are."""
    found = remedies(remedy_problem)
    return [_in_words(remedy, remedy_problem.demands) for remedy in found] if found is not None else None


def in_short(remedy_problem: RemedyProblem) -> str:
    """The first of each kind; empty if the group could start as things are."""
    found = remedies(remedy_problem)
    firsts: dict[type[Remedy], Remedy] = {}
    for remedy in found or ():
        firsts.setdefault(type(remedy), remedy)
    if found == []:
        return no_way_out(remedy_problem)
    return _sentence([_in_words(remedy, remedy_problem.demands) for remedy in firsts.values()])


def no_way_out(remedy_problem: RemedyProblem) -> str:
    """That nothing was found, and what was looked at."""
    kinds = ["more nodes like those there are", "evicting pods or groups", "a smaller minimum"]
    if remedy_problem.problem.domains:
        kinds.append("no topology key")
    return f"{USELESS_OPENING} {_listed(kinds)}."


def _sentence(ways: Sequence[str]) -> str:
    """As many of them as there is room for."""
    listed = "; ".join(ways)
    if len(listed) > _LONGEST and len(ways) > 1:
        return _sentence(ways[:-1])
    return f"{ADVICE_OPENING} {listed}." if listed and len(listed) <= _LONGEST else ""


def _in_words(remedy: Remedy, demands: Sequence[DemandName]) -> str:
    match remedy:
        case MoreNodes(nodes):
            return _listed([_more(shape, number) for shape, number in nodes])
        case Evicting(evictable_units):
            return f"evicting {_listed([one.name for one in evictable_units])}"
        case SmallerMinimum(number, minimum):
            return _smaller(demands, number, minimum)
        case WithoutTopology(number):
            return f"making {_who(demands, number)} anew without its topology key"


def _more(shape: NodeShape, number: int) -> str:
    nodes = "1 more node" if number == 1 else f"{number} more nodes"
    return f"{nodes} like {shape.like}{f' in {shape.where}' if shape.where else ''}"


def _smaller(demands: Sequence[DemandName], number: int, minimum: int) -> str:
    demand = demands[number]
    field = "minGroupCount" if demand.is_composite else "minCount"
    change = f"a {field} of {demand.running + minimum} instead of {demand.minimum}"
    if not demand.is_composite:
        return f"{change}{f' of {demand.name}' if len(demands) > 1 else ''}"
    # That of a CompositePodGroup cannot be changed once it exists.
    return f"making {_who(demands, number)} anew with {change}"


def _who(demands: Sequence[DemandName], number: int) -> str:
    return demands[number].name if len(demands) > 1 else "it"


def _listed(names: Sequence[str]) -> str:
    shown, rest = list(names[:_MOST_NAMED]), len(names) - _MOST_NAMED
    if rest > 0:
        shown.append(f"{rest} more")
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
