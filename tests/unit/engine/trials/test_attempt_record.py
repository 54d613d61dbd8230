"""What the engine tells about its attempts besides its decisions."""

from posse.engine.causes import Refusal
from posse.engine.keys import GroupKey
from posse.engine.reporting.messages import verdict_text
from tests.support.builders import basic_group, changed, gang, gated, node, nodes, pod, pods
from tests.support.engine_driver import Driver, binds


def only(values):
    (value,) = values
    return value


def placements(decisions):
    return {placed.pod.name: placed for bind in binds(decisions) for placed in bind.placements}


def test_a_pod_that_finds_no_place_is_told_at_every_attempt():
    driver = Driver(node(cpu="1"), pod(cpu="2"))
    driver.engine.decide(1000.0)
    first = only(driver.engine.tried())
    assert (first.who.name, first.scheduler_name, first.number) == ("p1", "default-scheduler", 1)
    assert first.queued_at == 1000.0
    assert first.verdict.refusals == (Refusal("NodeResourcesFit", "Insufficient cpu", 1),)

    driver.see(node("n2", cpu="1"))
    driver.engine.decide(1400.0)
    second = only(driver.engine.tried())
    assert (second.number, second.queued_at) == (2, 1000.0)
    assert second.verdict.refusals[0].nodes == 2


def test_nothing_is_told_twice():
    driver = Driver(node(cpu="1"), pod(cpu="2"))
    driver.engine.decide(1000.0)
    driver.engine.decide(1000.5)
    assert driver.engine.tried() == ()


def test_a_binding_says_how_many_attempts_it_took_and_since_when_the_pod_waits():
    driver = Driver(node(cpu="1"), pod(cpu="2"))
    driver.decide()
    driver.see(node("n2", cpu="2"))
    driver.now = 1030.0
    placed = placements(driver.decide())["p1"]
    assert (placed.node, placed.attempts, placed.queued_at) == ("n2", 2, 1000.0)


def test_a_refused_binding_does_not_start_the_count_anew():
    driver = Driver(node(), pod())
    driver.decide()
    driver.refuse(pod(), "n1")
    driver.decide(after=1)
    placed = placements(driver.decide(after=20))["p1"]
    assert (placed.attempts, placed.queued_at) == (2, 1000.0)


def test_time_behind_a_gate_does_not_count():
    waiting = pod(scheduling_gates=gated("later"))
    driver = Driver(node(), waiting)
    driver.decide()
    driver.see(changed(waiting, spec={"scheduling_gates": ()}))
    assert placements(driver.decide(after=60))["p1"].queued_at == 1060.0


def test_a_group_that_does_not_fit_is_told_as_one():
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=3), *pods(3, cpu="1", group="g1"))
    driver.decide()
    tried = only(driver.engine.tried())
    assert tried.who == GroupKey("test", "g1")
    assert (tried.pods, tried.number, tried.scheduler_name) == (3, 1, "default-scheduler")
    assert verdict_text(tried.verdict).startswith("only 2 of the 3 pods")
    assert tried.refusals == (Refusal("NodeResourcesFit", "Insufficient cpu", 2),)


def test_a_group_that_starts_without_some_members_is_told_with_each_of_those():
    driver = Driver(*nodes(2, cpu="1"), basic_group(), *pods(3, cpu="1", group="g1"))
    driver.decide()
    group, member = driver.engine.tried()
    assert (group.who, group.pods, group.verdict.succeeded) == (GroupKey("test", "g1"), 2, True)
    assert (member.who.name, member.verdict.succeeded) == ("p3", False)


def test_members_that_come_later_have_waited_less():
    first = pods(2, cpu="1", group="g1")
    driver = Driver(*nodes(2, cpu="1"), gang(minimum=2), *first)
    started = placements(driver.decide())
    assert {placed.queued_at for placed in started.values()} == {1000.0}
    for one in first:
        driver.confirm(one, on=started[one.metadata.name].node)
    driver.see(node("n3", cpu="1"), pod("late", cpu="1", group="g1"))
    placed = placements(driver.decide(after=50))["late"]
    assert (placed.attempts, placed.queued_at) == (1, 1050.0)


def test_victims_are_told_with_the_pod_they_make_room_for():
    driver = Driver(node(cpu="1"), pod("low", cpu="1", on="n1", priority=0))
    driver.see(pod("high", cpu="1", priority=10))
    driver.decide()
    tried = only(driver.engine.tried())
    assert tried.sought_victims
    assert (tried.nominated_node, [victim.name for victim in tried.victims]) == ("n1", ["low"])
