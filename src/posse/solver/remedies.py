"""Finds the smallest changes that would let a waiting group start, by solving the changed problem.

Pods that the group could preempt count as gone if even that is not enough. Changes of one kind are combined
where one alone is not enough, such as nodes of two shapes; changes of different kinds are not.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from operator import sub

from posse.engine.placement_problem import (
    NEW_DOMAIN,
    EvictableUnit,
    Evicting,
    GroupDemand,
    MoreNodes,
    NodeShape,
    PlacementProblem,
    PodSet,
    Remedies,
    RemedyProblem,
    SmallerMinimum,
    WithoutTopology,
    leaves,
)
from posse.engine.proof import Outcome
from posse.solver.solving import solve

_MAX_SHAPES = 6
_MAX_NAMED = 3
"""Single evictions to report, each of which is enough."""
_MAX_NODES = 1000
"""Additional nodes for minimum resources; more would be no advice."""
_UNUSED = 2**31
"""Numbers from here on are free for new domains."""
_EFFORT = 0.5
"""For each problem; there may be dozens."""

Additions = tuple[tuple[NodeShape, int], ...]


def remedies(remedy_problem: RemedyProblem) -> Remedies | None:
    """None if the problem has a solution as it is."""
    problem = _eased(remedy_problem)
    if _is_solvable(problem):
        return None
    return Remedies(
        tuple(_with_more_nodes(problem, remedy_problem.shapes)),
        tuple(_by_evicting(problem, remedy_problem.evictable_units)),
        tuple(_with_smaller_minimums(problem)),
        tuple(_without_topology(problem)),
    )


def _eased(remedy_problem: RemedyProblem) -> PlacementProblem:
    """The problem without preemptible pods; unchanged if that is enough, since preemption then solves it."""
    if not remedy_problem.yielding:
        return remedy_problem.problem
    free = tuple(
        tuple(map(sum, zip(column, more, strict=True)))
        for column, more in zip(remedy_problem.problem.free, remedy_problem.yielding, strict=True)
    )
    # Nothing is preempted for minimum resources, only for pods.
    gained = [
        sum(max(amount, 0) for amount in after) - sum(max(amount, 0) for amount in before)
        for before, after in zip(remedy_problem.problem.free, free, strict=True)
    ]
    elsewhere = tuple(map(sub, remedy_problem.problem.elsewhere, gained))
    eased = replace(remedy_problem.problem, free=free, elsewhere=elsewhere)
    return remedy_problem.problem if _is_solvable(eased) else eased


def _with_more_nodes(problem: PlacementProblem, shapes: Sequence[NodeShape]) -> list[MoreNodes]:
    """Shapes of which the fewest nodes are needed come first."""
    useful = _useful(problem, shapes)
    most = _most_nodes(problem, useful)
    found = [(least, shape) for shape in useful if (least := _least(problem, shape, most))]
    if found:
        return [MoreNodes(((shape, number),)) for number, shape in sorted(found, key=lambda one: one[0])]
    together = _of_several_shapes(problem, useful, most) if len(useful) > 1 else ()
    return [MoreNodes(together)] if together else []


def _most_nodes(problem: PlacementProblem, shapes: Sequence[NodeShape]) -> int:
    """One for each pod, and what the minimum resources lack in addition."""
    pods = sum(number for leaf in leaves(problem.root) for _, number in leaf.pods)
    lacking = [0] * len(problem.elsewhere)
    for demand in _walk(problem.root):
        for resource, amount in demand.minimum_resources:
            lacking[resource] += amount
    more = 0
    for resource, amount in enumerate(lacking):
        smallest = min((shape.free[resource] for shape in shapes if shape.free[resource] > 0), default=0)
        lack = amount - problem.elsewhere[resource] - sum(max(free, 0) for free in problem.free[resource])
        if lack > 0 and smallest:
            more = max(more, -(-lack // smallest))
    return min(pods + more, max(pods, _MAX_NODES))


def _useful(problem: PlacementProblem, shapes: Sequence[NodeShape]) -> list[NodeShape]:
    """Shapes that can take pods; those in a domain to which a group is pinned come first."""
    root = problem.root
    pins = [
        (demand.key, demand.domain)
        for demand in _walk(root)
        if demand.key is not None and demand.domain is not None
    ]

    def matched(shape: NodeShape) -> int:
        return sum(shape.domains[key] == domain for key, domain in pins)

    fitting = [shape for shape in shapes if any(shape.room)]
    if root.key is not None and root.domain is not None:
        fitting = [shape for shape in fitting if shape.domains[root.key] == root.domain]
    return sorted(fitting, key=matched, reverse=True)[:_MAX_SHAPES]


def _least(problem: PlacementProblem, shape: NodeShape, most: int) -> int:
    """0 if no number of such nodes helps."""
    return _first(1, most, lambda number: _is_solvable(_enlarged(problem, ((shape, number),))))


def _of_several_shapes(problem: PlacementProblem, shapes: Sequence[NodeShape], most: int) -> Additions:
    """Minimize the number of nodes shape by shape; empty if even plenty of all shapes are not enough."""
    numbers = [most] * len(shapes)

    def does_with(position: int) -> Callable[[int], bool]:
        def does(number: int) -> bool:
            changed = [*numbers[:position], number, *numbers[position + 1 :]]
            return _is_solvable(_enlarged(problem, tuple(zip(shapes, changed, strict=True))))

        return does

    if not does_with(0)(most):
        return ()
    for position in reversed(range(len(shapes))):
        numbers[position] = _first(0, most, does_with(position))
    return tuple((shape, number) for shape, number in zip(shapes, numbers, strict=True) if number)


def _enlarged(problem: PlacementProblem, nodes: Additions) -> PlacementProblem:
    shapes = [shape for shape, number in nodes for _ in range(number)]
    return replace(
        problem,
        free=tuple((*column, *(one.free[i] for one in shapes)) for i, column in enumerate(problem.free)),
        pod_sets=tuple(
            PodSet(sort.wanted, (*sort.room, *(one.room[i] for one in shapes)))
            for i, sort in enumerate(problem.pod_sets)
        ),
        mix_of=(*problem.mix_of, *(one.mix for one in shapes)) if problem.mix_of else (),
        domains=tuple(
            (*column, *_told_apart(one.domains[i] for one in shapes))
            for i, column in enumerate(problem.domains)
        ),
    )


def _told_apart(domains: Iterable[int]) -> Iterator[int]:
    unused = count(_UNUSED)
    return (next(unused) if domain == NEW_DOMAIN else domain for domain in domains)


def _by_evicting(problem: PlacementProblem, evictable_units: Sequence[EvictableUnit]) -> list[Evicting]:
    """Single units if one is enough; else drop units from the whole set, highest priority first."""
    alone = [one for one in evictable_units if _is_solvable(_without(problem, [one]))]
    if alone:
        return [Evicting((one,)) for one in alone[:_MAX_NAMED]]
    evicted = list(evictable_units)
    if len(evicted) < 2 or not _is_solvable(_without(problem, evicted)):
        return []
    for one in reversed(evictable_units):
        others = [other for other in evicted if other is not one]
        if _is_solvable(_without(problem, others)):
            evicted = others
    return [Evicting(tuple(evicted))]


def _without(problem: PlacementProblem, evictable_units: Sequence[EvictableUnit]) -> PlacementProblem:
    free = [list(column) for column in problem.free]
    for node, amounts in (share for evictable_unit in evictable_units for share in evictable_unit.freed):
        for resource, amount in enumerate(amounts):
            free[resource][node] += amount
    return replace(problem, free=tuple(map(tuple, free)))


def _with_smaller_minimums(problem: PlacementProblem) -> Iterator[SmallerMinimum]:
    """Minimums of PodGroups first: they can be changed in place, those of CompositePodGroups cannot."""
    demands = list(_walk(problem.root))
    found = _smaller_minimums(problem)
    yield from sorted(found, key=lambda one: bool(demands[one.demand].children))


def _smaller_minimums(problem: PlacementProblem) -> Iterator[SmallerMinimum]:
    for position, demand in enumerate(_walk(problem.root)):
        # Lowering counts up from 1: the largest minimum that works is the last that is solvable.
        short = _first(1, demand.minimum - 1, _fails_with(problem, position))
        largest = (short or demand.minimum) - 1
        if largest > 0:
            yield SmallerMinimum(position, largest)


def _fails_with(problem: PlacementProblem, position: int) -> Callable[[int], bool]:
    def fails(minimum: int) -> bool:
        changed = _changed(problem.root, position, lambda demand: replace(demand, minimum=minimum))
        return not _is_solvable(replace(problem, root=changed))

    return fails


def _without_topology(problem: PlacementProblem) -> Iterator[WithoutTopology]:
    for position, demand in enumerate(_walk(problem.root)):
        if demand.key is not None:
            changed = _changed(problem.root, position, lambda one: replace(one, key=None, domain=None))
            if _is_solvable(replace(problem, root=changed)):
                yield WithoutTopology(position)


def _walk(demand: GroupDemand) -> Iterator[GroupDemand]:
    yield demand
    for child in demand.children:
        yield from _walk(child)


def _changed(root: GroupDemand, position: int, change: Callable[[GroupDemand], GroupDemand]) -> GroupDemand:
    """The tree with one group changed."""
    numbers = iter(range(position + 1))

    def rebuilt(demand: GroupDemand) -> GroupDemand:
        number = next(numbers, None)
        children = tuple(rebuilt(child) for child in demand.children)
        same = replace(demand, children=children)
        return change(same) if number == position else same

    return rebuilt(root)


def _first(low: int, high: int, holds: Callable[[int], bool]) -> int:
    """The smallest number for which `holds`, which must be monotonic; 0 if there is none."""
    if low > high or not holds(high):
        return 0
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _is_solvable(problem: PlacementProblem) -> bool:
    return solve(problem, _EFFORT).outcome is Outcome.PLACED
