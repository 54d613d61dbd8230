"""Room for groups: the least that suffices is evicted, as units, and only if the whole group starts because of it."""

import pytest

from posse.engine.decisions import MarkDisrupted, ReportGroup
from posse.engine.events import EvictionFailed, MarkFailed
from posse.model.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from posse.model.meta import Condition, LabelSelector, ObjectMeta, OwnerReference
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import NAMESPACE, basic_group, changed, gang, node, nodes, one_domain, pod, pods
from tests.support.engine_driver import Driver, evicted, group_reports, nominated, placements, pod_reports

HIGH = 100


def urgent_gang(minimum=2, **spec):
    return gang(minimum=minimum, priority=HIGH, **spec)


def urgent(count, **description):
    return pods(count, group="g1", priority=HIGH, **({"cpu": "1"} | description))


def low(name, on, priority=0, **description):
    return pod(name, on=on, priority=priority, **({"cpu": "1"} | description))


def test_where_evicting_everybody_is_not_enough_nobody_is_and_that_is_told():
    there = [low(f"a{i}", f"n{i}") for i in (1, 2)]
    decisions = Driver(*nodes(2, cpu="1"), *there, urgent_gang(3), *urgent(3)).decide()
    assert evicted(decisions) == []
    ((*_, message),) = group_reports(decisions)
    assert message.endswith("pod group preemption: no victims found whose eviction would let it start.")


def test_a_gang_evicts_what_matters_less_and_takes_its_place():
    victims = [low("a", "n1"), low("b", "n2")]
    members = urgent(2)
    driver = Driver(*nodes(2, cpu="1"), *victims, urgent_gang(), *members)
    decisions = driver.decide()
    assert evicted(decisions) == ["a", "b"]
    assert placements(decisions) == {}
    assert sorted(nominated(driver).values()) == ["n1", "n2"]
    (report,) = group_reports(decisions)
    assert report[3].endswith("pod group preemption: found a placement for podgroup, preempting 2 victims.")
    driver.lose(*victims)
    assert sorted(driver.bind()) == ["p1", "p2"]
    assert nominated(driver) == {}


def test_nobody_is_evicted_if_the_gang_would_still_not_fit():
    driver = Driver(*nodes(2, cpu="1"), low("a", "n1"), low("b", "n2", HIGH), urgent_gang(), *urgent(2))
    assert evicted(driver.decide()) == []


def test_only_as_many_are_evicted_as_members_lack_room():
    driver = Driver(*nodes(3, cpu="1"), low("a", "n1"), low("b", "n2"), urgent_gang(), *urgent(2))
    assert len(evicted(driver.decide())) == 1


def test_the_lowest_priority_that_suffices_is_evicted():
    there = [low("a", "n1", 1), low("b", "n2", 2), low("c", "n3", 3), low("d", "n4", 4)]
    driver = Driver(*nodes(4, cpu="1"), *there, urgent_gang(), *urgent(2))
    assert evicted(driver.decide()) == ["a", "b"]


def test_a_group_that_is_disrupted_as_a_whole_goes_entirely_or_not_at_all():
    members = [pod(f"m{i}", cpu="1", on=f"n{i}", group="old", priority=0) for i in (1, 2)]
    old = gang("old", minimum=2, disruption_mode=DisruptionMode(all=AllDisruptionMode()))
    driver = Driver(*nodes(3, cpu="1"), old, *members, low("x", "n3", 1), urgent_gang(1), *urgent(1))
    assert evicted(driver.decide()) == ["m1", "m2"]
    alone = Driver(*nodes(3, cpu="1"), old, *members, low("x", "n3", 0), urgent_gang(1), *urgent(1))
    assert evicted(alone.decide()) == ["x"]


def marks(decisions):
    return [(d.group.name, bool(d.message)) for d in decisions if isinstance(d, MarkDisrupted)]


