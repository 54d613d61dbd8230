"""Preemptions under way: a preemption lasts until its preemptor has started or is gone, and cascades are told."""

import pytest

from posse.engine.decisions import ReportPod
from posse.engine.events import EvictionFailed
from posse.model.meta import OwnerReference
from tests.support.builders import changed, composite, gang, gated, node, nodes, pod, pods
from tests.support.engine_driver import Driver, evicted, group_reports, nominated, placements, pod_reports

HIGH, MIDDLE = 100, 50
HERE = {"place": "here"}


def under_way(driver):
    return {
        key: (sorted(preemption.victims), sorted(preemption.left))
        for key, preemption in driver.engine._knowledge.ledger.under_way.items()
    }


def cascades(driver):
    return [tried.is_cascade for tried in driver.engine.tried() if tried.victims]


def low(name, on, **description):
    return pod(name, on=on, **({"cpu": "1", "priority": 0} | description))


def owned(made, controller):
    owner = OwnerReference(kind="ReplicaSet", name=controller, uid=controller, controller=True)
    return changed(made, metadata={"owner_references": (owner,)})


def test_a_preemption_of_a_pod_ends_when_it_starts():
    victim = low("a", "n1")
    driver = Driver(node("n1", cpu="1"), victim, pod("urgent", cpu="1", priority=HIGH))
    driver.decide()
    assert under_way(driver) == {"uid-urgent": (["uid-a"], ["uid-a"])}
    assert driver.engine.statistics().preemptions == 1
    driver.lose(victim)
    assert driver.bind() == {"urgent": "n1"}
    assert under_way(driver) == {}


def test_a_preemption_ends_when_the_preemptor_is_gone_and_others_may_have_the_room():
    victim, urgent = low("a", "n1"), pod("urgent", cpu="1", priority=HIGH)
    driver = Driver(node("n1", cpu="1"), victim, urgent)
    driver.decide()
    driver.lose(urgent, victim)
    driver.see(low("b", ""))
    assert driver.bind() == {"b": "n1"}
    assert under_way(driver) == {}


def test_a_preemption_of_a_group_counts_who_is_left_and_ends_when_it_starts():
    there = [low("a", "n1"), low("b", "n2")]
    driver = Driver(
        *nodes(2, cpu="1"), *there, gang(priority=HIGH), *pods(2, cpu="1", group="g1", priority=HIGH)
    )
    driver.decide()
    driver.lose(there[0])
    ((_, (victims, left)),) = under_way(driver).items()
    assert (victims, left) == (["uid-a", "uid-b"], ["uid-b"])
    driver.lose(there[1])
    assert sorted(driver.bind()) == ["p1", "p2"]
    assert under_way(driver) == {}


def test_a_group_without_members_or_object_under_way_nothing():
    members = pods(2, cpu="1", group="g1", priority=HIGH)
    there = [low("a", "n1"), low("b", "n2")]
    whole = gang(priority=HIGH)
    for gone in (members, [whole]):
        driver = Driver(*nodes(2, cpu="1"), *there, whole, *members)
        driver.decide()
        driver.lose(*gone, *there)
        driver.see(*pods(2, first=5, cpu="1", priority=0))
        assert sorted(driver.bind()) == ["p5", "p6"]
        assert under_way(driver) == {}


def test_a_group_whose_member_is_gated_meanwhile_gives_the_room_back():
    members = pods(2, cpu="1", group="g1", priority=HIGH)
    there = [low("a", "n1"), low("b", "n2")]
    driver = Driver(*nodes(2, cpu="1"), *there, gang(priority=HIGH), *members)
    driver.decide()
    driver.see(changed(members[0], spec={"scheduling_gates": gated("later")}))
    told = [(d.pod.name, d.nominated_node) for d in driver.decide() if isinstance(d, ReportPod)]
    assert sorted(told) == [("p1", ""), ("p2", "")]
    driver.lose(*there)
    driver.see(*pods(2, first=5, cpu="1", priority=0))
    assert sorted(driver.bind()) == ["p5", "p6"]


def short_of_members(driver, members):
    driver.lose(members[0])


def short_of_a_higher_minimum(driver, _members):
    driver.see(gang(minimum=3, priority=HIGH))


@pytest.mark.parametrize("lose_quorum", [short_of_members, short_of_a_higher_minimum])
@pytest.mark.parametrize("victims_are_gone", [False, True])
def test_a_group_that_lost_its_quorum_gives_the_room_back_at_once(lose_quorum, victims_are_gone):
    members = pods(2, cpu="1", group="g1", priority=HIGH)
    there = [low("a", "n1"), low("b", "n2")]
    driver = Driver(*nodes(2, cpu="1"), *there, gang(priority=HIGH), *members)
    assert len(evicted(driver.decide())) == 2
    driver.lose(*there if victims_are_gone else ())
    lose_quorum(driver, members)
    decisions = driver.decide()
    assert nominated(driver) == {}
    assert [
        one.nominated_node for one in decisions if isinstance(one, ReportPod) and one.pod.name == "p2"
    ] == [""]
    [(_, scheduled, reason, message)] = group_reports(decisions)
    assert (scheduled, reason) == (False, "WaitingForPods")
    assert "preempt" not in message
    assert "preempt" not in pod_reports(decisions)["p2"][1]
    driver.lose(*() if victims_are_gone else there)
    driver.see(low("other", ""), low("another", ""))
    assert sorted(driver.bind().values()) == ["n1", "n2"]


