"""Room made for important pods, through the engine as the outside uses it: who goes, who waits, who may take it."""

from posse.engine.decisions import Evict, ReportPod
from posse.engine.events import EvictionFailed
from posse.model.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from posse.model.meta import LabelSelector, ObjectMeta
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import NAMESPACE, changed, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver, placements, pod_reports


def evictions(decisions):
    return [(d.pod.name, d.preemptor.name, d.node) for d in decisions if isinstance(d, Evict)]


def nominations(decisions):
    return {d.pod.name: d.nominated_node for d in decisions if isinstance(d, ReportPod)}


def labelled(one, **labels):
    return changed(one, metadata={"labels": labels})


def budget(allowed, **labels):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="b", namespace=NAMESPACE),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=labels)),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


def crowded(count=2, **description):
    """Return a driver with a full node and the unimportant pods on it."""
    there = [pod(f"low{i}", cpu="1", on="n1", **description) for i in range(1, count + 1)]
    return Driver(node("n1", cpu=str(count)), *there), there


def test_an_important_pod_has_room_made_and_takes_it_when_it_is_free():
    driver, (low,) = crowded(1)
    driver.see(pod("high", cpu="1", priority=10))
    decisions = driver.decide()
    assert evictions(decisions) == [("low1", "high", "n1")]
    assert nominations(decisions) == {"high": "n1"}
    assert placements(decisions) == {}
    driver.lose(low)
    assert driver.bind(after=1.0) == {"high": "n1"}


def test_while_its_victims_end_a_pod_takes_no_others():
    driver, _ = crowded(1)
    driver.see(node("n2", cpu="1"), pod("other", cpu="1", on="n2"), pod("high", cpu="1", priority=10))
    assert len(evictions(driver.decide())) == 1
    again = driver.decide(after=400.0)
    assert evictions(again) == []
    assert pod_reports(again)["high"][1].endswith(
        "preemption: not eligible due to a terminating pod on the nominated node."
    )


def test_equals_and_those_above_are_never_evicted():
    driver = Driver(node("n1", cpu="2"), pod("same", cpu="1", on="n1", priority=10))
    driver.see(pod("above", cpu="1", on="n1", priority=20), pod("high", cpu="1", priority=10))
    decisions = driver.decide()
    assert evictions(decisions) == []
    assert pod_reports(decisions)["high"][1].endswith(
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )


def test_who_may_not_preempt_says_so():
    driver, _ = crowded(1)
    driver.see(pod("high", cpu="1", priority=10, preemption_policy="Never"))
    decisions = driver.decide()
    assert evictions(decisions) == []
    assert pod_reports(decisions)["high"][1].endswith(
        "preemption: not eligible due to preemptionPolicy=Never."
    )


def test_room_that_is_made_is_held_against_equals():
    driver, (first, _) = crowded(2)
    driver.see(pod("high", cpu="2", priority=10))
    assert len(evictions(driver.decide())) == 2
    driver.lose(first)
    driver.see(pod("equal", cpu="1", priority=10))
    decisions = driver.decide(after=1.0)
    assert placements(decisions) == {}
    assert evictions(decisions) == []


def test_room_that_is_made_is_not_held_against_those_above():
    driver, (first, _) = crowded(2)
    driver.see(pod("high", cpu="2", priority=10))
    driver.decide()
    driver.lose(first)
    driver.see(pod("above", cpu="1", priority=20))
    assert driver.bind(after=1.0) == {"above": "n1"}


def test_a_more_important_pod_displaces_a_nominee():
    driver, _ = crowded(2)
    driver.see(pod("high", cpu="2", priority=10))
    assert nominations(driver.decide()) == {"high": "n1"}
    driver.see(pod("above", cpu="2", priority=20))
    decisions = driver.decide(after=1.0)
    assert nominations(decisions)["above"] == "n1"
    assert nominations(decisions)["high"] == ""


def test_a_victim_that_cannot_be_evicted_lets_its_preemptor_try_again():
    driver, (low,) = crowded(1)
    driver.see(pod("high", cpu="1", priority=10))
    driver.decide()
    assert evictions(driver.decide(after=1.0)) == []
    driver.engine.absorb(EvictionFailed(low.metadata.uid, "the API server said no"))
    assert evictions(driver.decide(after=1.0)) == []
    assert evictions(driver.decide(after=4.0)) == [("low1", "high", "n1")]


def test_who_is_evicted_already_is_not_evicted_again():
    driver, (low,) = crowded(1)
    driver.see(pod("high", cpu="1", priority=10))
    assert evictions(driver.decide()) == [("low1", "high", "n1")]
    driver.see(pod("above", cpu="1", priority=20))
    decisions = driver.decide(after=1.0)
    assert evictions(decisions) == []
    assert nominations(decisions) == {"above": "n1", "high": ""}
    driver.lose(low)
    assert driver.bind(after=0.0) == {"above": "n1"}


