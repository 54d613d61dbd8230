"""Whether a puzzle has a solution, by going through every way to place pods. For a handful of nodes and pods only."""

from collections.abc import Iterator
from itertools import combinations, product

from posse.engine.placement_problem import GroupDemand, PlacementProblem

_Free = tuple[tuple[int, ...], ...]
"""By node, by resource."""


def is_solvable(problem: PlacementProblem) -> bool:
    free = tuple(zip(*problem.free, strict=True))
    everywhere = frozenset(range(problem.node_count))
    return any(True for _ in _ways(problem, problem.root, everywhere, free))


def _ways(
    problem: PlacementProblem, demand: GroupDemand, nodes: frozenset[int], free: _Free
) -> Iterator[_Free]:
    """What may be left after the team has started somewhere on these nodes."""
    for within in _domains(problem, demand, nodes):
        if demand.children:
            yield from _with_children(problem, demand, within, free)
        else:
            yield from _with_pods(problem, demand, within, free)


def _domains(
    problem: PlacementProblem, demand: GroupDemand, nodes: frozenset[int]
) -> Iterator[frozenset[int]]:
    if demand.key is None:
        yield nodes
        return
    column = problem.domains[demand.key]
    open_to_it = sorted({column[node] for node in nodes if column[node] >= 0})
    for domain in open_to_it if demand.domain is None else [demand.domain]:
        yield frozenset(node for node in nodes if column[node] == domain)


def _with_children(
    problem: PlacementProblem, demand: GroupDemand, nodes: frozenset[int], free: _Free
) -> Iterator[_Free]:
    for chosen in combinations(demand.children, min(demand.minimum, len(demand.children))):
        if len(chosen) == demand.minimum:
            yield from _one_after_the_other(problem, chosen, nodes, free)


def _one_after_the_other(
    problem: PlacementProblem, demands: tuple[GroupDemand, ...], nodes: frozenset[int], free: _Free
) -> Iterator[_Free]:
    if not demands:
        yield free
        return
    for left in dict.fromkeys(_ways(problem, demands[0], nodes, free)):
        yield from _one_after_the_other(problem, demands[1:], nodes, left)


def _with_pods(
    problem: PlacementProblem, demand: GroupDemand, nodes: frozenset[int], free: _Free
) -> Iterator[_Free]:
    for numbers in product(*(range(number + 1) for _, number in demand.pods)):
        if sum(numbers) == demand.minimum:
            pod_sets = [
                sort for (sort, _), number in zip(demand.pods, numbers, strict=True) for _ in range(number)
            ]
            yield from _one_pod_after_the_other(problem, tuple(pod_sets), nodes, free)


def _one_pod_after_the_other(
    problem: PlacementProblem, pod_sets: tuple[int, ...], nodes: frozenset[int], free: _Free
) -> Iterator[_Free]:
    if not pod_sets:
        yield free
        return
    sort = problem.pod_sets[pod_sets[0]]
    outcomes: dict[_Free, None] = {}
    for node in sorted(nodes):
        left = tuple(have - want for have, want in zip(free[node], sort.wanted, strict=True))
        if sort.room[node] and min(left) >= 0:
            outcomes[(*free[:node], left, *free[node + 1 :])] = None
    for outcome in outcomes:
        yield from _one_pod_after_the_other(problem, pod_sets[1:], nodes, outcome)
