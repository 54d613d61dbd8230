import numpy as np

from posse.engine.state.nominations import Nominations
from posse.model.container import ContainerPort
from tests.support.builders import changed, node, nodes, pod, pods
from tests.support.engine_parts import record_of, records_of, state_of


def nominated(state, *waiting):
    nominations = Nominations(state)
    for number, record in enumerate(records_of(state, waiting)):
        nominations.put(record, f"n{1 + number % 3}")
    return nominations


def requested(state):
    return state.nodes.requested[0, :3].tolist()


def test_many_are_held_as_if_each_were_on_its_node():
    state = state_of(*nodes(3, cpu="100"))
    nominations = nominated(state, *pods(20, cpu="1"))
    with nominations.held(0, []):
        assert requested(state) == [7000, 7000, 6000]
    assert requested(state) == [0, 0, 0]


def test_who_matters_more_is_not_held_off():
    state = state_of(*nodes(3, cpu="100"))
    nominations = nominated(state, *pods(20, cpu="1", priority=5))
    with nominations.held(6, []):
        assert requested(state) == [0, 0, 0]
    with nominations.held(5, []):
        assert requested(state) == [7000, 7000, 6000]


def test_nobody_is_held_off_by_itself():
    state = state_of(*nodes(3, cpu="100"))
    nominations = nominated(state, *pods(20, cpu="1"))
    with nominations.held(0, ["uid-p1"]):
        assert requested(state) == [6000, 7000, 6000]


def test_what_is_held_follows_who_comes_and_goes():
    state = state_of(*nodes(3, cpu="100"))
    nominations = nominated(state, *pods(20, cpu="1"))
    with nominations.held(0, []):
        pass
    late = record_of(state, pod("late", cpu="1"), arrival=99)
    nominations.put(late, "n3")
    with nominations.held(0, []):
        assert requested(state) == [7000, 7000, 7000]
    nominations.drop(late)
    state.drop_node("n3")
    with nominations.held(0, []):
        assert requested(state) == [7000, 7000, 0]
    state.put_node(node("n3", cpu="100"))
    with nominations.held(0, []):
        assert requested(state) == [7000, 7000, 6000]


def test_pods_that_count_for_more_than_their_requests_do_so_while_they_are_held():
    state = state_of(*nodes(3, cpu="100"))
    plain = pod("port", cpu="1")
    container = changed(plain.spec.containers[0], ports=(ContainerPort(container_port=80, host_port=80),))
    with_port = changed(plain, spec={"containers": (container,)})
    nominations = nominated(state, with_port, *pods(20, first=2, cpu="1"))
    rival = record_of(state, changed(with_port, metadata={"name": "rival", "uid": "uid-rival"}), arrival=99)
    scores = state.scores(state.scheduling_class(rival))
    with nominations.held(0, []):
        assert np.flatnonzero(scores.totals()[:3] < 0).tolist() == [0]
    assert not (scores.totals()[:3] < 0).any()
