"""The exact search against going through every placement: never a missed solution, never a false proof, never a bad plan."""

from collections import Counter
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.puzzle import Outcome, Puzzle, Share, Solution, Sort, Team, leaves
from posse.solver.solving import solve
from tests.differential.every_placement import is_solvable

_EFFORT = 10.0


@st.composite
def puzzles(draw: st.DrawFn) -> Puzzle:
    """Make one whose teams may be pinned, also to a domain without any node, and may have what they need."""
    nodes = draw(st.integers(1, 4))
    amounts = st.lists(st.integers(0, 6), min_size=nodes, max_size=nodes).map(tuple)
    free = (draw(amounts), draw(amounts))
    wanted = draw(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), min_size=1, max_size=3))
    sorts = tuple(
        Sort(one, tuple(_room(free, one, node) * draw(st.booleans()) for node in range(nodes)))
        for one in wanted
    )
    domain = st.lists(st.integers(-1, 1), min_size=nodes, max_size=nodes).map(tuple)
    return Puzzle(free, sorts, draw(_teams(len(sorts), depth=2)), (draw(domain), draw(domain)))


def _room(free: tuple[tuple[int, ...], ...], wanted: tuple[int, ...], node: int) -> int:
    return min(line[node] // want for line, want in zip(free, wanted, strict=True) if want)


def _teams(sorts: int, depth: int) -> st.SearchStrategy[Team]:
    where = st.sampled_from(((None, None), (None, None), (0, None), (1, None), (0, 0), (1, 1), (1, 2)))
    pods = st.dictionaries(st.integers(0, sorts - 1), st.integers(1, 2), min_size=1, max_size=2)
    of_pods = st.builds(
        lambda minimum, pods, where: Team(
            min(minimum, sum(pods.values())), tuple(pods.items()), key=where[0], domain=where[1]
        ),
        st.integers(0, 3),
        pods,
        where,
    )
    if not depth:
        return of_pods
    children = st.lists(_teams(sorts, depth - 1), min_size=1, max_size=2).map(tuple)
    of_teams = st.builds(
        lambda minimum, children, where: Team(
            min(minimum, len(children)), children=children, key=where[0], domain=where[1]
        ),
        st.integers(1, 2),
        children,
        where,
    )
    return of_pods | of_teams


@given(puzzles())
@settings(deadline=None)
def test_a_solution_is_found_exactly_where_there_is_one(puzzle: Puzzle) -> None:
    solution = solve(puzzle, _EFFORT)
    assert solution.outcome is (Outcome.PLACED if is_solvable(puzzle) else Outcome.IMPOSSIBLE)


@given(puzzles())
@settings(deadline=None)
def test_a_solution_keeps_every_rule(puzzle: Puzzle) -> None:
    solution = solve(puzzle, _EFFORT)
    if solution.outcome is Outcome.PLACED:
        _check_room(puzzle, solution)
        started = iter(solution.shares)
        assert _check_team(puzzle, puzzle.root, started)[0]


def _check_room(puzzle: Puzzle, solution: Solution) -> None:
    used = Counter[tuple[int, int]]()
    for leaf, shares in zip(leaves(puzzle.root), solution.shares, strict=True):
        for (sort, number), share in zip(leaf.pods, shares, strict=True):
            assert sum(count for _, count in share) <= number
            for node, count in share:
                assert puzzle.sorts[sort].room[node] >= count
                for resource, wanted in enumerate(puzzle.sorts[sort].wanted):
                    used[resource, node] += wanted * count
    assert all(puzzle.free[resource][node] >= amount for (resource, node), amount in used.items())


def _check_team(puzzle: Puzzle, team: Team, shares: Iterator[tuple[Share, ...]]) -> tuple[bool, set[int]]:
    """Whether it started, and on which nodes it is."""
    if team.children:
        below = [_check_team(puzzle, child, shares) for child in team.children]
        started = sum(one for one, _ in below) >= team.minimum
        nodes = set[int]().union(*(on for _, on in below))
        assert started or not nodes
    else:
        share = next(shares)
        nodes = {node for one in share for node, _ in one}
        count = sum(number for one in share for _, number in one)
        started = count >= team.minimum
        assert started or not count
    if team.key is not None and nodes:
        domains = {puzzle.domains[team.key][node] for node in nodes}
        assert len(domains) == 1
        assert min(domains) >= 0
        assert team.domain is None or domains == {team.domain}
    return started, nodes
