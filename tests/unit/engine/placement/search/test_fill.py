import numpy as np
import pytest

from posse.engine.placement.search.fill import fill
from posse.engine.rules.profile import Profile
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.state.draft import Draft
from tests.support.builders import node, nodes, pods
from tests.support.engine_parts import records_of, state_of


class MostAllocated:
    """Prefers the fullest node, so that a node becomes better by receiving a pod."""

    name = "MostAllocated"
    weight = 1

    def compile(self, scheduling_class, context):
        return MostAllocatedScore(context.nodes)


class MostAllocatedScore:
    def __init__(self, table):
        self.table = table

    def points(self, rows):
        return self.table.requested[0, rows] * 100 // np.maximum(self.table.allocatable[0, rows], 1)


def filled(state, count, **description):
    """Place pods and return how many each node got, in order of rows."""
    records = records_of(state, pods(count, **description))
    placed = fill(state, Draft(state), state.scheduling_class(records[0]), records)
    assert all(record.node for record in records[:placed])
    assert not any(record.node for record in records[placed:])
    return [len(list(state.pods_on(name))) for name in state.nodes.names]


def test_equal_nodes_take_turns():
    assert filled(state_of(*nodes(4)), 6, cpu="500m", memory="1Gi") == [2, 2, 1, 1]


def test_the_turn_goes_on_where_it_ended():
    state = state_of(*nodes(4, cpu="4", memory="4000Mi"))
    filled(state, 3, cpu="1m", memory="1Mi")
    assert state.turn == 3
    assert filled(state, 3, cpu="1m", memory="1Mi") == [2, 2, 1, 1]


@pytest.mark.parametrize("count", [1, 2])
def test_equal_nodes_take_turns_by_name_where_that_is_asked_for(count):
    state = state_of(node("c"), node("a"), node("b"))
    state.turn = 2
    records = records_of(state, pods(4, cpu="500m", memory="1Gi"))
    draft, scheduling_class = Draft(state), state.scheduling_class(records[0])
    with state.in_name_order():
        for first in range(0, 4, count):
            fill(state, draft, scheduling_class, records[first : first + count])
        assert [record.node for record in records] == ["a", "b", "c", "a"]
        draft.roll_back()
    assert state.turn == 2


def test_a_node_that_a_pod_leaves_better_balanced_gets_the_next_one_too():
    """Of very small pods the first one tips the balance down by a point, and the second one does not."""
    assert filled(state_of(*nodes(4)), 3, cpu="1m", memory="1Ki") == [3, 0, 0, 0]


def test_the_better_node_is_filled_until_it_is_not_better_any_more():
    state = state_of(node("large", cpu="8", memory="8Gi"), node("small", cpu="4", memory="4Gi"))
    assert filled(state, 3, cpu="1", memory="1Gi") == [2, 1]


def test_it_stops_where_nothing_fits():
    assert filled(state_of(*nodes(2, cpu="2")), 7, cpu="900m", memory="0") == [2, 2]


def test_nothing_is_placed_where_nothing_fits_at_all():
    assert filled(state_of(*nodes(2, cpu="1")), 3, cpu="2") == [0, 0]


def test_without_nodes_nothing_is_placed():
    assert filled(state_of(), 3, cpu="2") == []


def test_a_node_that_becomes_better_by_receiving_is_filled_first():
    state = state_of(
        *nodes(3, cpu="4"), profile=Profile(filters=DEFAULT_PROFILE.filters, row_scores=(MostAllocated(),))
    )
    assert filled(state, 6, cpu="1") == [4, 2, 0]


def test_one_step_serves_many_nodes():
    state = state_of(*nodes(50))
    before = state.nodes.version
    assert filled(state, 50, cpu="1") == [1] * 50
    assert state.nodes.version - before == 50


def test_one_node_takes_as_many_as_fit_and_the_turn_is_that_of_the_next():
    state = state_of(*nodes(3, cpu="4"))
    with state.confined(np.array([1])):
        assert filled(state, 6, cpu="1") == [0, 4, 0]
        assert state.turn == 2
        assert filled(state, 2, cpu="1") == [0, 4, 0]
