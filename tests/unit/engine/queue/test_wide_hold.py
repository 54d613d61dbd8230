"""What is held widely, beside a slow twin that looks at one node after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from posse.engine.keys import GroupKey
from posse.engine.queue.capacity_reservation import usage_of
from posse.engine.queue.expected_ends import StartPlan
from posse.engine.queue.wide_hold import held_widely
from tests.support.builders import NAMESPACE, gang, node, pod
from tests.support.engine_driver import Driver

PLAN = StartPlan(0.0, (), ())


@st.composite
def clusters(draw):
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    used = [draw(st.integers(0, size)) for size in sizes]
    closed = draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    uncertain = draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    requests = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    return sizes, used, closed, uncertain, requests


def free_and_useful(size, used, requests):
    """Of an empty node, the pods of one size use the most; of that, what is free is held."""
    most = max(min(requests.count(one), size // one) * one for one in requests)
    return min(most, size - used)


@given(clusters())
def test_what_is_free_and_could_be_used_is_held_on_every_uncertain_node(cluster):
    sizes, used, closed, uncertain, requests = cluster
    driver = Driver(gang(minimum=len(requests)))
    for number, (size, taken, is_closed) in enumerate(zip(sizes, used, closed, strict=True)):
        driver.see(node(f"n{number}", cpu=str(size), unschedulable=is_closed))
        driver.see(pod(f"r{number}", cpu=str(taken), on=f"n{number}"))
    driver.see(*(pod(f"m{number}", cpu=str(one), group="g1") for number, one in enumerate(requests)))
    knowledge = driver.engine._knowledge
    state, group = knowledge.state, knowledge.groups.get(GroupKey(NAMESPACE, "g1"))
    rows = [state.nodes.row_of[f"n{number}"] for number in range(len(sizes))]
    flags = np.zeros(state.nodes.alive.size, dtype=np.bool_)
    flags[rows] = uncertain
    held = held_widely(state, PLAN, group.unattached(), flags)
    found = usage_of(held, state.nodes.requested.shape)[state.nodes.resource_index["cpu"]][rows].tolist()
    expected = [
        free_and_useful(size, taken, requests) * 1000 if may_change and not is_closed else 0
        for size, taken, is_closed, may_change in zip(sizes, used, closed, uncertain, strict=True)
    ]
    assert found == expected
