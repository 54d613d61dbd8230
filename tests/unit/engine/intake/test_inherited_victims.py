"""A preemption goes on under another scheduler: after a restart, or when one takes over that has looked on so far."""

import pytest

from posse.engine.explain.preemption import PreemptionStatus
from posse.engine.groups.forms import DISRUPTION_TARGET, FORMS, NATIVE, POSSE, WORKLOAD_REF
from posse.engine.keys import GroupKey, GroupRef, PodRef
from posse.engine.preemption.marks import PREEMPTION, described, mark_for, preemptor_named
from posse.model.pod import PodCondition
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import NAMESPACE, changed, composite, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver, evicted, group_reports, pod_reports

HIGH = 100
SCHEDULER = "default-scheduler"
URGENT = GroupRef(GroupKey(NAMESPACE, "g1"), "uid-g1", SCHEDULER)


def low(number):
    return pod(f"a{number}", cpu="1", on=f"n{number}", priority=0)


def ending(victim, preemptor=URGENT):
    mark = PodCondition(type=DISRUPTION_TARGET, status="True", reason=PREEMPTION, message=mark_for(preemptor))
    parts = {"metadata": {"deletion_timestamp": "2026-01-01T00:00:00Z"}, "status": {"conditions": (mark,)}}
    return changed(victim, **parts)


def nominated(waiting, where):
    return changed(waiting, status={"nominated_node_name": where})


def members(count=2):
    return pods(count, cpu="1", group="g1", priority=HIGH)


def under_way(driver):
    return driver.engine.statistics().preemptions


def test_after_a_restart_a_group_goes_on_waiting_for_its_victims():
    victims = [ending(low(1)), ending(low(2))]
    waiting = [nominated(member, f"n{i}") for i, member in enumerate(members(), 1)]
    driver = Driver(*nodes(3, cpu="1"), *victims, low(3), gang(priority=HIGH), *waiting)
    assert under_way(driver) == 1
    decisions = driver.decide()
    assert evicted(decisions) == []
    assert group_reports(decisions)[0][3].endswith("preempting 2 pods; waiting for 2 to terminate.")
    driver.lose(*victims)
    assert sorted(driver.bind().values()) == ["n1", "n2"]
    assert under_way(driver) == 0


def test_after_a_restart_a_pod_does_so_too():
    waiting = nominated(pod("p1", cpu="1", priority=HIGH), "n1")
    victim = ending(low(1), PodRef(NAMESPACE, "p1", "uid-p1", SCHEDULER))
    driver = Driver(*nodes(2, cpu="1"), victim, low(2), waiting)
    assert evicted(driver.decide()) == []
    assert under_way(driver) == 1
    driver.lose(victim)
    assert driver.bind() == {"p1": "n1"}


def test_it_counts_even_if_nothing_was_reported_before_the_restart():
    victims = [ending(low(1)), ending(low(2))]
    driver = Driver(*nodes(2, cpu="1"), *victims, gang(priority=HIGH), *members())
    assert evicted(driver.decide()) == []
    assert under_way(driver) == 1


def test_a_tree_finds_its_victims_again():
    root = GroupRef(GroupKey(NAMESPACE, "root", is_composite=True), "uid-root", SCHEDULER)
    leaf = gang("g1", minimum=1, priority=HIGH, parent_composite_pod_group_name="root")
    driver = Driver(node("n1", cpu="1"), ending(low(1), root), composite("root", priority=HIGH), leaf)
    driver.see(*members(1))
    assert under_way(driver) == 1


@pytest.mark.parametrize("preemptor", [URGENT, PodRef(NAMESPACE, "p1", "uid-p1", SCHEDULER)])
def test_whose_preemptor_is_gone_leaves_for_nobody(preemptor):
    driver = Driver(node("n1", cpu="1"), ending(low(1), preemptor))
    assert under_way(driver) == 0
    driver.decide()
    driver.see(gang(minimum=1, priority=HIGH), *members(1))
    assert evicted(driver.decide()) == []
    assert under_way(driver) == 0


def test_a_victim_that_was_never_bound_is_not_waited_for():
    mode = DisruptionMode(all=AllDisruptionMode())
    kept_by_a_finalizer = ending(pod("a1", cpu="1", group="old", priority=0))
    driver = Driver(node("n1", cpu="1"), pod("other", cpu="1", on="n1", priority=HIGH), kept_by_a_finalizer)
    driver.see(gang("old", 1, priority=0, disruption_mode=mode), gang(minimum=1, priority=HIGH), *members(1))
    assert driver.engine.explain(URGENT.key).making_room == PreemptionStatus()
    driver.decide()
    assert under_way(driver) == 0


def test_one_that_looked_on_knows_where_room_is_made_when_it_takes_over():
    there, waiting = [low(1), low(2)], members()
    driver = Driver(*nodes(2, cpu="1"), *there, gang(priority=HIGH), *waiting, pod("sneaky", cpu="1"))
    driver.see(*map(ending, there), *(nominated(one, f"n{i}") for i, one in enumerate(waiting, 1)))
    driver.lose(there[0])
    assert driver.bind() == {}
    assert under_way(driver) == 1
    driver.lose(there[1])
    assert sorted(driver.bind()) == ["p1", "p2"]


def test_what_another_one_told_a_pod_is_not_told_again():
    waiting = pod("p1", cpu="1")
    driver = Driver(node("n1", cpu="1"), low(1), waiting)
    reason, message = pod_reports(Driver(node("n1", cpu="1"), low(1), waiting).decide())["p1"]
    told = PodCondition(type="PodScheduled", status="False", reason=reason, message=message)
    driver.see(changed(waiting, status={"conditions": (told,)}))
    assert pod_reports(driver.decide()) == {}


def test_a_mark_names_everybody_so_that_they_are_told_apart():
    parts = [(form.name, "workers" if form is WORKLOAD_REF else "", False) for form in FORMS]
    keys = [GroupKey(NAMESPACE, "g1", form, group, is_composite=c) for form, group, c in parts]
    keys += [GroupKey(NAMESPACE, "g1", form.name, is_composite=True) for form in (NATIVE, POSSE)]
    assert len({described(key) for key in keys}) == len(keys)
    for key in keys:
        assert preemptor_named(ending(low(1), GroupRef(key, "u", SCHEDULER))) == described(key)


def test_a_mark_of_another_scheduler_names_no_preemptor():
    text = "default-scheduler: preempting to accommodate a higher priority pod"
    mark = PodCondition(type=DISRUPTION_TARGET, status="True", reason=PREEMPTION, message=text)
    assert preemptor_named(changed(low(1), status={"conditions": (mark,)})) == ""
