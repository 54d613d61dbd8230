"""Members with rules about each other, placed by going through every way; and what a refusal after that says."""

import pytest

from posse.engine.groups.group_book import GroupBook
from posse.engine.keys import GroupKey
from posse.engine.placement.search.backtracking import Backtracking, SearchEnd
from posse.engine.placement.search.equivalent_nodes import equal_nodes
from posse.engine.placement.tree.attempt import probe_placement, try_placement
from posse.engine.proof import Outcome
from posse.engine.reporting.messages import verdict_text
from posse.engine.state.draft import Draft
from posse.model.container import ContainerPort
from posse.model.meta import LabelSelector
from posse.model.placement import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
)
from tests.support.builders import NAMESPACE, changed, gang, in_rack, node, one_domain, pod
from tests.support.engine_parts import attached, record_of, state_of

KEY = GroupKey(NAMESPACE, "g1")
HOSTNAME = "kubernetes.io/hostname"


def hosts(*names, rack="", **description):
    labels = {"rack": rack} if rack else {}
    return [node(name, labels={HOSTNAME: name, **labels}, **description) for name in names]


def terms(label, key):
    return (PodAffinityTerm(label_selector=LabelSelector(match_labels={"kind": label}), topology_key=key),)


def avoiding(label, key):
    rule = PodAntiAffinity(required_during_scheduling_ignored_during_execution=terms(label, key))
    return {"affinity": Affinity(pod_anti_affinity=rule)}


def seeking(label, key):
    rule = PodAffinity(required_during_scheduling_ignored_during_execution=terms(label, key))
    return {"affinity": Affinity(pod_affinity=rule)}


def spread(label, key):
    selector = LabelSelector(match_labels={"kind": label})
    constraint = TopologySpreadConstraint(
        max_skew=1, topology_key=key, when_unsatisfiable="DoNotSchedule", label_selector=selector
    )
    return {"topology_spread_constraints": (constraint,)}


def members(kind, count, cpu="1", **rules):
    made = (pod(f"{kind}{number}", cpu=cpu, **rules) for number in range(count))
    return [changed(one, metadata={"labels": {"kind": kind}}) for one in made]


def group_of(state, podgroup, *pods):
    book = GroupBook()
    for arrival, one in enumerate(pods):
        book.join(record_of(state, one, arrival), KEY)
    return book.put(podgroup)


def places(attempt):
    return {record.ref.name: record.node for record in attempt.placed}


A_AND_B = [*members("a", 2), *members("b", 2, **avoiding("a", "rack"))]


@pytest.mark.parametrize(
    "pods", [A_AND_B, A_AND_B[::-1]], ids=["those to avoid first", "those to avoid last"]
)
@pytest.mark.parametrize("per_rack", [1, 2])
def test_pods_that_avoid_others_find_the_rack_that_those_leave_to_them(pods, per_rack):
    racks = [
        node for rack in ("r1", "r2") for node in in_rack(rack, *(f"{rack}n{i}" for i in range(per_rack)))
    ]
    state = state_of(*racks)
    found = places(try_placement(state, group_of(state, gang(minimum=4), *pods)))
    rack_of = {name: found[name][:2] for name in found}
    assert rack_of["a0"] == rack_of["a1"] != rack_of["b0"] == rack_of["b1"]


def test_what_is_found_does_not_depend_on_whose_turn_it_is():
    state = state_of(*in_rack("r1", "n0", "n1"), *in_rack("r2", "n2", "n3"))
    group = group_of(state, gang(minimum=4), *A_AND_B)
    for turn in range(4):
        state.turn = turn
        assert probe_placement(state, group).verdict.succeeded


def test_members_beyond_the_minimum_take_what_is_left():
    state = state_of(*in_rack("r1", "n1"), *in_rack("r2", "n2"))
    attempt = try_placement(
        state, group_of(state, gang(minimum=4), *A_AND_B, *members("c", 1), *members("d", 9))
    )
    assert len(attempt.placed) == 8
    assert all(verdict.refusals for _, verdict in attempt.refused)


def test_whoever_is_sought_comes_first():
    state = state_of(*hosts("n1", "n2", cpu="2"))
    pods = [*members("a", 2, **seeking("b", HOSTNAME)), *members("b", 1), *members("c", 1, cpu="2")]
    attempt = try_placement(state, group_of(state, gang(minimum=3), *pods))
    assert attempt.verdict.succeeded


def test_pods_that_avoid_their_own_kind_are_proven_too_many():
    state = state_of(*hosts("n1", "n2"))
    verdict = try_placement(
        state, group_of(state, gang(minimum=3), *members("a", 3, **avoiding("a", HOSTNAME)))
    ).verdict
    assert verdict.outcome is Outcome.IMPOSSIBLE
    assert verdict_text(verdict).endswith("Proven: it cannot fit in the currently free capacity.")


