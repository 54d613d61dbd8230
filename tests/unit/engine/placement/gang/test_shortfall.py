import pytest

from posse.engine.causes import TooFewFit
from posse.engine.placement.gang.shortfall import shortfall
from posse.engine.reporting.cause_messages import amount_text, cause_text, shortfall_text
from tests.support.builders import node, nodes, pod, pods
from tests.support.engine_parts import attached, records_of, state_of


def lack(state, *waiting):
    records = records_of(state, waiting)
    return shortfall(state, state.scheduling_class(records[0]), records)


def test_nodes_that_have_some_of_it_left_are_counted_with_what_they_have():
    state = state_of(*nodes(3, cpu="8"), node("full", cpu="8"))
    for name, taken in (("n1", "7"), ("n2", "4"), ("n3", "1"), ("full", "8")):
        attached(state, pod(f"on-{name}", cpu=taken), name)
    assert (
        shortfall_text(lack(state, *pods(4, cpu="8")).summary)
        == "4 lack cpu (8 each): 3 nodes have 1-7 free of 8"
    )


def test_where_nothing_is_left_that_is_said():
    state = state_of(node("a", cpu="1"), node("b", cpu="2"))
    attached(state, pod("x", cpu="1"), "a")
    attached(state, pod("y", cpu="2"), "b")
    assert (
        shortfall_text(lack(state, pod("p", cpu="500m")).summary)
        == "1 lacks cpu (500m): 2 nodes have none left"
    )


def test_nodes_that_are_out_of_the_question_for_another_reason_do_not_count():
    state = state_of(node("a", cpu="1"), node("b", cpu="1", labels={"disk": "fast"}))
    waiting = pod("p", cpu="2", node_selector={"disk": "fast"})
    assert shortfall_text(lack(state, waiting).summary) == "1 lacks cpu (2): 1 node has 1 free of 1"


def test_who_is_refused_for_no_lack_of_resources_just_finds_no_node():
    state = state_of(node("a"))
    assert shortfall_text(lack(state, *pods(2, node_selector={"disk": "fast"})).summary) == "2 find no node"


def test_no_free_slot_for_pods_is_a_lack_too():
    state = state_of(node("a", pods="0"))
    assert shortfall_text(lack(state, pod("p")).summary) == "1 lacks a free pod slot: 1 node has none"


def test_many_sorts_of_pods_are_summed_up():
    state = state_of(node("a", cpu="1"))
    short = [lack(state, pod(f"p{cores}", cpu=str(cores))).summary for cores in range(2, 7)]
    text = cause_text(TooFewFit(9, 0, 0, tuple(short)))
    assert text.count("lacks cpu") == 3
    assert "2 others lack something too. 0/1 nodes are available" in text


@pytest.mark.parametrize(
    ("name", "amount", "text"),
    [
        ("cpu", 1500, "1500m"),
        ("cpu", 2000, "2"),
        ("memory", 3 * 2**30, "3Gi"),
        ("memory", 1536 * 2**20, "1.5Gi"),
        ("memory", 5 * 2**10, "5Ki"),
        ("memory", 0, "0"),
        ("memory", 100, "100"),
        ("nvidia.com/gpu", 8, "8"),
    ],
)
def test_amounts_read_as_people_write_them(name, amount, text):
    assert amount_text(name, amount) == text
