"""Gangs of equal pods start exactly when there is room for their minimum, and whole groups are all or nothing."""

from hypothesis import given
from hypothesis import strategies as st

from posse.model.pod import PodSchedulingGroup
from tests.differential import greedy, oracle
from tests.differential.exact import most_that_fit
from tests.differential.strategies import clusters, neighbours, pod_named, pods, sized_pods
from tests.support.builders import changed, gang, node, pod
from tests.support.engine_driver import Driver, binds, group_reports


def placed_elsewhere(there):
    return [changed(neighbour, spec={"node_name": name}) for neighbour, name in there]


def members_like(kind, count, group="g1", prefix="member"):
    membership = PodSchedulingGroup(pod_group_name=group)
    return [
        changed(pod_named(kind, f"{prefix}-{index}"), spec={"scheduling_group": membership})
        for index in range(count)
    ]


def room(nodes, there, wanted):
    """Return how many pods like the wanted one the nodes can take beside those that are there."""
    return sum(
        greedy.capacity(
            one,
            [neighbour for neighbour, name in there if name == one.metadata.name],
            wanted,
            oracle.refusals,
        )
        for one in nodes
    )


@given(
    clusters(),
    neighbours(),
    st.one_of(sized_pods(), pods()),
    st.integers(1, 8),
    st.integers(0, 3),
)
def test_a_gang_of_equal_pods_starts_exactly_if_its_minimum_fits(nodes, there, kind, minimum, extra):
    driver = Driver(*nodes, *placed_elsewhere(there), gang(minimum=minimum))
    driver.see(*members_like(kind, minimum + extra))
    decisions = driver.decide()
    capacity = room(nodes, there, kind)
    bound = [placed for bind in binds(decisions) for placed in bind.placements]
    if capacity >= minimum:
        assert len(binds(decisions)) == 1
        assert len(bound) == min(capacity, minimum + extra)
        assert group_reports(decisions) == [("g1", True, "Scheduled", "")]
    else:
        assert bound == []
        assert [report[1:3] for report in group_reports(decisions)] == [(False, "Unschedulable")]


@given(
    clusters(plain=True, least=1),
    st.lists(st.tuples(sized_pods(), st.integers(1, 3)), min_size=1, max_size=3),
    st.integers(1, 6),
)
def test_a_gang_of_several_kinds_is_bound_whole_or_leaves_no_trace(nodes, kinds, minimum):
    driver = Driver(*nodes, gang(minimum=minimum))
    before = driver.engine._knowledge.state.nodes.requested.copy()
    for index, (kind, count) in enumerate(kinds):
        driver.see(*members_like(kind, count, prefix=f"kind-{index}"))
    total = sum(count for _, count in kinds)
    decisions = driver.decide()
    bound = [placed for bind in binds(decisions) for placed in bind.placements]
    after = driver.engine._knowledge.state.nodes.requested
    assert not bound or len(bound) >= minimum
    assert len(bound) <= total
    if not bound:
        assert after.sum() == before.sum() == 0
    if total < minimum:
        assert decisions == []


@given(st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(1, 12))
def test_gangs_that_compete_start_in_their_order_and_never_share_the_last_room(minimums, slots):
    """The first group that fits starts; one that does not fit leaves its capacity to those behind it."""
    driver = Driver(node("n0", cpu=slots, memory=None))
    expected, left = [], slots
    for index, minimum in enumerate(minimums):
        name = f"g{index}"
        driver.see(gang(name, minimum))
        driver.see(*members_like(pod(cpu="1"), minimum, group=name, prefix=name))
        if minimum <= left:
            expected.append(name)
            left -= minimum
    assert [bind.group.name for bind in binds(driver.decide())] == expected


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=6),
    st.integers(1, 6),
)
def test_a_gang_of_different_pods_starts_only_if_it_fits_and_a_proof_is_never_false(offered, wanted, minimum):
    driver = Driver(
        *(node(f"n{i}", cpu=str(cpu), memory=f"{memory}Gi") for i, (cpu, memory) in enumerate(offered)),
        gang(minimum=minimum),
    )
    driver.see(*(pod(f"p{i}", str(cpu), f"{memory}Gi", group="g1") for i, (cpu, memory) in enumerate(wanted)))
    decisions = driver.decide()
    fits = most_that_fit(offered, wanted) >= minimum
    if len(wanted) >= minimum:
        (_, started, _, message), *others = group_reports(decisions)
        assert not others
        assert fits or not started
        assert not ("Proven: it cannot fit" in message and fits)