def test_who_is_ending_anyway_is_not_evicted_but_waited_for():
    driver, (low,) = crowded(1, deleted="2026-01-01T00:01:00Z")
    driver.see(pod("high", cpu="1", priority=10))
    decisions = driver.decide()
    assert evictions(decisions) == []
    assert nominations(decisions) == {"high": "n1"}
    assert "not eligible due to a terminating pod" in pod_reports(driver.decide(after=400.0))["high"][1]
    driver.lose(low)
    assert driver.bind() == {"high": "n1"}


def test_two_that_need_the_same_victim_have_it_evicted_once():
    low = pod("low", cpu="2", on="n1")
    driver = Driver(node("n1", cpu="2"), low, *pods(2, cpu="1", priority=10))
    decisions = driver.decide()
    assert [victim for victim, _, _ in evictions(decisions)] == ["low"]
    assert set(nominations(decisions).values()) == {"n1"}
    driver.lose(low)
    assert len(driver.bind()) == 2


def test_all_who_wait_for_a_victim_try_again_if_it_cannot_be_evicted():
    driver, (low,) = crowded(1)
    driver.see(pod("high", cpu="1", priority=10))
    driver.decide()
    driver.see(pod("above", cpu="1", priority=20))
    driver.decide(after=1.0)
    driver.engine.absorb(EvictionFailed(low.metadata.uid, "the API server said no"))
    assert evictions(driver.decide()) == [], "what was refused once is likely to be refused again"
    assert evictions(driver.decide(after=2.0)) == [("low1", "above", "n1")]


def test_a_budget_decides_between_nodes():
    protected = labelled(pod("protected", cpu="1", on="n1"), app="db")
    driver = Driver(*nodes(2, cpu="1"), budget(0, app="db"), protected, pod("free", cpu="1", on="n2"))
    driver.see(pod("high", cpu="1", priority=10))
    assert evictions(driver.decide()) == [("free", "high", "n2")]


def test_a_budget_with_disruptions_left_protects_nobody():
    there = [labelled(pod(f"db{i}", cpu="1", on=f"n{i}"), app="db") for i in (1, 2)]
    older = changed(there[0], status={"start_time": "2026-01-01T00:00:00Z"})
    younger = changed(there[1], status={"start_time": "2026-01-02T00:00:00Z"})
    driver = Driver(*nodes(2, cpu="1"), budget(1, app="db"), older, younger)
    driver.see(pod("high", cpu="1", priority=10))
    assert evictions(driver.decide()) == [("db2", "high", "n2")]


def test_on_a_node_the_protected_stay_as_long_as_others_can_go():
    driver = Driver(node("n1", cpu="2"), budget(0, app="db"))
    driver.see(labelled(pod("protected", cpu="1", on="n1"), app="db"), pod("free", cpu="1", on="n1"))
    driver.see(pod("high", cpu="1", priority=10))
    assert evictions(driver.decide()) == [("free", "high", "n1")]


def test_a_budget_is_only_a_wish():
    driver = Driver(node("n1", cpu="1"), budget(0, app="db"))
    driver.see(labelled(pod("protected", cpu="1", on="n1"), app="db"), pod("high", cpu="1", priority=10))
    assert evictions(driver.decide()) == [("protected", "high", "n1")]


def test_the_least_important_go_first():
    driver = Driver(node("n1", cpu="2"), pod("lower", cpu="1", on="n1", priority=1))
    driver.see(pod("low", cpu="1", on="n1", priority=2), pod("high", cpu="1", priority=10))
    assert evictions(driver.decide()) == [("lower", "high", "n1")]


def test_a_group_that_goes_as_one_goes_from_all_its_nodes():
    mode = DisruptionMode(all=AllDisruptionMode())
    driver = Driver(*nodes(2, cpu="1"), gang("g1", minimum=2, disruption_mode=mode))
    driver.see(
        *(changed(one, spec={"node_name": f"n{i}"}) for i, one in enumerate(pods(2, cpu="1", group="g1"), 1))
    )
    driver.see(pod("high", cpu="1", priority=10))
    assert sorted(victim for victim, _, _ in evictions(driver.decide())) == ["p1", "p2"]


def test_a_member_that_is_ending_anyway_does_not_draw_its_group_along():
    mode = DisruptionMode(all=AllDisruptionMode())
    ending = pod("p1", cpu="1", on="n1", group="g1", deleted="2026-01-01T00:00:00Z")
    driver = Driver(*nodes(2, cpu="1"), gang("g1", minimum=1, disruption_mode=mode), ending)
    driver.see(pod("p2", cpu="1", on="n2", group="g1"), pod("high", cpu="1", priority=10))
    assert evictions(driver.decide()) == []
    driver.lose(ending)
    assert driver.bind() == {"high": "n1"}


