"""The smallest changes that would let a group start which cannot start now, each of them found by solving the changed puzzle.

Only what solves the puzzle by itself is a remedy; what would take several changes at once is not looked for.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from posse.engine.puzzle import NodeShape, Outcome, Puzzle, Sort, Team, leaves
from posse.solver.solving import solve

_MOST_SHAPES = 6
_EFFORT = 1.0
"""For each puzzle; there may be dozens."""


@dataclass(frozen=True, slots=True)
class MoreNodes:
    shape: NodeShape
    number: int


@dataclass(frozen=True, slots=True)
class SmallerMinimum:
    """Of one team: of pods or of groups, counted in the order of a walk from the root, parents first."""

    team: int
    minimum: int


@dataclass(frozen=True, slots=True)
class WithoutTopology:
    """One team less that has to be in one domain."""

    team: int


Remedy = MoreNodes | SmallerMinimum | WithoutTopology


def remedies(puzzle: Puzzle, shapes: tuple[NodeShape, ...]) -> list[Remedy]:
    return [*_with_more_nodes(puzzle, shapes), *_with_smaller_minimums(puzzle), *_without_topology(puzzle)]


def _with_more_nodes(puzzle: Puzzle, shapes: tuple[NodeShape, ...]) -> list[Remedy]:
    """The shapes of which fewest are needed first; more nodes than pods cannot be needed."""
    useful = [shape for shape in shapes if any(shape.room)][:_MOST_SHAPES]
    most = sum(number for leaf in leaves(puzzle.root) for _, number in leaf.pods)
    found = [(least, shape) for shape in useful if (least := _least(puzzle, shape, most))]
    return [MoreNodes(shape, number) for number, shape in sorted(found, key=lambda one: one[0])]


def _least(puzzle: Puzzle, shape: NodeShape, most: int) -> int:
    """0 if no number of such nodes helps."""
    return _first(1, most, lambda number: _is_solvable(_enlarged(puzzle, shape, number)))


def _enlarged(puzzle: Puzzle, shape: NodeShape, number: int) -> Puzzle:
    return replace(
        puzzle,
        free=tuple(
            (*column, *[amount] * number) for column, amount in zip(puzzle.free, shape.free, strict=True)
        ),
        sorts=tuple(
            Sort(sort.wanted, (*sort.room, *[room] * number))
            for sort, room in zip(puzzle.sorts, shape.room, strict=True)
        ),
        domains=tuple(
            (*column, *[domain] * number)
            for column, domain in zip(puzzle.domains, shape.domains, strict=True)
        ),
    )


def _with_smaller_minimums(puzzle: Puzzle) -> Iterator[Remedy]:
    for position, team in enumerate(_walk(puzzle.root)):
        # Lowering counts up from 1: the largest minimum that works is the last that is solvable.
        short = _first(1, team.minimum - 1, _fails_with(puzzle, position))
        largest = (short or team.minimum) - 1
        if largest:
            yield SmallerMinimum(position, largest)


def _fails_with(puzzle: Puzzle, position: int) -> Callable[[int], bool]:
    def fails(minimum: int) -> bool:
        changed = _changed(puzzle.root, position, lambda team: replace(team, minimum=minimum))
        return not _is_solvable(replace(puzzle, root=changed))

    return fails


def _without_topology(puzzle: Puzzle) -> Iterator[Remedy]:
    for position, team in enumerate(_walk(puzzle.root)):
        if team.key is not None:
            changed = _changed(puzzle.root, position, lambda one: replace(one, key=None, domain=None))
            if _is_solvable(replace(puzzle, root=changed)):
                yield WithoutTopology(position)


def _walk(team: Team) -> Iterator[Team]:
    yield team
    for child in team.children:
        yield from _walk(child)


def _changed(root: Team, position: int, change: Callable[[Team], Team]) -> Team:
    """The tree with one team changed."""
    numbers = iter(range(position + 1))

    def rebuilt(team: Team) -> Team:
        number = next(numbers, None)
        children = tuple(rebuilt(child) for child in team.children)
        same = replace(team, children=children)
        return change(same) if number == position else same

    return rebuilt(root)


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The smallest number for which it holds, given that it then holds for all larger ones; 0 if for none."""
    if low > high or not holds(high):
        return 0
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _is_solvable(puzzle: Puzzle) -> bool:
    return solve(puzzle, _EFFORT).outcome is Outcome.PLACED
