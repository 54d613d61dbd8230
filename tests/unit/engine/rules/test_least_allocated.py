import pytest

from posse.engine.node_table import ALL_ROWS
from posse.engine.rules.least_allocated import LeastAllocated
from tests.builders import node, pod
from tests.engine_parts import attached, compiled, state_of, table_of


def points(one, wanted):
    return int(compiled(LeastAllocated(), wanted, table_of(one)).points(ALL_ROWS)[0])


@pytest.mark.parametrize(
    ("offered", "wanted", "expected"),
    [
        (node(cpu="4", memory="8Gi"), pod(cpu="1", memory="2Gi"), 75),
        (node(cpu="4", memory="8Gi"), pod(cpu="4", memory="8Gi"), 0),
        (node(cpu="4", memory="8Gi"), pod(cpu="0", memory="0"), 100),
        (node(cpu="4", memory="8Gi"), pod(cpu="1", memory="8Gi"), 37),
        (node(cpu="3", memory="8Gi"), pod(cpu="1", memory="0"), 83),
        (node(cpu="4", memory=None), pod(cpu="1", memory="0"), 75),
        (node(cpu=None, memory=None), pod(cpu="0", memory="0"), 0),
    ],
    ids=["both", "full", "idle", "mean-rounded-down", "each-rounded-down", "no-memory", "nothing"],
)
def test_points_are_the_mean_share_left_free(offered, wanted, expected):
    assert points(offered, wanted) == expected


def test_more_wanted_than_offered_is_no_points_for_that_resource():
    assert points(node(cpu="1", memory="8Gi"), pod(cpu="3", memory="0")) == 50


def test_containers_that_ask_for_nothing_count_with_a_default():
    assert points(node(cpu="1", memory="1000Mi"), pod()) == (90 + 80) // 2


def test_pods_on_the_node_count_with_their_defaults():
    state = state_of(node("a", cpu="1", memory="1000Mi"))
    attached(state, pod("there"), "a")
    score = LeastAllocated().compile(state.classes.join(pod()), state.nodes)
    assert int(score.points(ALL_ROWS)[0]) == (80 + 60) // 2


def test_huge_nodes_do_not_overflow():
    assert points(node(cpu="1P", memory="7Ei"), pod(cpu="1", memory="1Gi")) == 99