def test_a_group_that_is_evicted_as_a_whole_is_marked_until_it_runs_again():
    members = [pod(f"m{i}", cpu="1", on=f"n{i}", group="old", priority=0) for i in (1, 2)]
    old = gang("old", minimum=2, disruption_mode=DisruptionMode(all=AllDisruptionMode()))
    driver = Driver(*nodes(2, cpu="1"), old, *members)
    driver.decide()
    driver.see(urgent_gang(1), *urgent(1))
    assert marks(driver.decide()) == [("old", True)]
    driver.lose(*members)
    assert marks(driver.decide()) == []
    again = [pod(f"again{i}", cpu="1", group="old", priority=0) for i in (1, 2)]
    driver.see(node("n3", cpu="1"), *again)
    decisions = driver.decide(after=5.0)
    places = placements(decisions)
    assert sorted(places) == ["again1", "again2"]
    assert marks(decisions) == [], "a binding may still be refused"
    driver.confirm(again[0], on=places["again1"])
    assert marks(driver.decide()) == []
    driver.confirm(again[1], on=places["again2"])
    assert marks(driver.decide()) == [("old", False)]


def test_a_mark_that_was_to_be_taken_away_is_so_though_the_object_was_seen_with_it_meanwhile():
    members = [pod(f"m{i}", cpu="1", on=f"n{i}", group="old", priority=0) for i in (1, 2)]
    old = gang("old", minimum=2, disruption_mode=DisruptionMode(all=AllDisruptionMode()))
    marked = changed(old, status={"conditions": (Condition(type="DisruptionTarget", status="True"),)})
    driver = Driver(*nodes(2, cpu="1"), marked, *members)
    (lost,) = [d for d in driver.decide() if isinstance(d, MarkDisrupted)]
    assert not lost.message
    driver.see(changed(marked, metadata={"labels": {"a": "b"}}))
    driver.engine.absorb(MarkFailed(lost))
    assert marks(driver.decide()) == [("old", False)]


def test_a_mark_that_may_not_have_arrived_is_made_again_as_long_as_it_holds():
    members = [pod(f"m{i}", cpu="1", on=f"n{i}", group="old", priority=0) for i in (1, 2)]
    old = gang("old", minimum=2, disruption_mode=DisruptionMode(all=AllDisruptionMode()))
    driver = Driver(*nodes(2, cpu="1"), old, *members)
    driver.decide()
    driver.see(urgent_gang(1), *urgent(1))
    (lost,) = [d for d in driver.decide() if isinstance(d, MarkDisrupted)]
    driver.engine.absorb(MarkFailed(lost))
    decisions = driver.decide()
    assert marks(decisions) == [("old", True)]
    told = [(one.group.name, one.scheduled) for one in decisions if isinstance(one, ReportGroup)]
    assert told == [("old", True)], "that it once started is still known"
    driver.lose(*members, old)
    driver.engine.absorb(MarkFailed(lost))
    assert marks(driver.decide()) == []


def test_groups_whose_members_are_evicted_one_by_one_are_not_marked():
    members = [pod(f"m{i}", cpu="1", on=f"n{i}", group="old", priority=0) for i in (1, 2)]
    driver = Driver(*nodes(2, cpu="1"), gang("old", minimum=2), *members)
    driver.see(urgent_gang(1), *urgent(1))
    decisions = driver.decide()
    assert len(evicted(decisions)) == 1
    assert marks(decisions) == []


def budget(allowed, **labels):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="budget", namespace=NAMESPACE),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=labels)),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


def test_who_is_protected_by_a_budget_stays_though_it_matters_less():
    protected = changed(low("a", "n1", 0), metadata={"labels": {"app": "db"}})
    driver = Driver(
        *nodes(2, cpu="1"), budget(0, app="db"), protected, low("b", "n2", 5), urgent_gang(1), *urgent(1)
    )
    assert evicted(driver.decide()) == ["b"]


@pytest.mark.parametrize("policy", ["group", "members"])
def test_a_group_that_may_not_preempt_evicts_nobody_and_says_so(policy):
    own = {"preemption_policy": "Never"}
    driver = Driver(
        node("n1", cpu="1"),
        low("a", "n1"),
        urgent_gang(1, **(own if policy == "group" else {})),
        *urgent(1, **own),
    )
    decisions = driver.decide()
    assert evicted(decisions) == []
    assert "not eligible due to preemptionPolicy=Never" in group_reports(decisions)[0][3]


