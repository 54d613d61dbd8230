from posse.engine.groups.group_book import GroupBook
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.attempt import try_pods
from posse.engine.placement.tree.attempt import try_placement
from posse.engine.proof import Outcome
from posse.engine.reporting.messages import verdict_text
from posse.engine.verdict import Code
from tests.support.builders import NAMESPACE, basic_group, gang, node, nodes, pod, pods
from tests.support.engine_parts import attached, record_of, records_of, state_of

KEY = GroupKey(NAMESPACE, "g1")


def group_of_pods(state, podgroup, *members):
    book = GroupBook()
    for arrival, one in enumerate(members):
        on_node = one.spec.node_name
        record = attached(state, one, on_node) if on_node else record_of(state, one, arrival)
        book.join(record, KEY)
    return book.put(podgroup)


def names(records):
    return [record.ref.name for record in records]


def refusals(attempt):
    return {record.ref.name: verdict_text(verdict) for record, verdict in attempt.refused}


def test_pods_that_fit_are_placed_and_the_others_refused():
    state = state_of(*nodes(2, cpu="1"))
    records = records_of(state, pods(3, cpu="1"))
    attempt = try_pods(state, state.scheduling_class(records[0]), records)
    assert attempt.verdict.succeeded
    assert names(attempt.placed) == ["p1", "p2"]
    assert refusals(attempt) == {"p3": "0/2 nodes are available: 2 Insufficient cpu."}


def test_a_gang_that_fits_is_placed_whole():
    state = state_of(*nodes(3, cpu="1"))
    attempt = try_placement(state, group_of_pods(state, gang(minimum=3), *pods(3, cpu="1")))
    assert attempt.verdict.succeeded
    assert names(attempt.placed) == ["p1", "p2", "p3"]
    assert attempt.refused == ()


def test_a_gang_that_does_not_fit_holds_nothing():
    state = state_of(*nodes(2, cpu="1"))
    group = group_of_pods(state, gang(minimum=3), *pods(3, cpu="1"))
    attempt = try_placement(state, group)
    assert attempt.verdict.code is Code.UNSCHEDULABLE
    assert attempt.placed == ()
    assert not state.nodes.requested.any()
    cause = (
        "only 2 of the 3 pods that must start together fit; "
        "with those placed, 1 lacks cpu (1): 2 nodes have none left. 0/2 nodes are available: 2 Insufficient cpu. "
        "Proven: it cannot fit in the currently free capacity."
    )
    assert verdict_text(attempt.verdict) == cause
    assert refusals(attempt) == {
        "p1": f"pod group is unschedulable, {cause}",
        "p2": f"pod group is unschedulable, {cause}",
        "p3": "0/2 nodes are available: 2 Insufficient cpu.",
    }


def test_no_eviction_helps_a_gang_whose_members_fit_no_empty_node():
    state = state_of(*nodes(2, cpu="1"))
    attempt = try_placement(state, group_of_pods(state, gang(minimum=2), *pods(2, cpu="2")))
    assert attempt.verdict.code is Code.UNRESOLVABLE


def test_members_beyond_the_minimum_start_if_they_fit():
    state = state_of(*nodes(2, cpu="1"))
    attempt = try_placement(state, group_of_pods(state, gang(minimum=2), *pods(3, cpu="1")))
    assert names(attempt.placed) == ["p1", "p2"]
    assert list(refusals(attempt)) == ["p3"]


def test_members_on_nodes_count():
    state = state_of(node("a", cpu="2"))
    members = [pod("there", cpu="1", on="a"), pod("new", cpu="1")]
    attempt = try_placement(state, group_of_pods(state, gang(minimum=2), *members))
    assert names(attempt.placed) == ["new"]


def test_a_started_gang_takes_whatever_fits_of_later_members():
    state = state_of(node("a", cpu="3"))
    members = [pod("m1", cpu="1", on="a"), pod("m2", cpu="1", on="a"), *pods(2, cpu="1")]
    attempt = try_placement(state, group_of_pods(state, gang(minimum=2), *members))
    assert names(attempt.placed) == ["p1"]
    assert list(refusals(attempt)) == ["p2"]


def test_a_started_gang_none_of_whose_later_members_fits_is_refused_in_true_words():
    state = state_of(node("a", cpu="2"))
    members = [pod("m1", cpu="1", on="a"), pod("m2", cpu="1", on="a"), pod("p1", cpu="1")]
    attempt = try_placement(state, group_of_pods(state, gang(minimum=2), *members))
    assert attempt.verdict.code is Code.UNSCHEDULABLE
    assert verdict_text(attempt.verdict) == (
        "none of its waiting pods fits: 1 lacks cpu (1): 1 node has none left. "
        "0/1 nodes are available: 1 Insufficient cpu. Proven: it cannot fit in the currently free capacity."
    )


def test_a_basic_group_starts_with_what_fits():
    state = state_of(node("a", cpu="1"))
    attempt = try_placement(state, group_of_pods(state, basic_group(), *pods(3, cpu="1")))
    assert names(attempt.placed) == ["p1"]
    assert list(refusals(attempt)) == ["p2", "p3"]


def test_a_basic_group_none_of_whose_pods_fits_is_refused():
    state = state_of(node("a", cpu="1"))
    attempt = try_placement(state, group_of_pods(state, basic_group(), *pods(2, cpu="2")))
    assert verdict_text(attempt.verdict) == (
        "none of its waiting pods fits: 2 lack cpu (2 each): 1 node has 1 free of 1. "
        "0/1 nodes are available: 1 Insufficient cpu. Proven: it cannot fit in the currently free capacity."
    )


