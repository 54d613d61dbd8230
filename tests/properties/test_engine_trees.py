"""Trees against going through every placement: what is bound keeps every rule, and with the exact search nobody is missed.

That also goes for trees of which some groups run already, on nodes that may be gone, or have come to their end.
"""

from collections import Counter
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.asking import question_of
from posse.engine.decisions import GroupKey, Solve
from posse.engine.engine import EngineOptions
from posse.engine.events import Solved
from posse.engine.puzzle import Puzzle, Sort, Team
from posse.engine.trees.tree import root_of
from posse.solver.solving import solve
from tests.builders import NAMESPACE, composite, gang, initially_scheduled, node, one_domain, pod
from tests.differential.every_placement import is_solvable
from tests.driving import Driver, binds, group_reports, placements

_EFFORT = 10.0
_KEYS = ("block", "rack")
_NO_DOUBT = "No placement exists"
_VANISHED = -1
_MORE_THAN_THERE_ARE = 9
_RUNS = Team(0)
_CANNOT_START = Team(1)


@dataclass(frozen=True)
class Scene:
    """A tree and its cluster."""

    puzzle: Puzzle
    """The pods that wait and the minimums of the groups, with what is free beside those on nodes."""
    running: dict[str, tuple[int, ...]]
    """Of a group, the nodes of those that have one."""
    over: frozenset[str]
    """Groups that ran, and of which too few are left."""

    def minimum(self, team, name):
        return _MORE_THAN_THERE_ARE if name in self.over else team.minimum

    def domains(self, team, name):
        """Return those that pods below it are in, as far as their nodes are known."""
        nodes = [one for leaf, _ in leaves_of(team, name) for one in self.running[leaf] if one != _VANISHED]
        return {self.puzzle.domains[team.key][one] for one in nodes} if team.key is not None else set()

    def is_started(self, team, name):
        if team.children:
            return sum(self.is_started(*child) for child in children_of(team, name)) >= team.minimum
        return name in self.over or len(self.running[name]) >= team.minimum

    def rest(self, team, name):
        """Return the team as it is asked for beside what runs."""
        domains = self.domains(team, name)
        if self.is_started(team, name):
            return _RUNS
        if len(domains) > 1:
            return _CANNOT_START
        pinned = replace(team, domain=min(domains, default=None))
        if team.children:
            return replace(pinned, children=tuple(self.rest(*child) for child in children_of(team, name)))
        return replace(pinned, minimum=team.minimum - len(self.running[name]))

    @property
    def has_started(self):
        return self.is_started(self.puzzle.root, "t")

    @property
    def can_start(self):
        return is_solvable(replace(self.puzzle, root=self.rest(self.puzzle.root, "t")))


def children_of(team, name):
    return [(child, f"{name}-{index}") for index, child in enumerate(team.children)]


def leaves_of(team, name):
    """Return groups of pods, by name."""
    if not team.children:
        return [(name, team)]
    return [leaf for child in children_of(team, name) for leaf in leaves_of(*child)]


