"""Trees against going through every placement: what is bound keeps every rule, and with the exact search no placement is missed.

That also goes for trees of which some groups run already, on nodes that may be gone, or have come to their end.
"""

from collections import Counter
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from posse.engine.decisions import Solve
from posse.engine.events import Solved
from posse.engine.exact.problem_builder import question_of
from posse.engine.groups.tree import root_of
from posse.engine.keys import GroupKey
from posse.engine.options import EngineOptions
from posse.engine.placement_problem import GroupDemand, PlacementProblem, PodSet
from posse.solver.solving import solve
from tests.differential.every_placement import is_solvable
from tests.support.builders import NAMESPACE, composite, gang, initially_scheduled, node, one_domain, pod
from tests.support.effort import up_to
from tests.support.engine_driver import Driver, binds, group_reports, placements

_EFFORT = 10.0
_KEYS = ("block", "rack")
_NO_DOUBT = "Proven: it cannot fit"
_VANISHED = -1
_MORE_THAN_THERE_ARE = 9
_RUNS = GroupDemand(0)
_CANNOT_START = GroupDemand(1)


@dataclass(frozen=True)
class Scene:
    """A tree and its cluster."""

    problem: PlacementProblem
    """The pods that wait and the minimums of the groups, with what is free beside those on nodes."""
    running: dict[str, tuple[int, ...]]
    """Of a group, the nodes of those that have one."""
    over: frozenset[str]
    """Groups that ran, and of which too few are left."""

    def minimum(self, demand, name):
        return _MORE_THAN_THERE_ARE if name in self.over else demand.minimum

    def domains(self, demand, name):
        """Return those that pods below it are in, as far as their nodes are known."""
        nodes = [one for leaf, _ in leaves_of(demand, name) for one in self.running[leaf] if one != _VANISHED]
        return {self.problem.domains[demand.key][one] for one in nodes} if demand.key is not None else set()

    def is_started(self, demand, name):
        if demand.children:
            return sum(self.is_started(*child) for child in children_of(demand, name)) >= demand.minimum
        return name in self.over or len(self.running[name]) >= demand.minimum

    def rest(self, demand, name):
        """Return the team as it is asked for beside what runs."""
        domains = self.domains(demand, name)
        if self.is_started(demand, name):
            return _RUNS
        if len(domains) > 1:
            return _CANNOT_START
        pinned = replace(demand, domain=min(domains, default=None))
        if demand.children:
            return replace(pinned, children=tuple(self.rest(*child) for child in children_of(demand, name)))
        return replace(pinned, minimum=demand.minimum - len(self.running[name]))

    @property
    def has_started(self):
        return self.is_started(self.problem.root, "t")

    @property
    def can_start(self):
        return is_solvable(replace(self.problem, root=self.rest(self.problem.root, "t")))


def children_of(demand, name):
    return [(child, f"{name}-{index}") for index, child in enumerate(demand.children)]


def leaves_of(demand, name):
    """Return groups of pods, by name."""
    if not demand.children:
        return [(name, demand)]
    return [leaf for child in children_of(demand, name) for leaf in leaves_of(*child)]


