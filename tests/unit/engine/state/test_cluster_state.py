import numpy as np

from tests.support.builders import node, nodes, pod
from tests.support.engine_parts import attached, record_of, records_of, state_of


def cpu_used(state, name):
    return int(state.nodes.requested[0, state.nodes.row_of[name]])


def test_attached_pods_take_room_and_are_found_on_their_node():
    state = state_of(*nodes(3))
    records = records_of(state, [pod("a", cpu="1"), pod("b", cpu="1")])
    state.attach(records[0].pod_class, records, np.array([2, 0]))
    assert [record.node for record in records] == ["n3", "n1"]
    assert [record.ref.name for record in state.pods_on("n3")] == ["a"]
    assert (cpu_used(state, "n1"), cpu_used(state, "n2"), cpu_used(state, "n3")) == (1000, 0, 1000)


def test_a_detached_pod_leaves_no_trace():
    state = state_of(*nodes(2))
    record = attached(state, pod("a", cpu="1"), "n1")
    state.detach(record)
    assert record.node == ""
    assert list(state.pods_on("n1")) == []
    assert cpu_used(state, "n1") == 0
    assert not state.nodes.scoring_requested.any()


def test_a_pod_on_an_unknown_node_counts_once_the_node_appears():
    state = state_of()
    attached(state, pod("a", cpu="1"), "later")
    assert [record.ref.name for record in state.pods_on("later")] == ["a"]
    state.put_node(node("later"))
    assert cpu_used(state, "later") == 1000


def test_a_node_that_flaps_has_its_pods_again():
    state = state_of(node("a"))
    first = attached(state, pod("p", cpu="1"), "a")
    state.drop_node("a")
    state.put_node(node("a"))
    assert cpu_used(state, "a") == 1000
    state.detach(first)
    assert cpu_used(state, "a") == 0


def test_a_pod_detached_while_its_node_is_away_does_not_return_with_it():
    state = state_of(node("a"))
    record = attached(state, pod("p", cpu="1"), "a")
    state.drop_node("a")
    state.detach(record)
    state.put_node(node("a"))
    assert cpu_used(state, "a") == 0


def test_a_row_used_again_does_not_inherit_the_former_nodes_pods():
    state = state_of(node("a"))
    record = attached(state, pod("p", cpu="1"), "a")
    state.drop_node("a")
    state.put_node(node("b"))
    assert cpu_used(state, "b") == 0
    state.detach(record)
    assert cpu_used(state, "b") == 0


def test_putting_a_known_node_again_does_not_count_its_pods_twice():
    state = state_of(node("a"))
    attached(state, pod("p", cpu="1"), "a")
    state.put_node(node("a", cpu="8"))
    assert cpu_used(state, "a") == 1000


def test_dropping_an_unknown_node_is_nothing():
    state = state_of(node("a"))
    state.drop_node("b")
    assert len(state.nodes) == 1


def test_only_releases_and_nodes_count_as_improvements():
    state = state_of(*nodes(3))
    assert list(state.take_improved_rows()) == [0, 1, 2]
    kept, let_go = attached(state, pod("a"), "n1"), attached(state, pod("b"), "n3")
    state.detach(kept)
    assert list(state.take_improved_rows()) == []
    state.release(let_go)
    assert list(state.take_improved_rows()) == [2]
    assert list(state.take_improved_rows()) == []


def test_releasing_a_pod_from_an_unknown_node_improves_nothing():
    state = state_of()
    state.release(attached(state, pod("a"), "gone"))
    assert list(state.take_improved_rows()) == []


def test_scores_leave_with_the_last_member_of_the_class():
    state = state_of(node("a"))
    first, second = records_of(state, [pod("a", cpu="1"), pod("b", cpu="1")])
    scores = state.scores(state.scheduling_class(first))
    state.classes.dismiss(first.pod_class, first.labels)
    assert state.scores(state.scheduling_class(second)) is scores
    state.classes.dismiss(second.pod_class, second.labels)
    assert state.scores(state.scheduling_class(record_of(state, pod("c", cpu="1")))) is not scores