@st.composite
def puzzles(draw, least=1):
    """Make a root with groups, or groups of groups, of pods of up to three sizes; at least so many nodes and groups."""
    count = draw(st.integers(least, 4))
    amounts = st.lists(st.integers(least - 1, 6), min_size=count, max_size=count).map(tuple)
    free = (draw(amounts),)
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True))
    sorts = tuple(Sort((size,), tuple(have // size for have in free[0])) for size in sizes)
    domains = st.lists(st.integers(0, 1), min_size=count, max_size=count).map(tuple)
    return Puzzle(free, sorts, draw(_branches(len(sorts), least, 1)), (draw(domains), draw(domains)))


def _branches(sorts, least, depth):
    key = st.sampled_from((None, None, 0, 1))
    pods = st.dictionaries(st.integers(0, sorts - 1), st.integers(1, 2), min_size=1, max_size=2)
    leaves = st.builds(
        lambda minimum, pods, key: Team(min(minimum, sum(pods.values())), tuple(pods.items()), key=key),
        st.integers(1, 3),
        pods,
        key,
    )
    below = leaves if not depth else leaves | _branches(sorts, least, depth - 1)
    return st.builds(
        lambda minimum, children, key: Team(min(minimum, len(children)), children=children, key=key),
        st.integers(1, 3),
        st.lists(below, min_size=least, max_size=3).map(tuple),
        key,
    )


def fresh(puzzle):
    return Scene(puzzle, {name: () for name, _ in leaves_of(puzzle.root, "t")}, frozenset())


@st.composite
def begun(draw):
    """Make a tree of which some groups run, on known nodes or others, or have come to their end."""
    puzzle = draw(puzzles(least=2))
    names = [name for name, _ in leaves_of(puzzle.root, "t")]
    known = st.integers(0, puzzle.node_count - 1)
    nodes = st.lists(known | st.just(_VANISHED), max_size=2).map(tuple)
    running = {name: draw(st.just(()) | st.just((_VANISHED,)) | nodes) for name in names}
    return Scene(puzzle, running, frozenset(draw(st.sets(st.sampled_from(names), max_size=1))))


def objects_of(scene):
    """Nodes, groups and pods that make the scene."""
    taken = Counter(one for nodes in scene.running.values() for one in nodes)
    for index, cpu in enumerate(scene.puzzle.free[0]):
        columns = zip(_KEYS, scene.puzzle.domains, strict=True)
        labels = {name: f"d{column[index]}" for name, column in columns}
        yield node(f"n{index}", cpu=str(cpu + taken[index]), labels=labels)
    yield from _parts(scene, scene.puzzle.root, "t", "")


def _parts(scene, team, name, parent):
    settings = one_domain(_KEYS[team.key]) if team.key is not None else {}
    if parent:
        settings["parent_composite_pod_group_name"] = parent
    if team.children:
        yield composite(name, team.minimum, **settings)
        for child in children_of(team, name):
            yield from _parts(scene, *child, name)
        return
    told = (initially_scheduled("True"),) if name in scene.over else ()
    yield gang(name, scene.minimum(team, name), conditions=told, **settings)
    if name in scene.over:
        yield pod(f"{name}_done", cpu="1", group=name, on="n0", phase="Succeeded")
    for index, where in enumerate(scene.running[name]):
        yield pod(f"{name}_runs-{index}", cpu="1", group=name, on=f"n{where}")
    for sort, number in team.pods:
        for index in range(number):
            cpu = str(scene.puzzle.sorts[sort].wanted[0])
            yield pod(f"{name}_{sort}-{index}", cpu=cpu, group=name)


def decided(scene, *, asks):
    driver = Driver(*objects_of(scene), options=EngineOptions(asks=asks))
    decisions = driver.decide()
    while questions := [one for one in decisions if isinstance(one, Solve)]:
        for asked in questions:
            driver.engine.absorb(Solved(asked.group, asked.number, solve(asked.puzzle, _EFFORT)))
        decisions = driver.decide()
    return decisions


def check_rules(scene, bound):
    """No node over capacity, nobody below its minimum, nobody across domains."""
    used = dict.fromkeys(range(scene.puzzle.node_count), 0)
    for name, where in bound.items():
        used[int(where[1:])] += scene.puzzle.sorts[int(name.rpartition("_")[2].partition("-")[0])].wanted[0]
    assert all(amount <= scene.puzzle.free[0][index] for index, amount in used.items())
    assert _check_team(scene, scene.puzzle.root, "t", bound)[0] or not bound


def _check_team(scene, team, name, bound):
    """Return whether it has started, and the nodes on which there are more of it now."""
    if team.children:
        below = [_check_team(scene, *child, bound) for child in children_of(team, name)]
        there = {where for _, nodes in below for where in nodes}
        started = sum(one for one, _ in below) >= team.minimum
        assert started or not there
    else:
        own = [int(where[1:]) for pod_name, where in bound.items() if pod_name.partition("_")[0] == name]
        there, count = set(own), len(own) + len(scene.running[name])
        assert count >= scene.minimum(team, name) or not own
        started = name in scene.over or count >= team.minimum
    if team.key is not None and there:
        column = scene.puzzle.domains[team.key]
        assert len({column[where] for where in there} | scene.domains(team, name)) == 1
    return started, there


def check_without_asking(scene):
    decisions = decided(scene, asks=False)
    assert len(binds(decisions)) <= 1
    check_rules(scene, placements(decisions))
    refusals = [message for name, _, _, message in group_reports(decisions) if name == "t"]
    if any(_NO_DOUBT in message for message in refusals):
        assert scene.has_started or not scene.can_start


@given(puzzles().map(fresh))
@settings(deadline=None, max_examples=200)
def test_what_is_bound_of_a_tree_keeps_every_rule(scene):
    check_without_asking(scene)


@given(begun())
@settings(deadline=None, max_examples=200)
def test_what_is_bound_of_a_tree_of_which_some_run_keeps_every_rule(scene):
    check_without_asking(scene)


@given(puzzles().map(fresh))
@settings(deadline=None, max_examples=100)
def test_with_the_exact_search_a_tree_starts_exactly_if_it_can(scene):
    bound = placements(decided(scene, asks=True))
    check_rules(scene, bound)
    assert bool(bound) == scene.can_start


@given(begun())
@settings(deadline=None, max_examples=200)
def test_what_would_be_asked_of_a_tree_of_which_some_run_has_an_answer_exactly_if_it_can_start(scene):
    known = Driver(*objects_of(scene)).engine._known
    root = root_of(known.groups, GroupKey(NAMESPACE, "t", is_composite=True))
    question = question_of(known.state, root)
    if question is not None and question.puzzle.node_count:
        assert is_solvable(question.puzzle) == scene.can_start