@st.composite
def problems(draw, least=1):
    """Make a root with groups, or groups of groups, of pods of up to three sizes; at least so many nodes and groups."""
    count = draw(st.integers(least, 4))
    amounts = st.lists(st.integers(least - 1, 6), min_size=count, max_size=count).map(tuple)
    free = (draw(amounts),)
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True))
    pod_sets = tuple(PodSet((size,), tuple(have // size for have in free[0])) for size in sizes)
    domains = st.lists(st.integers(0, 1), min_size=count, max_size=count).map(tuple)
    return PlacementProblem(
        free, pod_sets, draw(_branches(len(pod_sets), least, 1)), (draw(domains), draw(domains))
    )


def _branches(pod_sets, least, depth):
    key = st.sampled_from((None, None, 0, 1))
    pods = st.dictionaries(st.integers(0, pod_sets - 1), st.integers(1, 2), min_size=1, max_size=2)
    leaves = st.builds(
        lambda minimum, pods, key: GroupDemand(
            min(minimum, sum(pods.values())), tuple(pods.items()), key=key
        ),
        st.integers(1, 3),
        pods,
        key,
    )
    below = leaves if not depth else leaves | _branches(pod_sets, least, depth - 1)
    return st.builds(
        lambda minimum, children, key: GroupDemand(min(minimum, len(children)), children=children, key=key),
        st.integers(1, 3),
        st.lists(below, min_size=least, max_size=3).map(tuple),
        key,
    )


def fresh(problem):
    return Scene(problem, {name: () for name, _ in leaves_of(problem.root, "t")}, frozenset())


@st.composite
def begun(draw):
    """Make a tree of which some groups run, on known nodes or others, or have come to their end."""
    problem = draw(problems(least=2))
    names = [name for name, _ in leaves_of(problem.root, "t")]
    known = st.integers(0, problem.node_count - 1)
    nodes = st.lists(known | st.just(_VANISHED), max_size=2).map(tuple)
    running = {name: draw(st.just(()) | st.just((_VANISHED,)) | nodes) for name in names}
    return Scene(problem, running, frozenset(draw(st.sets(st.sampled_from(names), max_size=1))))


def objects_of(context):
    """Nodes, groups and pods that make the scene."""
    taken = Counter(one for nodes in context.running.values() for one in nodes)
    for index, cpu in enumerate(context.problem.free[0]):
        columns = zip(_KEYS, context.problem.domains, strict=True)
        labels = {name: f"d{column[index]}" for name, column in columns}
        yield node(f"n{index}", cpu=str(cpu + taken[index]), labels=labels)
    yield from _parts(context, context.problem.root, "t", "")


def _parts(context, demand, name, parent):
    settings = one_domain(_KEYS[demand.key]) if demand.key is not None else {}
    if parent:
        settings["parent_composite_pod_group_name"] = parent
    if demand.children:
        yield composite(name, demand.minimum, **settings)
        for child in children_of(demand, name):
            yield from _parts(context, *child, name)
        return
    told = (initially_scheduled("True"),) if name in context.over else ()
    yield gang(name, context.minimum(demand, name), conditions=told, **settings)
    if name in context.over:
        yield pod(f"{name}_done", cpu="1", group=name, on="n0", phase="Succeeded")
    for index, where in enumerate(context.running[name]):
        yield pod(f"{name}_runs-{index}", cpu="1", group=name, on=f"n{where}")
    for sort, number in demand.pods:
        for index in range(number):
            cpu = str(context.problem.pod_sets[sort].wanted[0])
            yield pod(f"{name}_{sort}-{index}", cpu=cpu, group=name)


def decided(context, *, asks):
    driver = Driver(*objects_of(context), options=EngineOptions(asks=asks))
    decisions = driver.decide()
    while questions := [one for one in decisions if isinstance(one, Solve)]:
        for asked in questions:
            driver.engine.absorb(Solved(asked.group, asked.number, solve(asked.problem, _EFFORT)))
        decisions = driver.decide()
    return decisions


def check_rules(context, bound):
    """No node over capacity, no group below its minimum, none across domains."""
    used = dict.fromkeys(range(context.problem.node_count), 0)
    for name, where in bound.items():
        used[int(where[1:])] += context.problem.pod_sets[
            int(name.rpartition("_")[2].partition("-")[0])
        ].wanted[0]
    assert all(amount <= context.problem.free[0][index] for index, amount in used.items())
    assert _check_team(context, context.problem.root, "t", bound)[0] or not bound


def _check_team(context, demand, name, bound):
    """Return whether it has started, and the nodes on which there are more of it now."""
    if demand.children:
        below = [_check_team(context, *child, bound) for child in children_of(demand, name)]
        there = {where for _, nodes in below for where in nodes}
        started = sum(one for one, _ in below) >= demand.minimum
        assert started or not there
    else:
        own = [int(where[1:]) for pod_name, where in bound.items() if pod_name.partition("_")[0] == name]
        there, count = set(own), len(own) + len(context.running[name])
        assert count >= context.minimum(demand, name) or not own
        started = name in context.over or count >= demand.minimum
    if demand.key is not None and there:
        column = context.problem.domains[demand.key]
        assert len({column[where] for where in there} | context.domains(demand, name)) == 1
    return started, there


def check_without_asking(context):
    decisions = decided(context, asks=False)
    assert len(binds(decisions)) <= 1
    check_rules(context, placements(decisions))
    refusals = [message for name, _, _, message in group_reports(decisions) if name == "t"]
    if any(_NO_DOUBT in message for message in refusals):
        assert context.has_started or not context.can_start


@given(problems().map(fresh))
@settings(deadline=None, max_examples=up_to(200))
def test_what_is_bound_of_a_tree_keeps_every_rule(context):
    check_without_asking(context)


@given(begun())
@settings(deadline=None, max_examples=up_to(200))
def test_what_is_bound_of_a_tree_of_which_some_run_keeps_every_rule(context):
    check_without_asking(context)


@given(problems().map(fresh))
@settings(deadline=None, max_examples=up_to(100))
def test_with_the_exact_search_a_tree_starts_exactly_if_it_can(context):
    bound = placements(decided(context, asks=True))
    check_rules(context, bound)
    assert bool(bound) == context.can_start


@given(begun())
@settings(deadline=None, max_examples=up_to(200))
def test_what_would_be_asked_of_a_tree_of_which_some_run_has_an_answer_exactly_if_it_can_start(context):
    known = Driver(*objects_of(context)).engine._knowledge
    root = root_of(known.groups, GroupKey(NAMESPACE, "t", is_composite=True))
    question = question_of(known.state, root)
    if question is not None and question.problem.node_count:
        assert is_solvable(question.problem) == context.can_start
