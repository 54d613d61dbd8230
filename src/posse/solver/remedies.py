"""The smallest changes that would let a group start which cannot start now, each of them found by solving the changed puzzle.

Whoever would be evicted for the group anyway counts as gone, if even that is not enough. Changes of one kind are taken together
where one alone does not do, such as nodes of two sorts; changes of different kinds are not.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from posse.engine.puzzle import NEW_DOMAIN, Impasse, NodeShape, Occupant, Outcome, Puzzle, Sort, Team, leaves
from posse.solver.solving import solve

_MOST_SHAPES = 6
_MOST_NAMED = 3
"""Single evictions that are named, each of which would do."""
_UNUSED = 2**31
"""From here on there are no domains yet."""
_EFFORT = 0.5
"""For each puzzle; there may be dozens."""

Additions = tuple[tuple[NodeShape, int], ...]


@dataclass(frozen=True, slots=True)
class MoreNodes:
    nodes: Additions


@dataclass(frozen=True, slots=True)
class Evicting:
    occupants: tuple[Occupant, ...]


@dataclass(frozen=True, slots=True)
class SmallerMinimum:
    """Of one team: of pods or of groups, counted in the order of a walk from the root, parents first."""

    team: int
    minimum: int


@dataclass(frozen=True, slots=True)
class WithoutTopology:
    """One team less that has to be in one domain."""

    team: int


Remedy = MoreNodes | Evicting | SmallerMinimum | WithoutTopology


def remedies(impasse: Impasse) -> list[Remedy] | None:
    """None if the puzzle has a solution as it is, and needs no remedy."""
    puzzle = _eased(impasse)
    if _is_solvable(puzzle):
        return None
    return [
        *_with_more_nodes(puzzle, impasse.shapes),
        *_by_evicting(puzzle, impasse.occupants),
        *_with_smaller_minimums(puzzle),
        *_without_topology(puzzle),
    ]


def _eased(impasse: Impasse) -> Puzzle:
    """Without those that make way for the group; but if that is enough, they are about to, and nothing need be changed."""
    if not impasse.yielding:
        return impasse.puzzle
    free = tuple(
        tuple(map(sum, zip(column, more, strict=True)))
        for column, more in zip(impasse.puzzle.free, impasse.yielding, strict=True)
    )
    eased = replace(impasse.puzzle, free=free)
    return impasse.puzzle if _is_solvable(eased) else eased


def _with_more_nodes(puzzle: Puzzle, shapes: Sequence[NodeShape]) -> list[Remedy]:
    """The shapes of which fewest are needed first; more nodes than pods cannot be needed."""
    useful = _useful(puzzle, shapes)
    most = sum(number for leaf in leaves(puzzle.root) for _, number in leaf.pods)
    found = [(least, shape) for shape in useful if (least := _least(puzzle, shape, most))]
    if found:
        return [MoreNodes(((shape, number),)) for number, shape in sorted(found, key=lambda one: one[0])]
    together = _of_several_shapes(puzzle, useful, most) if len(useful) > 1 else ()
    return [MoreNodes(together)] if together else []


def _useful(puzzle: Puzzle, shapes: Sequence[NodeShape]) -> list[NodeShape]:
    """Of these, the ones first that are in a domain where somebody has to be, because others of the group are there."""
    root = puzzle.root
    pins = [
        (team.key, team.domain) for team in _walk(root) if team.key is not None and team.domain is not None
    ]

    def matched(shape: NodeShape) -> int:
        return sum(shape.domains[key] == domain for key, domain in pins)

    fitting = [shape for shape in shapes if any(shape.room)]
    if root.key is not None and root.domain is not None:
        fitting = [shape for shape in fitting if shape.domains[root.key] == root.domain]
    return sorted(fitting, key=matched, reverse=True)[:_MOST_SHAPES]


def _least(puzzle: Puzzle, shape: NodeShape, most: int) -> int:
    """0 if no number of such nodes helps."""
    return _first(1, most, lambda number: _is_solvable(_enlarged(puzzle, ((shape, number),))))


def _of_several_shapes(puzzle: Puzzle, shapes: Sequence[NodeShape], most: int) -> Additions:
    """As few as possible of each, one shape after the other; nothing if even plenty of all do not help."""
    numbers = [most] * len(shapes)

    def does_with(position: int) -> Callable[[int], bool]:
        def does(number: int) -> bool:
            changed = [*numbers[:position], number, *numbers[position + 1 :]]
            return _is_solvable(_enlarged(puzzle, tuple(zip(shapes, changed, strict=True))))

        return does

    if not does_with(0)(most):
        return ()
    for position in reversed(range(len(shapes))):
        numbers[position] = _first(0, most, does_with(position))
    return tuple((shape, number) for shape, number in zip(shapes, numbers, strict=True) if number)


def _enlarged(puzzle: Puzzle, nodes: Additions) -> Puzzle:
    shapes = [shape for shape, number in nodes for _ in range(number)]
    return replace(
        puzzle,
        free=tuple((*column, *(one.free[i] for one in shapes)) for i, column in enumerate(puzzle.free)),
        sorts=tuple(
            Sort(sort.wanted, (*sort.room, *(one.room[i] for one in shapes)))
            for i, sort in enumerate(puzzle.sorts)
        ),
        domains=tuple(
            (*column, *_told_apart(one.domains[i] for one in shapes))
            for i, column in enumerate(puzzle.domains)
        ),
    )


def _told_apart(domains: Iterable[int]) -> Iterator[int]:
    unused = count(_UNUSED)
    return (next(unused) if domain == NEW_DOMAIN else domain for domain in domains)


def _by_evicting(puzzle: Puzzle, occupants: Sequence[Occupant]) -> list[Remedy]:
    """Single ones if any of them is enough; else as few together as are found by sparing the most important first."""
    alone = [one for one in occupants if _is_solvable(_without(puzzle, [one]))]
    if alone:
        return [Evicting((one,)) for one in alone[:_MOST_NAMED]]
    evicted = list(occupants)
    if len(evicted) < 2 or not _is_solvable(_without(puzzle, evicted)):
        return []
    for one in reversed(occupants):
        others = [other for other in evicted if other is not one]
        if _is_solvable(_without(puzzle, others)):
            evicted = others
    return [Evicting(tuple(evicted))]


def _without(puzzle: Puzzle, occupants: Sequence[Occupant]) -> Puzzle:
    free = [list(column) for column in puzzle.free]
    for node, amounts in (share for occupant in occupants for share in occupant.freed):
        for resource, amount in enumerate(amounts):
            free[resource][node] += amount
    return replace(puzzle, free=tuple(map(tuple, free)))


def _with_smaller_minimums(puzzle: Puzzle) -> Iterator[Remedy]:
    """Those of groups of pods first: they can be changed in place, those of groups of groups cannot."""
    teams = list(_walk(puzzle.root))
    found = _smaller_minimums(puzzle)
    yield from sorted(found, key=lambda one: bool(teams[one.team].children))


def _smaller_minimums(puzzle: Puzzle) -> Iterator[SmallerMinimum]:
    for position, team in enumerate(_walk(puzzle.root)):
        # Lowering counts up from 1: the largest minimum that works is the last that is solvable.
        short = _first(1, team.minimum - 1, _fails_with(puzzle, position))
        largest = (short or team.minimum) - 1
        if largest > 0:
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
