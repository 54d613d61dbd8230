import numpy as np
import pytest

from posse.engine.state.draft import Draft
from posse.engine.state.invariants import InvariantBroken
from tests.support.builders import node, nodes, pod
from tests.support.engine_parts import attached, record_of, records_of, state_of


def cpu_used(state):
    return state.nodes.requested[0, : state.nodes.row_count].tolist()


def test_placed_pods_take_room_and_the_turn_moves_on():
    state = state_of(*nodes(3))
    records = records_of(state, [pod("a", cpu="1"), pod("b", cpu="1")])
    draft = Draft(state)
    draft.place(records, np.array([0, 1]))
    assert cpu_used(state) == [1000, 1000, 0]
    assert state.turn == 2


def test_rolled_back_nothing_has_happened():
    state = state_of(*nodes(3))
    there = attached(state, pod("there", cpu="2"), "n3")
    records = records_of(state, [pod("a", cpu="1"), pod("b", cpu="1")])
    draft = Draft(state)
    draft.place(records, np.array([0, 1]))
    draft.remove([there])
    assert cpu_used(state) == [1000, 1000, 0]
    draft.roll_back()
    assert cpu_used(state) == [0, 0, 2000]
    assert state.turn == 0
    assert [record.node for record in (*records, there)] == ["", "", "n3"]
    assert [record.ref.name for record in state.pods_on("n3")] == ["there"]


def test_a_checkpoint_keeps_what_came_before():
    state = state_of(*nodes(3))
    first, second = records_of(state, [pod("a", cpu="1"), pod("b", cpu="1")])
    draft = Draft(state)
    draft.place([first], np.array([0]))
    checkpoint = draft.checkpoint()
    draft.place([second], np.array([1]))
    draft.roll_back(checkpoint)
    assert cpu_used(state) == [1000, 0, 0]
    assert state.turn == 1
    assert draft.commit() == (first,)


def test_a_removed_pod_can_be_placed_elsewhere_and_brought_back():
    state = state_of(*nodes(2))
    record = attached(state, pod("a", cpu="1"), "n1")
    draft = Draft(state)
    draft.remove([record])
    draft.place([record], np.array([1]))
    assert record.node == "n2"
    draft.roll_back()
    assert record.node == "n1"
    assert cpu_used(state) == [1000, 0]


def test_commit_returns_the_placed_in_order_and_leaves_nothing_to_undo():
    state = state_of(*nodes(3))
    first, second = records_of(state, [pod("a", cpu="1"), pod("b", cpu="2")])
    draft = Draft(state)
    draft.place([second], np.array([2]))
    draft.place([first], np.array([0]))
    assert draft.commit() == (second, first)
    draft.roll_back()
    assert cpu_used(state) == [1000, 0, 2000]


def test_a_draft_refuses_a_checkpoint_that_is_not_its_own():
    with pytest.raises(InvariantBroken, match="checkpoint"):
        Draft(state_of()).roll_back(3)


def test_a_draft_never_overfills_a_node():
    state = state_of(node("a", cpu="1"))
    record = record_of(state, pod("p", cpu="2"))
    with pytest.raises(InvariantBroken, match=r"over capacity \(node='a', resource='cpu', requested=2000"):
        Draft(state).place([record], np.array([0]))


def test_a_node_overfilled_by_others_still_takes_what_it_has_room_for():
    state = state_of(node("a", cpu="1", memory="1Gi"))
    attached(state, pod("greedy", memory="4Gi"), "a")
    record = record_of(state, pod("p", cpu="1"))
    Draft(state).place([record], np.array([0]))
    assert record.node == "a"
