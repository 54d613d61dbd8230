"""Capacity freed for a pod that goes to pods of higher priority: the pod is tried elsewhere at once, not when victims have gone."""

import pytest

from posse.engine.decisions import ReportPod
from posse.model.container import ContainerPort
from posse.model.workload import AllDisruptionMode, DisruptionMode
from tests.support.builders import changed, gang, node, nodes, pod
from tests.support.engine_driver import Driver, evicted, nominated

WHOLE = DisruptionMode(all=AllDisruptionMode())


def group(name, count, priority, first_node=0):
    """A group that goes as a whole; on nodes from the given one on, or waiting."""
    where = [f"n{first_node + number}" if first_node else "" for number in range(count)]
    members = [
        pod(f"{name}{number}", cpu="1", on=on, group=name, priority=priority)
        for number, on in enumerate(where)
    ]
    return [gang(name, minimum=count, priority=priority, disruption_mode=WHOLE), *members]


def test_a_gang_looks_elsewhere_when_a_more_important_one_takes_the_room_that_is_made_for_it():
    driver = Driver(*nodes(4, cpu="1"), *group("a", 2, 0, first_node=1), *group("b", 2, 1, first_node=3))
    driver.see(*group("m", 2, 500))
    assert evicted(driver.decide()) == ["a0", "a1"]
    driver.see(*group("h", 2, 1000))
    decisions = driver.decide(after=1.0)
    assert evicted(decisions) == ["b0", "b1"]
    assert sorted(nominated(driver).items()) == [("h0", "n1"), ("h1", "n2"), ("m0", "n3"), ("m1", "n4")]


def test_so_it_does_when_a_more_important_pod_starts_on_one_of_its_nodes():
    slow, quick, last = (
        pod(name, cpu="1", on=on, priority=0) for name, on in (("s", "n1"), ("q", "n2"), ("z", "n3"))
    )
    driver = Driver(*nodes(3, cpu="1"), slow, quick, changed(last, spec={"priority": 1}), *group("m", 2, 500))
    assert evicted(driver.decide()) == ["q", "s"]
    driver.lose(quick)
    driver.decide(after=1.0)
    driver.see(pod("high", cpu="1", priority=1000))
    assert evicted(driver.decide(after=1.0)) == ["z"]


def test_a_pod_looks_elsewhere_when_a_more_important_gang_takes_the_room_that_is_made_for_it():
    driver = Driver(
        *nodes(3, cpu="1"), *group("a", 2, 0, first_node=1), pod("c", cpu="1", on="n3", priority=100)
    )
    driver.see(pod("m", cpu="1", priority=500))
    assert evicted(driver.decide()) == ["a0", "a1"]
    driver.see(*group("h", 2, 1000))
    decisions = driver.decide(after=1.0)
    assert evicted(decisions) == ["c"]
    assert [d.nominated_node for d in decisions if isinstance(d, ReportPod) and d.pod.name == "m"][-1] == "n3"


def test_who_still_has_room_beside_the_more_important_stays_where_it_is():
    driver = Driver(node("n1", cpu="4"), *(pod(f"v{i}", cpu="1", on="n1", priority=0) for i in range(4)))
    driver.see(pod("m", cpu="1", priority=500))
    first = evicted(driver.decide())
    driver.see(*group("h", 1, 1000))
    assert len(evicted(driver.decide(after=1.0))) == 1
    assert nominated(driver) == {"m": "n1", "h0": "n1"}
    assert len(first) == 1


@pytest.mark.parametrize("count", [1, 3])
def test_who_is_being_evicted_is_no_company_for_those_that_come_instead(count):
    driver = Driver(*nodes(2, cpu="1"), *group("a", 2, 0, first_node=1), *group("h", 2, 1000))
    assert evicted(driver.decide()) == ["a0", "a1"]
    driver.see(*(pod(f"again{number}", cpu="1", group="a", priority=0) for number in range(count)))
    driver.see(node("n3", cpu="1"))
    assert driver.bind(after=20.0) == {}


def test_who_is_in_the_way_of_the_more_important_by_more_than_resources_looks_elsewhere_at_once():
    def on_a_port(name, priority):
        one = pod(name, cpu="1", priority=priority)
        ports = (ContainerPort(container_port=80, host_port=80),)
        return changed(one, spec={"containers": (changed(one.spec.containers[0], ports=ports),)})

    there = [pod("a", cpu="4", on="n1", priority=0), pod("b", cpu="4", on="n2", priority=5)]
    driver = Driver(*nodes(2, cpu="4"), *there, on_a_port("less", 10))
    assert evicted(driver.decide()) == ["a"]
    driver.see(on_a_port("more", 100))
    assert evicted(driver.decide(after=1.0)) == ["b"]
    assert nominated(driver) == {"more": "n1", "less": "n2"}