def test_a_nominee_that_is_gone_leaves_its_room_to_others():
    driver, (first, second) = crowded(2)
    high = pod("high", cpu="2", priority=10)
    driver.see(high)
    driver.decide()
    driver.lose(first, second)
    driver.lose(high)
    driver.see(pod("small", cpu="1"))
    assert driver.bind(after=1.0) == {"small": "n1"}


def test_who_waited_for_held_room_is_looked_at_when_the_nominee_is_gone():
    driver, (first, _) = crowded(2)
    high = pod("high", cpu="2", priority=10)
    driver.see(high)
    driver.decide()
    driver.lose(first)
    driver.see(pod("equal", cpu="1", priority=10))
    assert driver.bind(after=1.0) == {}
    driver.lose(high)
    assert driver.bind(after=1.0) == {"equal": "n1"}


def two_crowded_nodes():
    """Return a driver that makes room for a pod on the first of two full nodes, and the victim."""
    victim, other = pod("low1", cpu="1", on="n1"), pod("low2", cpu="1", on="n2", priority=1)
    driver = Driver(*nodes(2, cpu="1"), victim, other, pod("high", cpu="1", priority=10))
    assert evictions(driver.decide()) == [("low1", "high", "n1")]
    return driver, victim


def test_a_pod_whose_nominated_node_vanishes_looks_elsewhere_at_once():
    driver, victim = two_crowded_nodes()
    driver.lose(victim, node("n1"))
    assert evictions(driver.decide()) == [("low2", "high", "n2")]


def test_a_pod_whose_victim_ends_on_a_node_that_vanished_looks_elsewhere_at_once():
    driver, _ = two_crowded_nodes()
    driver.lose(node("n1"))
    assert evictions(driver.decide()) == [("low2", "high", "n2")]
    assert evictions(driver.decide(after=400.0)) == []


def test_a_pod_whose_victim_ends_on_a_node_that_is_closed_looks_elsewhere_at_once():
    driver, _ = two_crowded_nodes()
    driver.see(node("n1", cpu="1", unschedulable=True))
    assert evictions(driver.decide()) == [("low2", "high", "n2")]
    assert evictions(driver.decide(after=400.0)) == []


def test_a_pod_whose_room_was_taken_by_others_looks_elsewhere_at_once():
    driver, victim = two_crowded_nodes()
    driver.lose(victim)
    driver.see(pod("stranger", cpu="1", on="n1", priority=10))
    assert evictions(driver.decide()) == [("low2", "high", "n2")]


def test_room_that_somebody_who_matters_as_much_leaves_anyway_is_waited_for():
    ending = pod("equal", cpu="2", on="n1", priority=10, deleted="2026-01-01T00:00:00Z")
    low = pod("low", cpu="2", on="n1", priority=0)
    driver = Driver(node("n1", cpu="4"), ending, low, pod("high", cpu="2", priority=10))
    decisions = driver.decide()
    assert evictions(decisions) == []
    assert pod_reports(decisions)["high"][1].endswith("on node n1, waiting for those that terminate there")
    driver.lose(ending)
    assert driver.bind(after=1.0) == {"high": "n1"}


def test_of_pods_that_are_alike_one_takes_what_the_eviction_for_another_leaves():
    full = [pod(f"large{i}", cpu="2", on=f"n{i}") for i in (1, 2)]
    driver = Driver(*nodes(2, cpu="2"), *full, *pods(2, cpu="1", priority=10))
    decisions = driver.decide()
    ((victim, preemptor, place),) = evictions(decisions)
    assert preemptor == "p1"
    assert nominations(decisions) == {"p1": place, "p2": place}
    assert pod_reports(decisions)["p2"][1].endswith("waiting for those that terminate there")
    driver.lose(next(one for one in full if one.metadata.name == victim))
    assert driver.bind(after=1.0) == {"p1": place, "p2": place}


def test_a_pod_that_others_bind_elsewhere_leaves_the_room_that_was_made_for_it():
    driver, (low,) = crowded(1)
    high = pod("high", cpu="1", priority=10)
    driver.see(node("n2", cpu="1"), pod("other", cpu="1", on="n2", priority=10), high)
    assert nominations(driver.decide()) == {"high": "n1"}
    driver.lose(pod("other", cpu="1", on="n2", priority=10))
    driver.confirm(high, on="n2")
    driver.lose(low)
    driver.see(pod("late", cpu="1"))
    assert driver.bind(after=1.0) == {"late": "n1"}
    assert len(driver.engine._knowledge.ledger) == 0