def test_while_victims_are_ending_nobody_else_is_evicted():
    there = [low(f"a{i}", f"n{i}") for i in range(1, 5)]
    driver = Driver(*nodes(4, cpu="1"), *there, urgent_gang(), *urgent(2))
    first = evicted(driver.decide())
    assert len(first) == 2
    gone = next(one for one in there if one.metadata.name == first[0])
    driver.lose(gone)
    later = driver.decide(after=5.0)
    assert evicted(later) == []
    assert placements(later) == {}
    much_later = driver.decide(after=310.0)
    assert evicted(much_later) == []
    told = group_reports(much_later)[0][3]
    assert told.endswith("pod group preemption: preempting 2 pods; waiting for 1 to terminate.")


def test_who_waits_for_whole_groups_to_end_is_told_how_many():
    mode = DisruptionMode(all=AllDisruptionMode())
    there = [low(f"a{i}", f"n{i}", group="low") for i in (1, 2)]
    whole = gang("low", minimum=2, priority=0, disruption_mode=mode)
    driver = Driver(*nodes(2, cpu="1"), whole, *there, urgent_gang(), *urgent(2))
    assert group_reports(driver.decide())[-1][3].endswith("preempting 2 victims (1 whole group among them).")
    driver.lose(there[0])
    told = {name: message for name, _, _, message in group_reports(driver.decide(after=310.0))}
    assert told["low"] == "0 of the 2 pods it needs exist"
    del told["low"]
    [message] = told.values()
    assert message.endswith("preempting 1 group, 2 pods; waiting for 1 to terminate.")


def test_who_waits_for_pods_that_others_ended_is_told_so():
    ending = low("a", "n1", deleted="2026-01-01T00:00:00Z")
    driver = Driver(node("n1", cpu="1"), ending, urgent_gang(1), *urgent(1))
    assert group_reports(driver.decide())[0][3].endswith("waiting for 1 pod on its nodes to terminate.")


def test_room_that_was_made_is_held_against_others():
    victims = [low("a", "n1"), low("b", "n2")]
    driver = Driver(*nodes(2, cpu="1"), *victims, urgent_gang(), *urgent(2))
    driver.decide()
    driver.lose(victims[0])
    driver.see(pod("sneaky", cpu="1"))
    assert driver.bind(after=1.0) == {}
    driver.lose(victims[1])
    assert sorted(driver.bind(after=1.0)) == ["p1", "p2"]


def test_if_the_placement_becomes_impossible_others_are_evicted_instead():
    there = [low(f"a{i}", f"n{i}") for i in range(1, 4)]
    driver = Driver(*nodes(3, cpu="1"), *there, urgent_gang(), *urgent(2))
    first = evicted(driver.decide())
    lost = nominated(driver)["p1"]
    driver.lose(node(lost, cpu="1"))
    driver.lose(*(one for one in there if one.spec.node_name == lost))
    later = driver.decide(after=5.0)
    assert len(evicted(later)) == 1
    assert not set(evicted(later)) & set(first)


def test_a_failed_eviction_lets_the_group_look_again():
    driver = Driver(node("n1", cpu="1"), low("a", "n1"), urgent_gang(1), *urgent(1))
    driver.decide()
    driver.engine.absorb(EvictionFailed("uid-a", "refused"))
    assert evicted(driver.decide()) == []
    assert evicted(driver.decide(after=5.0)) == ["a"]


def test_members_of_a_started_gang_may_evict_too_but_not_while_others_are_placed():
    started = [pod(f"old{i}", cpu="1", on="n1", group="g1", priority=HIGH) for i in (1, 2)]
    driver = Driver(node("n1", cpu="4"), urgent_gang(), *started, low("a", "n1"))
    driver.see(*urgent(2))
    decisions = driver.decide()
    assert len(placements(decisions)) == 1
    assert evicted(decisions) == ["a"]


def test_a_basic_group_evicts_for_what_does_not_fit():
    driver = Driver(node("n1", cpu="1"), low("a", "n1"), basic_group(priority=HIGH), *urgent(1))
    assert evicted(driver.decide()) == ["a"]