def test_members_of_several_classes_are_placed_together_or_not_at_all():
    members = [pod("leader", cpu="2"), *pods(2, cpu="1")]
    roomy = state_of(node("a", cpu="4"))
    attempt = try_placement(roomy, group_of_pods(roomy, gang(minimum=3), *members))
    assert names(attempt.placed) == ["leader", "p1", "p2"]
    tight = state_of(node("a", cpu="3"))
    attempt = try_placement(tight, group_of_pods(tight, gang(minimum=3), *members))
    assert attempt.placed == ()
    assert not tight.nodes.requested.any()


def test_the_causes_of_several_classes_are_each_told_once():
    state = state_of(node("a", cpu="1", memory="1Gi"))
    members = [*pods(2, cpu="2", memory="1Mi"), *pods(2, first=3, cpu="1m", memory="2Gi")]
    attempt = try_placement(state, group_of_pods(state, gang(minimum=4), *members))
    assert verdict_text(attempt.verdict) == (
        "none of the 4 pods that must start together fit; "
        "2 lack cpu (2 each): 1 node has 1 free of 1, 2 lack memory (2Gi each): 1 node has 1Gi free of 1Gi. "
        "0/1 nodes are available: 1 Insufficient cpu. 0/1 nodes are available: 1 Insufficient memory. "
        "Proven: it cannot fit in the currently free capacity."
    )


def test_without_nodes_nothing_fits():
    state = state_of()
    attempt = try_placement(state, group_of_pods(state, gang(minimum=2), *pods(2)))
    assert attempt.verdict.code is Code.UNRESOLVABLE
    assert verdict_text(attempt.verdict).endswith(
        "2 find no node: no nodes available to schedule pods. Proven: it cannot fit in the currently free capacity."
    )


def test_small_members_make_way_for_a_large_one_that_came_later():
    """In order of arrival the small ones would spread over both nodes, and the large one find none."""
    state = state_of(*nodes(2, cpu="4"))
    members = [*pods(4, cpu="1"), pod("large", cpu="4")]
    attempt = try_placement(state, group_of_pods(state, gang(minimum=5), *members))
    assert attempt.verdict.succeeded
    assert len(attempt.placed) == 5


def test_members_that_may_go_anywhere_make_way_for_those_that_may_not():
    state = state_of(node("a", cpu="1", labels={"disk": "fast"}), node("b", cpu="1"))
    members = [pod("any", cpu="1"), pod("choosy", cpu="1", node_selector={"disk": "fast"})]
    attempt = try_placement(state, group_of_pods(state, gang(minimum=2), *members))
    assert {record.ref.name: record.node for record in attempt.placed} == {"any": "b", "choosy": "a"}


def test_the_many_that_fit_are_preferred_to_the_few_where_some_may_stay_behind():
    state = state_of(node("a", cpu="4"))
    members = [pod("large", cpu="4"), *pods(4, cpu="1")]
    attempt = try_placement(state, group_of_pods(state, gang(minimum=4), *members))
    assert sorted(names(attempt.placed)) == ["p1", "p2", "p3", "p4"]
    assert list(refusals(attempt)) == ["large"]


def test_a_refusal_of_members_that_differ_says_that_it_is_no_proof():
    state = state_of(node("a", cpu="3"))
    members = [pod("large", cpu="2"), *pods(2, cpu="1")]
    attempt = try_placement(state, group_of_pods(state, gang(minimum=3), *members), is_thorough=False)
    assert attempt.verdict.proof.doubts == ("pods that differ",)
    assert attempt.verdict.outcome is Outcome.UNDECIDED
    assert verdict_text(attempt.verdict).endswith("the search is not exhaustive for pods that differ.")
    assert all("not exhaustive for pods that differ" in text for text in refusals(attempt).values())


def test_a_thorough_attempt_proves_that_members_which_differ_do_not_fit():
    state = state_of(node("a", cpu="3"))
    members = [pod("large", cpu="2"), *pods(2, cpu="1")]
    attempt = try_placement(state, group_of_pods(state, gang(minimum=3), *members))
    assert attempt.verdict.outcome is Outcome.IMPOSSIBLE
    assert verdict_text(attempt.verdict).endswith("Proven: it cannot fit in the currently free capacity.")


def test_members_that_differ_are_proven_not_to_fit_where_one_sort_alone_is_too_many():
    state = state_of(node("a", cpu="3"))
    members = [*pods(4, cpu="1"), pod("odd", cpu="500m")]
    attempt = try_placement(state, group_of_pods(state, gang(minimum=5), *members))
    assert attempt.verdict.proof.doubts == ()


def test_a_group_is_refused_while_the_cluster_has_less_than_its_minimum_resources():
    state = state_of(*nodes(2, cpu="2"))
    group = group_of_pods(state, gang(minimum=2), pod("m1", cpu="1", on="n1"), *pods(2, cpu="1"))
    group.minimum_resources = {"cpu": "5"}
    attempt = try_placement(state, group)
    assert (
        verdict_text(attempt.verdict)
        == "its minResources ask for 5 of cpu, and the cluster has 4 free for it."
    )
    group.minimum_resources = {"cpu": "4"}
    assert try_placement(state, group).verdict.succeeded


def test_minimum_resources_that_cannot_be_read_or_that_no_node_has_refuse_the_group():
    state = state_of(*nodes(2, cpu="2"))
    group = group_of_pods(state, gang(minimum=2), *pods(2, cpu="1"))
    group.minimum_resources = {"cpu": "much"}
    unreadable = try_placement(state, group).verdict
    assert "cannot be read" in verdict_text(unreadable)
    assert unreadable.code is Code.UNRESOLVABLE
    group.minimum_resources = {"nvidia.com/gpu": "1"}
    assert "has 0 free for it" in verdict_text(try_placement(state, group).verdict)
