"""What goes wrong half-way: no eviction without a preemptor that needs it, none twice, and the room is given back."""

from posse.engine.decisions import ReportPod
from posse.engine.events import EvictionFailed, ReportFailed
from posse.engine.keys import GroupKey
from posse.engine.reporting.messages import preemption_text
from posse.model.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from posse.model.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from tests.support.builders import NAMESPACE, changed, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver, evicted, pod_reports

HIGH = 100


def low(name, on, **description):
    return pod(name, on=on, **({"cpu": "1", "priority": 0} | description))


def full_cluster(count=3):
    """Return a driver of full nodes with a gang of two that had room made, and the pods that are there."""
    there = [low(f"a{i}", f"n{i}") for i in range(1, count + 1)]
    driver = Driver(*nodes(count, cpu="1"), *there, gang(priority=HIGH), *members())
    first = evicted(driver.decide())
    assert len(first) == 2
    return driver, {one.metadata.name: one for one in there}, first


def members():
    return pods(2, cpu="1", group="g1", priority=HIGH)


def budget(selector):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="budget", namespace=NAMESPACE),
        spec=PodDisruptionBudgetSpec(selector=selector),
        status=PodDisruptionBudgetStatus(disruptions_allowed=0),
    )


def test_a_budget_whose_selector_makes_no_sense_protects_nobody_any_more():
    good = LabelSelector(match_labels={"app": "db"})
    nonsense = LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Like"),))
    protected = changed(low("a", "n1"), metadata={"labels": {"app": "db"}})
    for selectors, victim in (((good,), "b"), ((good, nonsense), "a")):
        driver = Driver(*nodes(2, cpu="1"), *map(budget, selectors), protected, low("b", "n2", priority=5))
        driver.see(gang(minimum=1, priority=HIGH), pod("p1", cpu="1", group="g1", priority=HIGH))
        assert evicted(driver.decide()) == [victim]


def test_victims_that_do_not_die_are_waited_for_and_nobody_goes_in_their_place():
    driver, there, first = full_cluster()
    for victim in first:
        driver.see(changed(there[victim], metadata={"deletion_timestamp": "2026-01-01T00:00:00Z"}))
    for _ in range(20):
        assert evicted(driver.decide(after=301.0)) == []
    driver.see(node("n9", cpu="1"), low("other", ""))
    assert driver.bind(after=1.0) == {"other": "n9"}


def test_victims_that_others_deleted_meanwhile_are_as_good_as_evicted():
    driver, there, first = full_cluster()
    driver.lose(*(there[victim] for victim in first))
    assert sorted(driver.bind()) == ["p1", "p2"]


def test_a_preemptor_that_is_deleted_half_way_leaves_the_room_to_others():
    driver, there, first = full_cluster()
    driver.lose(there[first[0]], gang(priority=HIGH), *members())
    driver.see(low("other", ""))
    assert driver.bind() == {"other": there[first[0]].spec.node_name}
    driver.lose(there[first[1]])
    driver.see(low("another", ""))
    decisions = driver.decide(after=400.0)
    assert evicted(decisions) == []


def test_a_group_that_is_made_anew_counts_on_the_victims_of_the_one_before():
    driver, there, first = full_cluster()
    driver.lose(gang(priority=HIGH), *members())
    driver.decide()
    again = [changed(one, metadata={"uid": f"again-{one.metadata.name}"}) for one in members()]
    driver.see(gang(priority=HIGH, uid="again"), *again)
    assert evicted(driver.decide()) == []
    driver.lose(*(there[victim] for victim in first))
    assert sorted(driver.bind(after=1.0)) == ["p1", "p2"]


def test_of_two_evictions_only_the_one_that_failed_is_ordered_again():
    driver, there, first = full_cluster(2)
    driver.engine.absorb(EvictionFailed(f"uid-{first[0]}", "the API server said no"))
    assert evicted(driver.decide()) == []
    assert evicted(driver.decide(after=5.0)) == [first[0]]
    driver.lose(*there.values())
    assert sorted(driver.bind(after=1.0)) == ["p1", "p2"]


def test_a_node_that_is_lost_half_way_costs_no_more_than_it_must():
    driver, there, first = full_cluster(4)
    lost = there[first[0]].spec.node_name
    driver.lose(node(lost, cpu="1"), there[first[0]])
    later = evicted(driver.decide(after=5.0))
    assert len(later) == 1
    assert not set(later) & set(first)


def test_a_pod_that_can_have_the_room_of_who_is_ending_evicts_nobody_beside_or_elsewhere():
    ending = low("old", "n1", deleted="2026-01-01T00:00:00Z", priority=5)
    ending = changed(ending, status={"start_time": "2025-01-01T00:00:00Z"})
    driver = Driver(node("n1", cpu="2"), node("n2", cpu="1"), ending, low("young", "n1", priority=5))
    driver.see(low("least", "n2"), pod("urgent", cpu="1", priority=HIGH))
    decisions = driver.decide()
    assert evicted(decisions) == []
    assert pod_reports(decisions)["urgent"][1].endswith("on node n1, waiting for those that terminate there")
    driver.lose(ending)
    assert driver.bind() == {"urgent": "n1"}


def test_a_victim_whose_binding_is_refused_is_not_waited_for():
    promised, bound = pod("promised", cpu="1", priority=0), low("bound", "n2")
    driver = Driver(*nodes(2, cpu="1"), bound, promised)
    assert driver.bind() == {"promised": "n1"}
    driver.see(gang(priority=HIGH), *members())
    assert evicted(driver.decide()) == ["bound", "promised"]
    driver.refuse(promised, "n1")
    progress = driver.engine.explain(GroupKey(NAMESPACE, "g1")).making_room.progress
    assert preemption_text(progress).endswith("waiting for 1 to terminate.")
    driver.lose(promised, bound)
    assert sorted(driver.bind()) == ["p1", "p2"]


def test_a_pod_that_may_know_of_room_made_for_it_is_told_when_that_is_given_back():
    """The answer to the report was lost: the pod may carry the name of the node, or not."""
    urgent = gang(minimum=1, priority=10)
    member = pod("m1", cpu="1", group="g1", priority=10)
    driver = Driver(node("n1", cpu="1"), low("a", "n1"), urgent, member)
    assert pod_reports(driver.decide())["m1"]
    driver.engine.absorb(ReportFailed(member.metadata.uid))
    driver.lose(urgent)
    (told,) = [d for d in driver.decide() if isinstance(d, ReportPod)]
    assert (told.pod.name, told.nominated_node) == ("m1", "")
    assert told.reason