def test_the_search_for_victims_leaves_no_trace():
    there = [low(f"a{i}", f"n{i}", i) for i in range(1, 5)]
    driver = Driver(*nodes(4, cpu="1"), *there, urgent_gang(5), *urgent(5))
    state = driver.engine._knowledge.state
    before = state.nodes.requested.copy(), state.nodes.scoring_requested.copy(), state.turn
    decisions = driver.decide()
    assert evicted(decisions) == []
    assert (state.nodes.requested == before[0]).all()
    assert (state.nodes.scoring_requested == before[1]).all()
    assert state.turn == before[2]
    assert list(pod_reports(decisions)) == ["p1", "p2", "p3", "p4", "p5"]


def test_a_unit_with_a_member_on_a_node_that_has_vanished_is_still_a_unit():
    members = [pod(f"m{i}", cpu="1", on=f"n{i}", group="old", priority=0) for i in (1, 2)]
    old = gang("old", minimum=2, disruption_mode=DisruptionMode(all=AllDisruptionMode()))
    driver = Driver(*nodes(2, cpu="1"), old, *members)
    driver.lose(node("n2", cpu="1"))
    driver.see(urgent_gang(1), *urgent(1))
    assert evicted(driver.decide()) == ["m1", "m2"]


def test_nobody_is_sought_for_members_of_a_started_gang_that_fit_nowhere():
    started = [pod(f"old{i}", cpu="1", on="n1", group="g1", priority=HIGH) for i in (1, 2)]
    driver = Driver(node("n1", cpu="3"), urgent_gang(), *started, low("a", "n1"))
    driver.see(*urgent(1, node_selector={"disk": "none"}))
    decisions = driver.decide()
    assert evicted(decisions) == []
    assert not driver.engine.tried()[-1].sought_victims


def test_a_pod_that_wants_the_victim_of_a_group_leaves_it_to_the_group():
    victims = [low("a", "n1"), low("b", "n2")]
    driver = Driver(*nodes(2, cpu="1"), *victims, urgent_gang(), *urgent(2))
    assert evicted(driver.decide()) == ["a", "b"]
    driver.see(pod("above", cpu="1", priority=HIGH + 1))
    assert evicted(driver.decide(after=1.0)) == []
    driver.see(node("n3", cpu="1"))
    driver.lose(*victims)
    assert len(driver.bind(after=60.0)) == 3


def test_members_take_the_room_that_was_made_for_them_though_other_room_becomes_free_first():
    there = [low("a", "n2"), low("b", "n3")]
    blocker = pod("high", cpu="1", on="n1", priority=HIGH)
    driver = Driver(*nodes(3, cpu="1"), blocker, *there, urgent_gang(), *urgent(2))
    driver.decide()
    driver.lose(blocker)
    assert driver.bind(after=30.0) == {}
    driver.lose(there[0])
    assert driver.bind(after=0.01) == {}
    driver.lose(there[1])
    assert sorted(driver.bind(after=0.01).values()) == ["n2", "n3"]


def test_members_go_elsewhere_if_that_needs_no_more_victims_and_theirs_take_their_time():
    there = [low("a", "n2"), low("b", "n3")]
    blocker = pod("high", cpu="1", on="n1", priority=HIGH)
    driver = Driver(*nodes(3, cpu="1"), blocker, *there, urgent_gang(), *urgent(2))
    driver.decide()
    driver.lose(there[0])
    assert driver.bind(after=30.0) == {}
    driver.lose(blocker)
    assert len(driver.bind()) == 2


def test_room_elsewhere_is_not_left_to_those_that_matter_less_while_victims_take_their_time():
    there = [low("a", "n2"), low("b", "n3")]
    blocker = pod("high", cpu="1", on="n1", priority=HIGH)
    driver = Driver(*nodes(3, cpu="1"), blocker, *there, urgent_gang(), *urgent(2))
    driver.decide()
    driver.lose(there[0])
    driver.see(pod("rival", cpu="1", priority=1))
    driver.decide(after=30.0)
    driver.lose(blocker)
    assert sorted(driver.bind()) == ["p1", "p2"]


