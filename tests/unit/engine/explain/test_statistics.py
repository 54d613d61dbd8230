from posse.engine.explain.statistics import Queue
from tests.support.builders import changed, gang, gated, node, pod, pods, taint
from tests.support.engine_driver import Driver


def test_who_is_on_nodes_and_whose_binding_is_on_its_way():
    driver = Driver(node(), pod("there", on="n1"), pod("new"))
    driver.decide()
    found = driver.engine.statistics()
    assert (found.nodes, found.pods, found.assumed_pods) == (1, 2, 1)
    driver.confirm(pod("new"), on="n1")
    assert driver.engine.statistics().assumed_pods == 0


def test_pods_are_counted_by_where_they_wait():
    driver = Driver(
        node(cpu="1"),
        pod("big", cpu="2"),
        pod("behind-a-gate", scheduling_gates=gated("later")),
        pod("going", deleted="2026-01-01T00:00:00Z"),
        pod("theirs", scheduler_name="another"),
        pod("orphan", group="nobody"),
        gang("few", minimum=3),
        *(pod(f"few-{number}", group="few") for number in range(2)),
    )
    driver.decide()
    driver.see(pod("fresh"))
    found = driver.engine.statistics()
    assert dict(found.pods_by_queue) == {
        Queue.UNSCHEDULABLE: 1,
        Queue.GATED: 3,
        Queue.INCOMPLETE: 1,
        Queue.ACTIVE: 1,
    }
    assert dict(found.single_pods_by_queue) == {Queue.UNSCHEDULABLE: 1, Queue.GATED: 1, Queue.ACTIVE: 1}
    assert dict(found.groups_by_queue) == {Queue.INCOMPLETE: 1, Queue.GATED: 1}


def test_who_backs_off_is_counted_as_such():
    driver = Driver(node(cpu="1"), pod(cpu="1"))
    driver.decide()
    driver.refuse(pod(cpu="1"), "n1")
    driver.decide()
    assert driver.engine.statistics().pods_by_queue == {Queue.BACKOFF: 1}


def test_waiting_pods_are_counted_by_every_rule_that_refused_them():
    driver = Driver(node("small", cpu="1"), node("tainted", taints=[taint("dedicated")]), *pods(2, cpu="2"))
    driver.decide()
    ours = "default-scheduler"
    assert driver.engine.statistics().refused_pods == {
        ("NodeResourcesFit", ours): 2,
        ("TaintToleration", ours): 2,
    }
    driver.see(changed(node("small"), metadata={}))
    driver.decide(after=400)
    assert driver.engine.statistics().refused_pods == {}
