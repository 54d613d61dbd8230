"""Trees against going through every placement: what is bound keeps every rule, and with the exact search nobody is missed."""

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.decisions import Solve
from posse.engine.engine import EngineOptions
from posse.engine.events import Solved
from posse.engine.puzzle import Puzzle, Sort, Team
from posse.solver.solving import solve
from tests.builders import composite, gang, node, one_domain, pod
from tests.differential.every_placement import is_solvable
from tests.driving import Driver, binds, group_reports, placements

_EFFORT = 10.0
_KEYS = ("block", "rack")
_NO_DOUBT = "No placement exists"


@st.composite
def trees(draw):
    """Make a puzzle: a root with groups, or groups of groups, of pods of up to three sizes."""
    count = draw(st.integers(1, 4))
    amounts = st.lists(st.integers(0, 6), min_size=count, max_size=count).map(tuple)
    free = (draw(amounts),)
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True))
    sorts = tuple(Sort((size,), tuple(have // size for have in free[0])) for size in sizes)
    domains = st.lists(st.integers(0, 1), min_size=count, max_size=count).map(tuple)
    return Puzzle(free, sorts, draw(_branches(len(sorts), 1)), (draw(domains), draw(domains)))


def _branches(sorts, depth):
    key = st.sampled_from((None, None, 0, 1))
    pods = st.dictionaries(st.integers(0, sorts - 1), st.integers(1, 2), min_size=1, max_size=2)
    leaves = st.builds(
        lambda minimum, pods, key: Team(min(minimum, sum(pods.values())), tuple(pods.items()), key=key),
        st.integers(1, 3),
        pods,
        key,
    )
    below = leaves if not depth else leaves | _branches(sorts, depth - 1)
    return st.builds(
        lambda minimum, children, key: Team(min(minimum, len(children)), children=children, key=key),
        st.integers(1, 3),
        st.lists(below, min_size=1, max_size=3).map(tuple),
        key,
    )


def objects_of(puzzle):
    """Nodes, groups and pods that make the puzzle."""
    for index, cpu in enumerate(puzzle.free[0]):
        labels = {name: f"d{column[index]}" for name, column in zip(_KEYS, puzzle.domains, strict=True)}
        yield node(f"n{index}", cpu=str(cpu), labels=labels)
    yield from _parts(puzzle, puzzle.root, "t", "")


def _parts(puzzle, team, name, parent):
    settings = one_domain(_KEYS[team.key]) if team.key is not None else {}
    if parent:
        settings["parent_composite_pod_group_name"] = parent
    if team.children:
        yield composite(name, team.minimum, **settings)
        for index, below in enumerate(team.children):
            yield from _parts(puzzle, below, f"{name}-{index}", name)
        return
    yield gang(name, team.minimum, **settings)
    for sort, number in team.pods:
        for index in range(number):
            yield pod(f"{name}_{sort}-{index}", cpu=str(puzzle.sorts[sort].wanted[0]), group=name)


def decided(puzzle, *, asks):
    driver = Driver(*objects_of(puzzle), options=EngineOptions(asks=asks))
    decisions = driver.decide()
    while questions := [one for one in decisions if isinstance(one, Solve)]:
        for asked in questions:
            driver.engine.absorb(Solved(asked.group, asked.number, solve(asked.puzzle, _EFFORT)))
        decisions = driver.decide()
    return decisions


def check_rules(puzzle, bound):
    """No node over capacity, nobody below its minimum, nobody across domains."""
    used = dict.fromkeys(range(len(puzzle.free[0])), 0)
    for name, where in bound.items():
        used[int(where[1:])] += puzzle.sorts[int(name.rpartition("_")[2].partition("-")[0])].wanted[0]
    assert all(amount <= puzzle.free[0][index] for index, amount in used.items())
    assert _check_team(puzzle, puzzle.root, "t", bound)[0] or not bound


def _check_team(puzzle, team, name, bound):
    if team.children:
        below = [
            _check_team(puzzle, child, f"{name}-{index}", bound) for index, child in enumerate(team.children)
        ]
        there = {where for _, nodes in below for where in nodes}
        started = sum(one for one, _ in below) >= team.minimum
    else:
        own = [int(where[1:]) for pod_name, where in bound.items() if pod_name.partition("_")[0] == name]
        there, started = set(own), len(own) >= team.minimum
    assert started or not there
    if team.key is not None:
        assert len({puzzle.domains[team.key][where] for where in there}) <= 1
    return started, there


@given(trees())
@settings(deadline=None, max_examples=200)
def test_what_is_bound_of_a_tree_keeps_every_rule(puzzle):
    decisions = decided(puzzle, asks=False)
    assert len(binds(decisions)) <= 1
    check_rules(puzzle, placements(decisions))
    refusals = [message for name, _, _, message in group_reports(decisions) if name == "t"]
    if any(_NO_DOUBT in message for message in refusals):
        assert not is_solvable(puzzle)


@given(trees())
@settings(deadline=None, max_examples=100)
def test_with_the_exact_search_a_tree_starts_exactly_if_it_can(puzzle):
    bound = placements(decided(puzzle, asks=True))
    check_rules(puzzle, bound)
    assert bool(bound) == is_solvable(puzzle)
