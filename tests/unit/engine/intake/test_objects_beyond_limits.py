"""Objects beyond a limit, which a real API server accepts: told or left out, and other pods do not wait."""

import pytest

from posse.model.coscheduling import CoschedulingPodGroup, CoschedulingPodGroupSpec
from posse.model.decoding import decode
from posse.model.disruption_budget import PodDisruptionBudget
from posse.model.meta import ObjectMeta
from posse.model.node import Node
from posse.model.pod import Pod
from tests.support import poisons
from tests.support.builders import changed, node, pod
from tests.support.engine_driver import Driver, evicted, group_reports, placements, pod_reports


def poison(name, count=poisons.MANY + 1, **metadata):
    body = poisons.PODS[name](count)
    read = decode(Pod, body)
    return changed(
        read, metadata={"uid": "uid-poison", **metadata}, spec={"scheduler_name": "default-scheduler"}
    )


@pytest.mark.parametrize("name", poisons.PODS)
def test_a_poisonous_pod_is_told_and_the_next_one_is_bound(name):
    decisions = Driver(node("a"), poison(name), pod("p2")).decide()
    assert placements(decisions) == {"p2": "a"}
    reason, message = pod_reports(decisions)["poison"]
    assert reason == "SchedulerError"
    assert "Posse takes at most" in message


@pytest.mark.parametrize("name", poisons.PODS)
def test_on_a_node_it_counts_there(name):
    running = changed(poison(name), spec={"node_name": "a"})
    driver = Driver(node("a", pods="2"), running, pod("p2"), pod("p3"))
    assert placements(driver.decide()) == {"p2": "a"}
    driver.lose(running)
    assert placements(driver.decide()) == {"p3": "a"}


def test_on_a_node_its_requests_and_first_host_ports_count():
    running = changed(poison("host ports"), spec={"node_name": "a"})
    requests = {"example.com/gpu": 1, **{f"example.com/r{i}": 1 for i in range(100)}}
    greedy = pod("greedy", "3", requests=requests, on="a")
    offer = {"example.com/gpu": 2}
    driver = Driver(node("a", **offer), running, greedy)
    driver.see(pod("clash", containers=decode(Pod, poisons.PODS["host ports"](1)).spec.containers))
    driver.see(pod("big", cpu="2"), pod("devices", requests={"example.com/gpu": 2}), pod("fits", cpu="1"))
    assert placements(driver.decide()) == {"fits": "a"}


def test_once_within_the_limits_it_is_bound():
    driver = Driver(node("a"), poison("scheduling gates"))
    assert pod_reports(driver.decide())
    driver.see(poison("scheduling gates", count=0))
    assert placements(driver.decide()) == {"poison": "a"}


def test_a_node_beyond_a_limit_takes_no_pods_until_it_is_within():
    driver = Driver(decode(Node, poisons.node(30_000)), pod("p1"))
    assert not placements(driver.decide())
    (said,) = driver.engine.take_faults()
    assert said == "Node poison is left out: status.capacity has 30003 items; Posse takes at most 250"
    driver.see(decode(Node, poisons.node(30_000)))
    assert driver.engine.take_faults() == []
    driver.see(decode(Node, poisons.node(0)))
    assert placements(driver.decide(after=60)) == {"p1": "poison"}


def test_a_group_beyond_a_limit_is_told_so():
    spec = CoschedulingPodGroupSpec(min_member=1, min_resources={f"example.com/r{i}": 1 for i in range(65)})
    group = CoschedulingPodGroup(metadata=ObjectMeta(namespace="test", name="g", uid="uid-g"), spec=spec)
    member = changed(pod("p1"), metadata={"labels": {"scheduling.x-k8s.io/pod-group": "g"}})
    decisions = Driver(node("a"), group, member).decide()
    assert not placements(decisions)
    ((name, _, reason, message),) = group_reports(decisions)
    assert (name, reason) == ("g", "Invalid")
    assert message == "spec.minResources has 65 items; Posse takes at most 64"
    assert pod_reports(decisions)["p1"] == ("SchedulerError", message)


def test_a_budget_beyond_a_limit_is_left_out():
    selector = {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["v"] * 20_000}]}
    budget = decode(
        PodDisruptionBudget,
        {"metadata": {"name": "b", "namespace": "test"}, "spec": {"minAvailable": 1, "selector": selector}},
    )
    driver = Driver(node("a", cpu="1"), budget, pod("low", cpu="1", on="a"), pod("high", cpu="1", priority=9))
    assert evicted(driver.decide()) == ["low"]
    assert "PodDisruptionBudget test/b is left out" in driver.engine.take_faults()[0]