def test_that_is_seen_at_once_however_many_nodes_there_are():
    state = state_of(*hosts(*(f"n{i}" for i in range(40)), cpu="2"))
    records = [record_of(state, one) for one in members("a", 41, **avoiding("a", HOSTNAME))]
    search = Backtracking(state, Draft(state), records, 41, 100)
    assert search.run() is SearchEnd.THROUGH
    assert search.steps_left == 100


def test_pods_that_seek_each_other_and_find_nobody_are_proven_not_to_fit():
    state = state_of(*hosts("n1", "n2"))
    pods = [*members("a", 1, **seeking("b", HOSTNAME)), *members("b", 1, **seeking("a", HOSTNAME))]
    assert try_placement(state, group_of(state, gang(minimum=2), *pods)).verdict.outcome is Outcome.IMPOSSIBLE


def test_a_full_rack_keeps_the_others_from_getting_ahead_of_it():
    state = state_of(*in_rack("r1", "n1", cpu="1"), *in_rack("r2", "n2", cpu="8"))
    pods = members("a", 4, **spread("a", "rack"))
    assert try_placement(state, group_of(state, gang(minimum=3), *pods)).verdict.succeeded
    state = state_of(*in_rack("r1", "n1", cpu="1"), *in_rack("r2", "n2", cpu="8"))
    assert try_placement(state, group_of(state, gang(minimum=4), *pods)).verdict.outcome is Outcome.IMPOSSIBLE


def test_host_ports_and_sizes_together():
    state = state_of(*hosts("n1", cpu="3"), *hosts("n2", cpu="2"))
    port = ContainerPort(container_port=80, host_port=80)
    small = [
        changed(one, spec={"containers": (changed(one.spec.containers[0], ports=(port,)),)})
        for one in members("a", 2)
    ]
    pods = [*small, *members("b", 1, cpu="2"), *members("c", 1)]
    attempt = try_placement(state, group_of(state, gang(minimum=4), *pods))
    assert attempt.verdict.succeeded
    assert places(attempt)["b0"] == "n1"


def test_inside_of_one_rack_every_way_is_tried_too():
    racks = [*hosts("n1", "n2", rack="r1", cpu="2"), *hosts("n3", rack="r2", cpu="9")]
    pods = [*members("a", 2), *members("b", 2, **avoiding("a", HOSTNAME))]
    state = state_of(*racks)
    found = places(try_placement(state, group_of(state, gang(minimum=4, **one_domain()), *pods)))
    assert sorted(found.values()) == ["n1", "n1", "n2", "n2"]
    state = state_of(racks[0], racks[2])
    verdict = try_placement(state, group_of(state, gang(minimum=4, **one_domain()), *pods)).verdict
    assert verdict.outcome is Outcome.IMPOSSIBLE


def test_a_search_that_runs_out_of_steps_says_so_and_leaves_nothing_behind():
    state = state_of(*(node(f"n{i}", cpu=str(2 + i % 5), labels={"rack": f"r{i % 4}"}) for i in range(20)))
    pods = [
        one for kind, other in ("ab", "bc", "ca") for one in members(kind, 10, "2", **avoiding(other, "rack"))
    ]
    before = state.nodes.requested.copy()
    verdict = try_placement(state, group_of(state, gang(minimum=30), *pods)).verdict
    assert verdict.outcome is Outcome.EXHAUSTED
    assert verdict_text(verdict).endswith("an exact search did not end within its budget.")
    assert (state.nodes.requested == before).all()


def test_more_pods_than_steps_are_named_instead():
    state = state_of(*(node(f"n{i}", cpu="90", labels={"rack": f"r{i % 2}"}) for i in range(20)))
    pods = [*members("a", 800), *members("b", 800, **avoiding("a", "rack"))]
    verdict = try_placement(state, group_of(state, gang(minimum=1600), *pods)).verdict
    assert verdict.outcome is Outcome.UNDECIDED
    assert verdict_text(verdict).endswith(
        "not exhaustive for pods that differ, InterPodAffinity, so many pods."
    )


def test_nodes_are_equal_if_no_member_can_tell_them_apart():
    there = members("a", 1)[0]
    state = state_of(
        *hosts("n1", "n2", "n3", rack="r1"), *hosts("n4", rack="r2"), *hosts("n5", rack="r1", cpu="5")
    )
    attached(state, there, "n3")
    scheduling_class = state.scheduling_class(record_of(state, members("b", 1, **avoiding("a", "rack"))[0]))
    numbers = equal_nodes(state, [scheduling_class])[:5].tolist()
    assert numbers[0] == numbers[1]
    assert len(set(numbers)) == 4
