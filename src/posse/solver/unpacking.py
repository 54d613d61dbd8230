"""Distributes the pods that a model puts into a cell over the identical nodes of that cell.

The largest pods go first, each to the first node that fits. If that fails, nothing is claimed: another
distribution may still exist.
"""

from dataclasses import dataclass

from posse.engine.placement_problem import PlacementProblem, Share
from posse.solver.model import Cell

Numbers = list[list[dict[int, int]]]
"""By group of pods, by pod set, by cell."""


@dataclass(frozen=True, slots=True)
class _Item:
    demand: int
    slot: int
    """Index of the pod set within the group."""
    sort: int
    number: int


def unpacked(
    problem: PlacementProblem, pod_sets: list[list[int]], cells: tuple[Cell, ...], numbers: Numbers
) -> tuple[tuple[Share, ...], ...] | None:
    """`pod_sets` by group of pods and slot; None if the pods of a cell do not fit on its nodes this way."""
    shares: list[list[dict[int, int]]] = [[{} for _ in demand] for demand in pod_sets]
    for index, cell in enumerate(cells):
        items = [
            _Item(demand, slot, pod_sets[demand][slot], placed[index])
            for demand, slots in enumerate(numbers)
            for slot, placed in enumerate(slots)
            if placed.get(index)
        ]
        if not _share_out(problem, cell, items, shares):
            return None
    return tuple(tuple(tuple(share.items()) for share in demand) for demand in shares)


def _share_out(
    problem: PlacementProblem, cell: Cell, items: list[_Item], shares: list[list[dict[int, int]]]
) -> bool:
    free = {node: [column[node] for column in problem.free] for node in cell.nodes}
    left = {
        (item.sort, node): problem.pod_sets[item.sort].room[node] for item in items for node in cell.nodes
    }
    held: dict[int, dict[int, int]] = {node: {} for node in cell.nodes}
    for item in sorted(items, key=lambda one: _size(problem, cell, one.sort), reverse=True):
        wanted, missing = problem.pod_sets[item.sort].wanted, item.number
        for node in cell.nodes:
            number = min(missing, left[item.sort, node], _most(free[node], wanted))
            number = min(number, _most_with_devices(problem, node, held[node], item.sort))
            if number:
                held[node][item.sort] = held[node].get(item.sort, 0) + number
                shares[item.demand][item.slot][node] = number
                left[item.sort, node] -= number
                free[node] = [have - number * want for have, want in zip(free[node], wanted, strict=True)]
                missing -= number
        if missing:
            return False
    return True


def _most(free: list[int], wanted: tuple[int, ...]) -> int:
    return min((have // want for have, want in zip(free, wanted, strict=True) if want), default=2**31)


def _most_with_devices(problem: PlacementProblem, node: int, held: dict[int, int], sort: int) -> int:
    """How many more pods of a set find devices on the node, beside those that it holds."""
    if not problem.mix_of:
        return 2**31
    mixes = problem.mixes[problem.mix_of[node]]
    if mixes[0][sort] < 0:
        return 2**31
    room = [mix for mix in mixes if all(mix[one] < 0 or mix[one] >= count for one, count in held.items())]
    return max((mix[sort] for mix in room), default=0) - held.get(sort, 0)


def _size(problem: PlacementProblem, cell: Cell, sort: int) -> float:
    """The largest part of an empty node of the cell that one pod takes."""
    wanted = problem.pod_sets[sort].wanted
    shares = (want / max(column[cell.nodes[0]], 1) for column, want in zip(problem.free, wanted, strict=True))
    return max(shares, default=0.0)
