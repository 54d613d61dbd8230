"""A refusal is worded by the cluster alone: not by the order in which nodes were seen, nor by which is next in turn."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.builders import composite, gang, node, one_domain, pod
from tests.support.effort import up_to
from tests.support.engine_driver import Driver, binds, group_reports, pod_reports

NODES = st.lists(
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from(["a", "b"])), min_size=2, max_size=5
)
GROUPS = st.lists(
    st.tuples(st.lists(st.integers(1, 3), min_size=1, max_size=4), st.booleans()), min_size=1, max_size=3
)


def described(nodes):
    return [
        node(f"n{number}", cpu=str(cpu), pods=str(pods), labels={"rack": rack})
        for number, (cpu, pods, rack) in enumerate(nodes)
    ]


def groups(wanted, parent=None):
    for number, (sizes, shares_rack) in enumerate(wanted):
        where = one_domain() if shares_rack else {}
        yield gang(f"g{number}", len(sizes), parent_composite_pod_group_name=parent, **where)
        for index, cpu in enumerate(sizes):
            yield pod(f"g{number}-{index}", cpu=str(cpu), group=f"g{number}")


def told(nodes, turn, objects):
    """Return what is written about groups and pods; None if anything starts."""
    driver = Driver(*nodes, *objects)
    driver.engine._knowledge.state.turn = turn
    decisions = driver.decide()
    return None if binds(decisions) else (group_reports(decisions), pod_reports(decisions))


def all_are_told_the_same(nodes, data, objects):
    ordered = described(nodes)
    others, turn = data.draw(st.permutations(ordered)), data.draw(st.integers(0, len(ordered)))
    first, second = told(ordered, 0, objects), told(others, turn, objects)
    assume(first is not None and second is not None)
    assert first == second


@settings(max_examples=up_to(80))
@given(NODES, GROUPS, st.data())
def test_of_a_gang(nodes, wanted, data):
    all_are_told_the_same(nodes, data, list(groups(wanted[:1])))


@settings(max_examples=up_to(80))
@given(NODES, GROUPS, st.integers(1, 3), st.data())
def test_of_a_tree(nodes, wanted, minimum, data):
    tree = composite("root", min(minimum, len(wanted)))
    all_are_told_the_same(nodes, data, [tree, *groups(wanted, "root")])