def test_for_members_of_several_sizes_no_more_go_than_must():
    """Rules of thumb do not place them unless one more pod goes; going through the ways to do it does."""
    places = [("n1", "3", "2"), ("n2", "3", "110"), ("n3", "6", "5"), ("n4", "6", "2"), ("n5", "3", "5")]
    there = [
        low("second", "n2", cpu="2"),
        low("large", "n3", cpu="4"),
        low("small", "n3"),
        low("third", "n4"),
        low("stays", "n2"),
    ]
    whole = gang("whole", minimum=2, priority=5, disruption_mode=DisruptionMode(all=AllDisruptionMode()))
    parts = [
        pod(f"w{on}", cpu=cpu, on=on, group="whole", priority=5) for on, cpu in (("n1", "2"), ("n5", "3"))
    ]
    taken = [low("a", "n1", HIGH), low("b", "n4", HIGH, cpu="3"), whole, *parts]
    sizes = ["1", "1", "3", "1", "2", "2"]
    members = [pod(f"p{i}", cpu=size, group="g1", priority=HIGH) for i, size in enumerate(sizes)]
    driver = Driver(*(node(n, cpu=cpu, pods=most) for n, cpu, most in places), *there, *taken)
    driver.see(urgent_gang(6), *members)
    assert evicted(driver.decide()) == ["large", "second", "third"]


def since(hour, one):
    return changed(one, status={"start_time": f"2026-01-01T{hour}:00:00Z"})


def unit_of_two(first, second):
    whole = gang("unit", minimum=2, priority=0, disruption_mode=DisruptionMode(all=AllDisruptionMode()))
    return [whole, *(pod(f"u-{on}", cpu="1", on=on, group="unit", priority=0) for on in (first, second))]


@pytest.mark.parametrize(
    "places", [("n1", "n2", "n3", "n4"), ("n3", "n4", "n1", "n2"), ("n1", "n3", "n2", "n4")]
)
def test_of_equal_priority_single_pods_go_before_a_group_that_goes_as_a_whole(places):
    singles = [since("09", low("a", places[2])), since("09", low("b", places[3]))]
    driver = Driver(*nodes(4, cpu="1"), *unit_of_two(*places[:2]), *singles, urgent_gang(2), *urgent(2))
    assert evicted(driver.decide()) == ["a", "b"]


@pytest.mark.parametrize(
    "places", [("n1", "n2", "n3", "n4"), ("n3", "n4", "n1", "n2"), ("n1", "n3", "n2", "n4")]
)
def test_of_equal_priority_later_starters_go_first(places):
    early = [since("09", low("early-0", places[0])), since("09", low("early-1", places[1]))]
    late = [since("10", low("late-0", places[2])), since("10", low("late-1", places[3]))]
    driver = Driver(*nodes(4, cpu="1"), *early, *late, urgent_gang(2), *urgent(2))
    assert evicted(driver.decide()) == ["late-0", "late-1"]


def test_of_equal_priority_later_starters_go_first_in_one_rack_too():
    early = [since("09", low(f"early-{i}", f"a{i}")) for i in (1, 2)]
    late = [since("10", low(f"late-{i}", f"b{i}")) for i in (1, 2)]
    racks = [node(f"{rack}{i}", cpu="1", labels={"rack": rack}) for rack in "ab" for i in (1, 2)]
    driver = Driver(*racks, *early, *late, urgent_gang(2, **one_domain()), *urgent(2))
    assert evicted(driver.decide()) == ["late-1", "late-2"]


def test_a_pod_that_owns_others_is_spared_where_one_of_those_suffices():
    def owned(one, owner):
        return changed(
            one, metadata={"owner_references": (OwnerReference(kind="Pod", name=owner, uid=f"uid-{owner}"),)}
        )

    for leader, worker in (("n1", "n2"), ("n2", "n1")):
        pods_there = [since("10", low("leader", leader)), owned(since("09", low("worker", worker)), "leader")]
        driver = Driver(*nodes(2, cpu="1"), *pods_there, urgent_gang(1), *urgent(1))
        assert evicted(driver.decide()) == ["worker"]
    together = [since("10", low("leader", "n1")), owned(since("09", low("worker", "n1")), "leader")]
    driver = Driver(node("n1", cpu="2"), *together, urgent_gang(1), *urgent(1))
    assert evicted(driver.decide()) == ["worker"]
