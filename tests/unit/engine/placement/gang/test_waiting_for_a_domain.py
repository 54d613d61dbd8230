"""Groups that wait for room in one rack: what wakes them, who keeps room for them, and what they are told."""

from posse.engine.causes import Refusal
from posse.engine.explain.capacity_limits import NeverFits
from posse.engine.explain.group_status import State
from posse.engine.keys import GroupKey
from posse.engine.placement.gang.proof import could_start
from posse.engine.queue.starvation_guard import PATIENCE_SECONDS
from tests.support.builders import NAMESPACE, changed, gang, in_rack, node, one_domain, pod, pods, taint
from tests.support.engine_driver import Driver, pod_reports


def rack_gang(minimum, **spec):
    return gang(minimum=minimum, **one_domain(), **spec)


def members(count, first=1, **description):
    return pods(count, first, **({"cpu": "1", "group": "g1"} | description))


def told(driver):
    return driver.engine.explain(GroupKey(NAMESPACE, "g1"))


def the_group(driver):
    return driver.engine._knowledge.groups.get(GroupKey(NAMESPACE, "g1"))


def test_room_in_another_rack_each_is_no_reason_to_try():
    driver = Driver(*in_rack("r1", "a", cpu="1"), *in_rack("r2", "b", cpu="1"), rack_gang(2), *members(2))
    driver.decide()
    assert not could_start(driver.engine._knowledge.state, the_group(driver))
    driver.see(*in_rack("r3", "c", cpu="1"))
    driver.see(*in_rack("r2", "d", cpu="1"))
    assert could_start(driver.engine._knowledge.state, the_group(driver))
    assert set(driver.bind(after=10).values()) == {"b", "d"}


def test_a_node_that_moves_to_another_rack_is_noticed():
    driver = Driver(*in_rack("r1", "a", cpu="1"), *in_rack("r2", "b", cpu="1"), rack_gang(2), *members(2))
    assert driver.bind() == {}
    driver.see(*in_rack("r1", "b", cpu="1"))
    assert sorted(driver.bind(after=10)) == ["p1", "p2"]


def test_a_group_is_freed_from_its_error_by_the_label_of_a_node_that_has_no_room():
    running = changed(members(1)[0], spec={"node_name": "full"})
    driver = Driver(node("full", cpu="1"), *in_rack("r1", "a", cpu="1"), rack_gang(1), running)
    driver.see(*members(1, first=2))
    assert pod_reports(driver.decide())["p2"][0] == "SchedulerError"
    assert told(driver).situation.state is State.INVALID
    driver.see(*in_rack("r1", "full", cpu="1"))
    assert driver.bind(after=10) == {"p2": "a"}


def test_a_group_that_vanishes_in_its_error_is_forgotten():
    running = changed(members(1)[0], spec={"node_name": "plain"})
    late = members(1, first=2)[0]
    driver = Driver(node("plain"), rack_gang(1), running, late)
    driver.decide()
    driver.lose(rack_gang(1), running, late)
    driver.decide()
    assert driver.engine._knowledge.misplaced_groups == {}


def test_what_is_in_the_way_is_told_of_the_rack_that_comes_closest():
    racks = [*in_rack("r1", "a", cpu="9"), *in_rack("r2", "b", "c", cpu="2"), *in_rack("r3", "d", cpu="1")]
    driver = Driver(*racks, pod("x", cpu="8", on="a"), pod("y", cpu="1", on="b"), rack_gang(4), *members(4))
    explanation = told(driver)
    assert explanation.domain == "rack r2"
    assert explanation.situation.topology_key == "rack"
    (obstacle,) = explanation.obstacles
    assert (obstacle.fit, [holder.who.name for holder in obstacle.holders]) == (3, ["y"])
    assert sum(one.nodes for one in obstacle.refusals) == 2
    assert explanation.situation.out_of_reach is None


def test_without_any_rack_nothing_is_in_the_way_but_that():
    explanation = told(Driver(node("plain"), rack_gang(1), *members(1)))
    assert explanation.obstacles == ()
    assert explanation.domain == ""
    assert explanation.situation.message == "no feasible placements found: no node has the label rack."


def test_what_is_bigger_than_every_rack_is_told_so_although_the_cluster_is_bigger():
    racks = [*in_rack("r1", "a", cpu="2"), *in_rack("r2", "b", cpu="2")]
    driver = Driver(*racks, pod("x", cpu="1", on="a"), rack_gang(3), *members(3))
    assert told(driver).situation.out_of_reach == NeverFits(closed=(), domain="rack")


def test_a_rack_that_is_closed_to_it_is_told_as_such():
    tainted = in_rack("r1", "a", "b", cpu="2", taints=[taint("gpu")])
    driver = Driver(*tainted, *in_rack("r2", "c", cpu="1"), rack_gang(3), *members(3))
    reach = told(driver).situation.out_of_reach
    assert reach == NeverFits((Refusal("TaintToleration", "node(s) had untolerated taint(s)", 2),), "rack")


def test_room_is_kept_in_one_rack():
    racks = [*in_rack("r1", "a", "b", cpu="1"), *in_rack("r2", "c", cpu="1")]
    there = [pod("x", cpu="1", on="a"), pod("y", cpu="1", on="c")]
    driver = Driver(*racks, *there, rack_gang(2), *members(2))
    driver.decide()
    driver.see(pod("small", cpu="1"))
    assert driver.bind(after=PATIENCE_SECONDS / 2) == {"small": "b"}
    driver.decide(after=PATIENCE_SECONDS)
    kept = driver.engine._knowledge.starvation_guard.reservation
    assert {driver.engine._knowledge.state.nodes.names[row] for row in kept.rows.tolist()} == {"a", "b"}
