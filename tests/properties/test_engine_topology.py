"""Groups with a topology key go where trying every domain would send them, stay there, and are never refused for nothing."""

from hypothesis import given
from hypothesis import strategies as st

from posse.engine.groups.group_book import GroupBook
from posse.engine.keys import GroupKey
from posse.engine.placement.search.fill import fill
from posse.engine.placement.tree.attempt import probe_placement, try_placement
from posse.engine.state.draft import Draft
from posse.model.pod import PodSchedulingGroup
from tests.differential import every_domain
from tests.differential.exact import most_that_fit
from tests.differential.strategies import NODE_NAMES, sized_pods
from tests.differential.strategies_pods import sociable_pods
from tests.support.builders import NAMESPACE, changed, gang, node, one_domain, pod
from tests.support.engine_driver import Driver, group_reports
from tests.support.engine_parts import attached, record_of, state_of

KEY = GroupKey(NAMESPACE, "g1")
racks = st.sampled_from(["r1", "r2", "r3", None])


def racked(name, rack, cpu, memory):
    labels = {"zone": "east", "kubernetes.io/hostname": name} | ({"rack": rack} if rack is not None else {})
    return node(name, cpu=cpu, memory=memory, labels=labels)


nodes_in_racks = st.lists(
    st.tuples(racks, st.sampled_from(["1", "2", "4"]), st.sampled_from(["1Gi", "4Gi"])),
    min_size=1,
    max_size=5,
).map(lambda drawn: [racked(NODE_NAMES[index], *one) for index, one in enumerate(drawn)])
kinds = st.lists(
    st.tuples(st.one_of(sized_pods(), sociable_pods()), st.integers(1, 4)), min_size=1, max_size=2
)
there = st.lists(st.tuples(st.one_of(sized_pods(), sociable_pods()), st.sampled_from(NODE_NAMES)), max_size=4)


def named(one, name, **spec):
    return changed(one, metadata={"name": name, "uid": name, "namespace": NAMESPACE}, spec=spec)


def group_among(state, neighbours, members, minimum, running=()):
    for index, (one, where) in enumerate(neighbours):
        attached(state, named(one, f"there-{index}"), where)
    book = GroupBook()
    membership = PodSchedulingGroup(pod_group_name="g1")
    for index, where in enumerate(running):
        book.join(attached(state, named(members[0][0], f"running-{index}"), where), KEY)
    for index, (kind, count) in enumerate(members):
        for ordinal in range(count):
            one = named(kind, f"member-{index}-{ordinal}", scheduling_group=membership)
            book.join(record_of(state, one, 10 * index + ordinal), KEY)
    return book.put(gang(minimum=minimum, **one_domain()))


def rack_of(state, name):
    return state.nodes.nodes[state.nodes.row_of[name]].metadata.labels.get("rack")


@given(nodes_in_racks, there, kinds, st.integers(1, 6))
def test_a_group_goes_to_the_domain_that_trying_all_of_them_would_choose(
    cluster, neighbours, members, minimum
):
    state = state_of(*cluster)
    group = group_among(state, neighbours, members, minimum)
    expected = every_domain.best(state, group)
    attempt = try_placement(state, group)
    chosen = {rack_of(state, record.node) for record in attempt.placed}
    if expected is not None:
        assert chosen == {expected}
        return
    # Trying all domains in the plain order finds nothing; other orders may, where members differ.
    assert len(chosen) == (len(members) > 1 and attempt.verdict.succeeded)
    assert None not in chosen


@given(nodes_in_racks, there, kinds, st.integers(1, 6), st.sampled_from(NODE_NAMES))
def test_members_that_run_are_joined_in_their_domain_or_it_is_an_error(
    cluster, neighbours, members, minimum, where
):
    state = state_of(*cluster)
    group = group_among(state, neighbours, members, minimum, running=[where])
    attempt = try_placement(state, group)
    chosen = {rack_of(state, record.node) for record in attempt.placed}
    if where in state.nodes.row_of:
        pinned = rack_of(state, where)
        assert chosen <= {pinned} - {None}
        assert (attempt.verdict.code.name == "ERROR") == (pinned is None)


@given(nodes_in_racks, there, kinds, st.integers(1, 6))
def test_what_is_known_of_domains_follows_every_change(cluster, neighbours, members, minimum):
    """A second look, after the first has left its sums behind and pods have come in between, is as good as a fresh one."""
    state = state_of(*cluster)
    group = group_among(state, neighbours, members, minimum)
    before = probe_placement(state, group)
    draft, newcomer = Draft(state), record_of(state, pod("newcomer", cpu="500m", memory="200Mi"), 99)
    fill(state, draft, state.scheduling_class(newcomer), [newcomer])
    expected = every_domain.best(state, group)
    placements = probe_placement(state, group).placements
    if expected is not None:
        assert {rack_of(state, where) for _, where in placements} == {expected}
    draft.roll_back()
    assert probe_placement(state, group).placements == before.placements


sizes = st.integers(1, 6)


@given(
    st.lists(st.tuples(st.sampled_from(["r1", "r2", "r3"]), sizes, sizes), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=6),
    st.integers(1, 6),
)
def test_a_gang_starts_only_if_some_domain_can_hold_it_and_a_proof_is_never_false(offered, wanted, minimum):
    driver = Driver(
        *(
            node(f"n{i}", cpu=str(cpu), memory=f"{memory}Gi", labels={"rack": rack})
            for i, (rack, cpu, memory) in enumerate(offered)
        ),
        gang(minimum=minimum, **one_domain()),
    )
    driver.see(*(pod(f"p{i}", str(cpu), f"{memory}Gi", group="g1") for i, (cpu, memory) in enumerate(wanted)))
    decisions = driver.decide()
    by_rack = {rack: [free for where, *free in offered if where == rack] for rack, *_ in offered}
    fits = any(most_that_fit([*map(tuple, free)], wanted) >= minimum for free in by_rack.values())
    if len(wanted) >= minimum:
        (_, started, _, message), *others = group_reports(decisions)
        assert not others
        assert fits or not started
        assert not ("Proven: it cannot fit" in message and fits)
        if len(dict.fromkeys(wanted)) == 1:
            assert started == fits
