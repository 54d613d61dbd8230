"""The number of victims that a gang waits for: it follows those that go, and is not written for each of them."""

from posse.engine.decisions import ReportGroup, ReportPod
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import composite, gang, node, nodes, pod, pods
from tests.support.engine_driver import Driver, group_reports

HIGH = 100
GRACE = 30.0


def low(number, **description):
    return pod(f"a{number}", on=f"n{number}", **({"cpu": "1", "priority": 0} | description))


def preempting(count, *objects, **description):
    """Return a driver of a gang that has so many pods evicted, and those."""
    victims = [low(number, **description) for number in range(1, count + 1)]
    driver = Driver(*nodes(count, cpu="1"), *objects, *victims, gang(minimum=count, priority=HIGH))
    driver.see(*pods(count, cpu="1", group="g1", priority=HIGH))
    driver.decide()
    return driver, victims


def told(decisions):
    return [message.rpartition("preemption: ")[2] for _, _, _, message in group_reports(decisions)]


def later(driver):
    """Let the engine decide when it wants to be asked again, and say what groups are told."""
    driver.now = driver.engine.next_wakeup()
    return told(driver.decide())


def test_the_number_follows_those_that_go():
    driver, victims = preempting(3)
    for gone, left in ((0, 2), (1, 1)):
        driver.lose(victims[gone])
        assert told(driver.decide()) == []
        assert later(driver) == [f"preempting 3 pods; waiting for {left} to terminate."]


def test_it_is_told_once_of_all_that_go_in_a_moment_and_not_to_every_pod():
    driver, victims = preempting(5)
    decisions = []
    for victim in victims[:4]:
        driver.lose(victim)
        decisions += driver.decide(after=0.2)
    decisions += driver.decide(after=1.0)
    assert told(decisions) == ["preempting 5 pods; waiting for 1 to terminate."]
    assert [d.is_news for d in decisions if isinstance(d, ReportGroup)] == [False]
    assert not any(isinstance(decision, ReportPod) for decision in decisions)
    assert driver.decide(after=GRACE) == []


def test_where_the_last_goes_at_once_nothing_is_told():
    driver, victims = preempting(3)
    driver.lose(victims[0])
    assert driver.decide() == []
    driver.lose(*victims[1:])
    assert len(driver.bind()) == 3
    assert told(driver.decide(after=2.0)) == []


def test_groups_are_counted_too_and_one_is_one():
    mode = DisruptionMode(all=AllDisruptionMode())
    driver, victims = preempting(2, gang("low", minimum=2, priority=0, disruption_mode=mode), group="low")
    driver.lose(victims[0])
    driver.decide()
    assert later(driver) == ["preempting 1 group, 2 pods; waiting for 1 to terminate."]


def test_a_group_that_goes_pod_by_pod_is_not_counted():
    driver, victims = preempting(2, gang("low", minimum=1, priority=0), group="low")
    driver.lose(victims[0])
    driver.decide()
    assert later(driver) == ["preempting 2 pods; waiting for 1 to terminate."]


def test_all_groups_of_a_tree_are_told():
    victims = [low(1), low(2)]
    driver = Driver(*nodes(2, cpu="1"), *victims, composite("root", minimum=2, priority=HIGH))
    for number in (1, 2):
        leaf = gang(f"g{number}", minimum=1, priority=HIGH, parent_composite_pod_group_name="root")
        driver.see(leaf, pod(f"m{number}", cpu="1", group=f"g{number}", priority=HIGH))
    driver.decide()
    driver.lose(victims[0])
    driver.decide()
    assert later(driver) == ["preempting 2 pods; waiting for 1 to terminate."] * 3


def test_one_victim_is_one_victim():
    driver = Driver(node("n1", cpu="1"), low(1), gang(minimum=1, priority=HIGH))
    driver.see(pod("p1", cpu="1", group="g1", priority=HIGH))
    assert told(driver.decide()) == ["found a placement for podgroup, preempting 1 victim."]
    alone = Driver(node("n1", cpu="1"), low(1), pod("p1", cpu="1", priority=HIGH))
    (report,) = [decision for decision in alone.decide() if isinstance(decision, ReportPod)]
    assert report.message.endswith("on node n1, preempting 1 victim")
