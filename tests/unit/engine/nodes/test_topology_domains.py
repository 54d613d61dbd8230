import numpy as np

from tests.support.builders import in_rack, node
from tests.support.engine_parts import state_of


def racks(state):
    domains = state.domains("rack")
    names = state.nodes.names
    return {
        value: [names[row] for row in domains.rows(number).tolist()]
        for number, value in enumerate(domains.values)
    }


def test_nodes_that_share_a_value_are_a_domain_and_those_without_belong_to_none():
    state = state_of(*in_rack("r2", "a", "c"), *in_rack("r1", "b"), node("plain"))
    assert racks(state) == {"r1": ["b"], "r2": ["a", "c"]}
    assert list(racks(state)) == ["r1", "r2"]


def test_no_label_no_domain():
    state = state_of(node("plain"))
    domains = state.domains("rack")
    assert len(domains) == 0
    assert domains.sums(np.zeros((2, 0), dtype=np.int64)).shape == (2, 0)


def test_domains_follow_nodes_that_come_change_and_go():
    state = state_of(*in_rack("r1", "a", "b"))
    assert racks(state) == {"r1": ["a", "b"]}
    state.put_node(in_rack("r2", "b")[0])
    state.put_node(in_rack("r1", "c")[0])
    assert racks(state) == {"r1": ["a", "c"], "r2": ["b"]}
    state.drop_node("a")
    state.put_node(node("c"))
    assert racks(state) == {"r2": ["b"]}


def test_amounts_are_added_up_by_domain_to_the_last_unit():
    state = state_of(*in_rack("r1", "a", "b"), *in_rack("r2", "c"), node("plain"))
    amounts = np.array([2**60, 1, 5])
    domains = state.domains("rack")
    assert domains.members.tolist() == [0, 1, 2]
    assert domains.sums(amounts).tolist() == [2**60 + 1, 5]
    assert domains.sums(np.array([amounts, 2 * amounts])).tolist() == [[2**60 + 1, 5], [2**61 + 2, 10]]


def test_rows_are_found_among_the_members():
    state = state_of(node("plain"), *in_rack("r2", "a"), *in_rack("r1", "b", "c"))
    domains = state.domains("rack")
    places = domains.places_of(np.array([0, 1, 3]), state.nodes.alive.size)
    assert domains.members[places].tolist() == [1, 3]
    assert domains.numbers_at(places).tolist() == [1, 0]


def test_inside_of_confines_only_their_rows_count():
    state = state_of(*in_rack("r1", "a", "b"), *in_rack("r2", "c"), *in_rack("r3", "d"))
    with state.confined(np.array([1, 2])):
        assert racks(state) == {"r1": ["b"], "r2": ["c"]}
    assert racks(state) == {"r1": ["a", "b"], "r2": ["c"], "r3": ["d"]}
