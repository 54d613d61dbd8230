"""Whether a puzzle has a solution, by going through every way to place pods. For a handful of nodes and pods only."""

from collections.abc import Iterator
from itertools import combinations, product

from posse.engine.puzzle import Puzzle, Team

_Free = tuple[tuple[int, ...], ...]
"""By node, by resource."""


def is_solvable(puzzle: Puzzle) -> bool:
    free = tuple(zip(*puzzle.free, strict=True))
    everywhere = frozenset(range(puzzle.node_count))
    return any(True for _ in _ways(puzzle, puzzle.root, everywhere, free))


def _ways(puzzle: Puzzle, team: Team, nodes: frozenset[int], free: _Free) -> Iterator[_Free]:
    """What may be left after the team has started somewhere on these nodes."""
    for within in _domains(puzzle, team, nodes):
        if team.children:
            yield from _with_children(puzzle, team, within, free)
        else:
            yield from _with_pods(puzzle, team, within, free)


def _domains(puzzle: Puzzle, team: Team, nodes: frozenset[int]) -> Iterator[frozenset[int]]:
    if team.key is None:
        yield nodes
        return
    column = puzzle.domains[team.key]
    open_to_it = sorted({column[node] for node in nodes if column[node] >= 0})
    for domain in open_to_it if team.domain is None else [team.domain]:
        yield frozenset(node for node in nodes if column[node] == domain)


def _with_children(puzzle: Puzzle, team: Team, nodes: frozenset[int], free: _Free) -> Iterator[_Free]:
    for chosen in combinations(team.children, min(team.minimum, len(team.children))):
        if len(chosen) == team.minimum:
            yield from _one_after_the_other(puzzle, chosen, nodes, free)


def _one_after_the_other(
    puzzle: Puzzle, teams: tuple[Team, ...], nodes: frozenset[int], free: _Free
) -> Iterator[_Free]:
    if not teams:
        yield free
        return
    for left in dict.fromkeys(_ways(puzzle, teams[0], nodes, free)):
        yield from _one_after_the_other(puzzle, teams[1:], nodes, left)


def _with_pods(puzzle: Puzzle, team: Team, nodes: frozenset[int], free: _Free) -> Iterator[_Free]:
    for numbers in product(*(range(number + 1) for _, number in team.pods)):
        if sum(numbers) == team.minimum:
            sorts = [
                sort for (sort, _), number in zip(team.pods, numbers, strict=True) for _ in range(number)
            ]
            yield from _one_pod_after_the_other(puzzle, tuple(sorts), nodes, free)


def _one_pod_after_the_other(
    puzzle: Puzzle, sorts: tuple[int, ...], nodes: frozenset[int], free: _Free
) -> Iterator[_Free]:
    if not sorts:
        yield free
        return
    sort = puzzle.sorts[sorts[0]]
    outcomes: dict[_Free, None] = {}
    for node in sorted(nodes):
        left = tuple(have - want for have, want in zip(free[node], sort.wanted, strict=True))
        if sort.room[node] and min(left) >= 0:
            outcomes[(*free[:node], left, *free[node + 1 :])] = None
    for outcome in outcomes:
        yield from _one_pod_after_the_other(puzzle, sorts[1:], nodes, outcome)