def test_a_tree_that_lost_a_group_it_needs_gives_the_room_back_at_once():
    tree = [
        composite("root", 2, priority=HIGH),
        gang("g1", 1, priority=HIGH, parent_composite_pod_group_name="root"),
        gang("g2", 1, priority=HIGH, parent_composite_pod_group_name="root"),
    ]
    there = [low("a", "n1"), low("b", "n2")]
    members = [pod(f"p{i}", cpu="1", group=f"g{i}", priority=HIGH) for i in (1, 2)]
    driver = Driver(*nodes(2, cpu="1"), *there, *tree, *members)
    assert len(evicted(driver.decide())) == 2
    driver.lose(members[0], *there)
    driver.see(low("other", ""), low("another", ""))
    decisions = driver.decide()
    assert sorted(placements(decisions).values()) == ["n1", "n2"]
    assert {reason for _, _, reason, _ in group_reports(decisions)} == {"WaitingForPods"}


def test_a_group_with_its_quorum_keeps_the_room_of_the_members_that_are_left():
    members = pods(2, cpu="1", group="g1", priority=HIGH)
    there = [low("a", "n1"), low("b", "n2")]
    driver = Driver(*nodes(2, cpu="1"), *there, gang(minimum=1, priority=HIGH), *members)
    driver.decide()
    driver.lose(members[0], *there)
    driver.see(low("other", ""), low("another", ""))
    assert sorted(driver.bind()) in (["another", "p2"], ["other", "p2"])


def test_a_group_whose_member_is_made_anew_preempts_again():
    members = pods(2, cpu="1", group="g1", priority=HIGH)
    driver = Driver(*nodes(2, cpu="1"), low("a", "n1"), low("b", "n2"), gang(priority=HIGH), *members)
    driver.decide()
    driver.lose(members[0])
    driver.decide()
    driver.see(pod("p3", cpu="1", group="g1", priority=HIGH))
    assert evicted(driver.decide()) == [], "the victims are terminating already"
    driver.lose(low("a", "n1"), low("b", "n2"))
    assert sorted(driver.bind()) == ["p2", "p3"]


def test_who_stays_because_its_eviction_failed_is_no_victim():
    driver = Driver(
        node("n1", cpu="1"),
        low("a", "n1"),
        gang(minimum=1, priority=HIGH),
        pod("p1", cpu="1", group="g1", priority=HIGH),
    )
    driver.decide()
    driver.engine.absorb(EvictionFailed("uid-a", "refused"))
    assert list(under_way(driver).values()) == [([], [])]


def test_who_was_evicted_and_evicts_others_makes_a_cascade():
    """Told by the controller, since what comes back is another pod."""
    middle = owned(low("middle", "n1", priority=MIDDLE), "web")
    driver = Driver(node("n1", cpu="1", labels=HERE), node("n2", cpu="1"), middle, low("small", "n2"))
    driver.see(pod("urgent", cpu="1", priority=HIGH, node_selector=HERE))
    assert evicted(driver.decide()) == ["middle"]
    assert cascades(driver) == [False]
    driver.lose(middle)
    assert driver.bind() == {"urgent": "n1"}
    driver.see(owned(low("middle-2", "", priority=MIDDLE), "web"))
    assert evicted(driver.decide()) == ["small"]
    assert cascades(driver) == [True]


def test_groups_that_cascade_are_told_until_they_run_again():
    big = gang("big", minimum=1, priority=MIDDLE)
    first = low("big-1", "n1", priority=MIDDLE, group="big")
    small = low("small", "n2", cpu="2")
    driver = Driver(node("n1", cpu="1"), node("n2", cpu="2"), big, first, small)
    driver.decide()
    driver.see(
        pod("urgent", cpu="1", priority=HIGH, node_selector={"a": "b"}),
        node("n1", cpu="1", labels={"a": "b"}),
    )
    assert evicted(driver.decide()) == ["big-1"]
    assert cascades(driver) == [False]
    driver.lose(first)
    driver.bind()
    second = pod("big-2", cpu="1", group="big", priority=MIDDLE)
    driver.see(second)
    assert evicted(driver.decide()) == ["small"]
    assert cascades(driver) == [True]
    driver.lose(small)
    assert driver.bind() == {"big-2": "n2"}
    assert under_way(driver) == {}
