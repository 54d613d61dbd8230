"""The exact search against going through every placement: never a missed solution, never a false proof, never a bad plan."""

from collections import Counter
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.placement_problem import GroupDemand, PlacementProblem, PodSet, Share, Solution, leaves
from posse.engine.proof import Outcome
from posse.solver.solving import solve
from tests.differential.every_placement import is_solvable

_EFFORT = 10.0


@st.composite
def problems(draw: st.DrawFn) -> PlacementProblem:
    """Make one whose teams may be pinned, also to a domain without any node, and may have what they need."""
    nodes = draw(st.integers(1, 4))
    amounts = st.lists(st.integers(0, 6), min_size=nodes, max_size=nodes).map(tuple)
    free = (draw(amounts), draw(amounts))
    wanted = draw(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=3))
    pod_sets = tuple(
        PodSet(one, tuple(_room(free, one, node) * draw(st.booleans()) for node in range(nodes)))
        for one in wanted
    )
    domain = st.lists(st.integers(-1, 1), min_size=nodes, max_size=nodes).map(tuple)
    return PlacementProblem(
        free, pod_sets, draw(_teams(len(pod_sets), depth=2)), (draw(domain), draw(domain))
    )


def _room(free: tuple[tuple[int, ...], ...], wanted: tuple[int, ...], node: int) -> int:
    return min(line[node] // want for line, want in zip(free, wanted, strict=True) if want)


def _teams(pod_sets: int, depth: int) -> st.SearchStrategy[GroupDemand]:
    where = st.sampled_from(((None, None), (None, None), (0, None), (1, None), (0, 0), (1, 1), (1, 2)))
    pods = st.dictionaries(st.integers(0, pod_sets - 1), st.integers(1, 2), min_size=1, max_size=2)
    of_pods = st.builds(
        lambda minimum, pods, where: GroupDemand(
            min(minimum, sum(pods.values())), tuple(pods.items()), key=where[0], domain=where[1]
        ),
        st.integers(0, 3),
        pods,
        where,
    )
    if not depth:
        return of_pods
    children = st.lists(_teams(pod_sets, depth - 1), min_size=1, max_size=2).map(tuple)
    of_teams = st.builds(
        lambda minimum, children, where: GroupDemand(
            min(minimum, len(children)), children=children, key=where[0], domain=where[1]
        ),
        st.integers(1, 2),
        children,
        where,
    )
    return of_pods | of_teams


@given(problems())
@settings(deadline=None)
def test_a_solution_is_found_exactly_where_there_is_one(problem: PlacementProblem) -> None:
    solution = solve(problem, _EFFORT)
    assert solution.outcome is (Outcome.PLACED if is_solvable(problem) else Outcome.IMPOSSIBLE)


@given(problems())
@settings(deadline=None)
def test_a_solution_keeps_every_rule(problem: PlacementProblem) -> None:
    solution = solve(problem, _EFFORT)
    if solution.outcome is Outcome.PLACED:
        _check_room(problem, solution)
        started = iter(solution.shares)
        assert _check_team(problem, problem.root, started)[0]


def _check_room(problem: PlacementProblem, solution: Solution) -> None:
    used = Counter[tuple[int, int]]()
    for leaf, shares in zip(leaves(problem.root), solution.shares, strict=True):
        for (sort, number), share in zip(leaf.pods, shares, strict=True):
            assert sum(count for _, count in share) <= number
            for node, count in share:
                assert problem.pod_sets[sort].room[node] >= count
                for resource, wanted in enumerate(problem.pod_sets[sort].wanted):
                    used[resource, node] += wanted * count
    assert all(problem.free[resource][node] >= amount for (resource, node), amount in used.items())


def _check_team(
    problem: PlacementProblem, demand: GroupDemand, shares: Iterator[tuple[Share, ...]]
) -> tuple[bool, set[int]]:
    """Whether it started, and on which nodes it is."""
    if demand.children:
        below = [_check_team(problem, child, shares) for child in demand.children]
        started = sum(one for one, _ in below) >= demand.minimum
        nodes = set[int]().union(*(on for _, on in below))
        assert started or not nodes
    else:
        share = next(shares)
        nodes = {node for one in share for node, _ in one}
        count = sum(number for one in share for _, number in one)
        started = count >= demand.minimum
        assert started or not count
    if demand.key is not None and nodes:
        domains = {problem.domains[demand.key][node] for node in nodes}
        assert len(domains) == 1
        assert min(domains) >= 0
        assert demand.domain is None or domains == {demand.domain}
    return started, nodes
