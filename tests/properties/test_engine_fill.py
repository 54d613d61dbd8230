"""Filling a wave at a time gives exactly what taking the best node again and again gives."""

from contextlib import nullcontext

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posse.engine.placement.search.fill import fill
from posse.engine.rules.profile import Profile
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.state.draft import Draft
from tests.differential import greedy, oracle, oracle_reference
from tests.differential.strategies import clusters, neighbours, pod_named, pods, sized_pods
from tests.support.engine_parts import attached, records_of, state_of


class Whim:
    """Points by how many pods the node has, in no order: receiving a pod may make a node better, worse or neither."""

    name = "Whim"
    weight = 1

    def __init__(self, points):
        self.table = points

    def compile(self, scheduling_class, context):
        return WhimScore(self.table, context.nodes)

    def twin(self, neighbours):
        return self.table[len(neighbours) % len(self.table)]


class WhimScore:
    def __init__(self, points, nodes):
        self.table = points
        self.nodes = nodes

    def points(self, rows):
        slots = self.nodes.requested[self.nodes.resource_index["pods"], rows]
        return np.array(self.table)[slots % len(self.table)]


def names_of_placed(state, records):
    placed = fill(state, Draft(state), state.scheduling_class(records[0]), records)
    assert all(record.node for record in records[:placed])
    assert not any(record.node for record in records[placed:])
    return [record.node for record in records[:placed]]


def names_of_greedy(world, pods, judge):
    names = []
    for one in pods:
        row = greedy.place_one(world, one, judge)
        if row is None:
            break
        names.append(world.nodes[row].metadata.name)
    return names


def check(nodes, there, turn, pods_to_place, judge, profile=DEFAULT_PROFILE, only=None):
    """`only` is the number of the node that pods may go to, if there is just one."""
    state = state_of(*nodes, profile=profile)
    world = greedy.World(nodes, [[] for _ in nodes], turn)
    rows = {one.metadata.name: row for row, one in enumerate(nodes)}
    for neighbour, name in there:
        attached(state, neighbour, name)
        if name in rows:
            world.pods_on[rows[name]].append(neighbour)
    state.turn = turn
    with nullcontext() if only is None else state.confined(np.array([only])):
        placed = names_of_placed(state, records_of(state, pods_to_place))
    assert placed == names_of_greedy(world, pods_to_place, judge if only is None else at(nodes[only], judge))
    assert state.turn == world.turn


def at(node, judge):
    """The judge, where all other nodes are out of the question."""

    def judge_one(pod, places):
        return {name: total for name, total in judge(pod, places).items() if name == node.metadata.name}

    return judge_one


def copies(pod, count):
    return [pod_named(pod, f"p{index}") for index in range(count)]


@given(
    clusters(),
    neighbours(),
    st.integers(0, 5),
    st.one_of(sized_pods(), pods()),
    st.integers(1, 12),
)
def test_filling_is_greedy(nodes, there, turn, pod, count):
    check(nodes, there, turn, copies(pod, count), oracle_reference.totals)


@given(
    clusters(least=1),
    neighbours(),
    st.integers(0, 5),
    st.one_of(sized_pods(), pods()),
    st.integers(1, 12),
    st.data(),
)
def test_filling_one_node_is_greedy(nodes, there, turn, pod, count, data):
    only = data.draw(st.integers(0, len(nodes) - 1))
    check(nodes, there, turn, copies(pod, count), oracle_reference.totals, only=only)


@given(
    clusters(plain=True, least=1),
    st.integers(0, 5),
    sized_pods(),
    st.integers(1, 12),
    st.lists(st.integers(0, 3), min_size=1, max_size=4).map(Whim),
)
def test_filling_is_greedy_whatever_the_score_does(nodes, turn, pod, count, whim):
    def rank(one, node, pods_there):
        return None if oracle.refusals(one, node, pods_there) else whim.twin(pods_there)

    profile = Profile(filters=DEFAULT_PROFILE.filters, row_scores=(whim,))
    check(nodes, [], turn, copies(pod, count), greedy.by_row(rank), profile)


@given(
    clusters(plain=True, least=1),
    st.lists(sized_pods(), min_size=2, max_size=3),
    st.lists(st.integers(0, 2), min_size=1, max_size=8),
)
def test_filling_class_after_class_is_greedy(nodes, kinds, turns):
    state = state_of(*nodes)
    world = greedy.World(nodes)
    for index, which in enumerate(turns):
        batch = [pod_named(kinds[which % len(kinds)], f"p{index}-{i}") for i in range(2)]
        records = records_of(state, batch)
        assert names_of_placed(state, records) == names_of_greedy(world, batch, oracle_reference.totals)
