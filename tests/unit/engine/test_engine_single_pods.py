"""Pods that belong to no group, from first sight to binding, through the engine as the outside uses it."""

from posse.engine.queue.backlog import QueueState
from posse.model.meta import LabelSelector
from posse.model.placement import Affinity, PodAffinityTerm, PodAntiAffinity
from posse.model.pod import PodCondition
from tests.support.builders import changed, gated, interleaved, node, nodes, pod, pods, taint
from tests.support.engine_driver import Driver, binds, placements, pod_reports

NO_HELP = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."


def waits_in(driver, name="p1"):
    waiting = driver.engine._knowledge.backlog.get(f"uid-{name}")
    return waiting.place if waiting is not None else None


def test_a_pod_is_bound_to_a_node_that_fits():
    assert Driver(node("a"), pod("p1", cpu="1")).bind() == {"p1": "a"}


def test_each_pod_is_a_decision_of_its_own():
    decisions = Driver(*nodes(2), *pods(3, cpu="1")).decide()
    assert [len(bind.placements) for bind in binds(decisions)] == [1, 1, 1]
    assert all(bind.group is None for bind in binds(decisions))


def test_equal_nodes_share_the_load():
    bound = Driver(*nodes(3), *pods(6, cpu="500m")).bind()
    assert sorted(bound.values()) == ["n1", "n1", "n2", "n2", "n3", "n3"]


def test_higher_priority_comes_first_and_older_before_younger():
    driver = Driver(
        node("a", cpu="2"),
        pod("young", cpu="1", created="2026-01-01T00:00:09Z"),
        pod("old", cpu="1", created="2026-01-01T00:00:01Z"),
        pod("urgent", cpu="1", created="2026-01-01T00:00:59Z", priority=10),
    )
    assert list(driver.bind()) == ["urgent", "old"]


def test_a_decided_pod_is_not_decided_again():
    driver = Driver(node("a"), pod("p1"))
    driver.decide()
    assert driver.decide(after=600.0) == []


def test_a_pod_that_fits_nowhere_is_told_why_and_starts_when_a_node_appears():
    driver = Driver(node("a", cpu="1"), pod("p1", cpu="2"))
    decisions = driver.decide()
    assert placements(decisions) == {}
    assert pod_reports(decisions) == {
        "p1": ("Unschedulable", f"0/1 nodes are available: 1 Insufficient cpu. {NO_HELP}")
    }
    driver.see(node("b", cpu="2"))
    assert driver.bind(after=0.1) == {"p1": "b"}


def test_without_nodes_the_message_says_so():
    decisions = Driver(pod("p1")).decide()
    assert pod_reports(decisions) == {"p1": ("Unschedulable", "no nodes available to schedule pods")}


def test_the_same_thing_is_reported_once():
    driver = Driver(node("a", cpu="1"), pod("p1", cpu="2"))
    assert pod_reports(driver.decide())
    driver.see(node("a", cpu="1", labels={"changed": "yes"}))
    assert driver.decide(after=400.0) == []


def test_another_cause_is_reported_again():
    driver = Driver(node("a", cpu="1"), pod("p1", cpu="2"))
    driver.decide()
    driver.see(node("b", cpu="4", taints=[taint("k")]))
    reports = pod_reports(driver.decide(after=400.0))
    assert reports["p1"][1].startswith("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had")


def test_what_the_pod_already_says_is_not_reported_again():
    told = PodCondition(
        type="PodScheduled",
        status="False",
        reason="Unschedulable",
        message=f"0/1 nodes are available: 1 Insufficient cpu. {NO_HELP}",
    )
    ready = PodCondition(type="Ready", status="False")
    driver = Driver(node("a", cpu="1"), pod("p1", cpu="2", conditions=(ready, told)))
    assert driver.decide() == []


def test_a_refused_binding_frees_the_room_and_the_pod_waits_out_its_penalty():
    first, second = pod("p1", cpu="1"), pod("p2", cpu="1")
    driver = Driver(node("a", cpu="1"), first)
    assert driver.bind() == {"p1": "a"}
    driver.see(second)
    assert driver.bind() == {}
    driver.refuse(first, "a")
    assert driver.bind(after=0.1) == {"p2": "a"}
    assert waits_in(driver, "p1") is QueueState.ERROR_BACKOFF


def test_a_penalised_pod_is_not_tried_early_but_when_its_time_comes():
    first = pod("p1", cpu="1")
    driver = Driver(node("a"), first)
    driver.decide()
    driver.refuse(first, "a")
    assert driver.bind() == {}
    assert driver.engine.next_wakeup() == driver.now + 1.0
    assert driver.bind(after=0.9) == {}
    assert driver.bind(after=0.1) == {"p1": "a"}


def test_a_refusal_of_a_binding_that_is_no_longer_meant_is_nothing():
    first = pod("p1", cpu="1")
    driver = Driver(*nodes(2, cpu="1"), first)
    driver.decide()
    driver.refuse(first, "n2")
    driver.refuse(pod("unknown"), "n1")
    assert driver.decide(after=60.0) == []
    assert driver.engine.overview().pods_on_nodes == 1


def test_a_pod_bound_by_another_after_our_refusal_is_not_bound_again():
    first = pod("p1", cpu="1")
    driver = Driver(*nodes(2, cpu="1"), first)
    assert driver.bind() == {"p1": "n1"}
    driver.refuse(first, "n1")
    driver.confirm(first, on="n2")
    assert driver.bind() == {}
    assert driver.bind(after=60.0) == {}
    driver.see(pod("p2", cpu="1"))
    assert driver.bind() == {"p2": "n1"}


def test_a_pod_on_its_way_out_after_our_refusal_is_not_bound_again():
    first = pod("p1", cpu="1")
    driver = Driver(node("a"), first)
    driver.decide()
    driver.refuse(first, "a", "pod p1 is being deleted")
    driver.see(changed(first, metadata={"deletion_timestamp": "2026-01-01T00:01:00Z"}))
    assert driver.decide() == []
    assert waits_in(driver) is None
    assert driver.decide(after=60.0) == []


def test_a_pod_bound_elsewhere_by_another_counts_there():
    first = pod("p1", cpu="1")
    driver = Driver(*nodes(2, cpu="1"), first)
    assert driver.bind() == {"p1": "n1"}
    driver.confirm(first, on="n2")
    driver.see(pod("p2", cpu="1"), pod("p3", cpu="1"))
    assert driver.bind(after=0.1) == {"p2": "n1"}


def test_a_confirmed_binding_changes_nothing():
    first = pod("p1", cpu="1")
    driver = Driver(node("a", cpu="2"), first)
    driver.decide()
    driver.confirm(first, on="a")
    assert list(driver.engine._knowledge.state.take_improved_rows()) == []
    assert driver.decide() == []
    assert driver.engine._knowledge.state.nodes.requested[0, 0] == 1000


def test_pods_of_other_schedulers_are_left_alone_but_count_where_they_run():
    theirs = pod("p1", cpu="1", scheduler_name="other")
    driver = Driver(node("a", cpu="1"), theirs)
    assert driver.decide() == []
    driver.confirm(theirs, on="a")
    driver.see(pod("p2", cpu="1"))
    assert driver.bind() == {}


def test_several_scheduler_names_can_be_ours():
    driver = Driver(
        node("a"), pod("p1", scheduler_name="x"), pod("p2"), scheduler_names=("x", "default-scheduler")
    )
    assert driver.bind() == {"p1": "a", "p2": "a"}


def test_finished_pods_free_their_room():
    running = pod("p1", cpu="1", on="a", phase="Running")
    driver = Driver(node("a", cpu="1"), running, pod("p2", cpu="1"))
    assert driver.bind() == {}
    driver.see(changed(running, status={"phase": "Succeeded"}))
    assert driver.bind(after=0.1) == {"p2": "a"}


def test_a_pod_first_seen_finished_never_counts():
    done = pod("p1", cpu="1", on="a", phase="Failed")
    assert Driver(node("a", cpu="1"), done, pod("p2", cpu="1")).bind() == {"p2": "a"}


def test_deleted_pods_free_their_room():
    running = pod("p1", cpu="1", on="a")
    driver = Driver(node("a", cpu="1"), running, pod("p2", cpu="1"))
    driver.decide()
    driver.lose(running)
    assert driver.bind(after=0.1) == {"p2": "a"}


def test_a_pod_being_deleted_keeps_its_room_until_it_is_gone():
    running = pod("p1", cpu="1", on="a")
    driver = Driver(node("a", cpu="1"), running, pod("p2", cpu="1"))
    driver.see(changed(running, metadata={"deletion_timestamp": "2026-01-01T00:01:00Z"}))
    assert driver.bind() == {}


def test_a_pod_deleted_while_it_waits_is_forgotten():
    waiting = pod("p1", cpu="2")
    driver = Driver(node("a", cpu="1"), waiting)
    driver.decide()
    driver.lose(waiting)
    driver.see(node("b", cpu="4"))
    assert driver.decide(after=600.0) == []
    assert driver.engine.next_wakeup() is None
    assert driver.engine._knowledge.pods == {}


def test_a_waiting_pod_on_its_way_out_is_not_bound():
    waiting = pod("p1", cpu="2")
    driver = Driver(node("a", cpu="1"), waiting)
    driver.decide()
    driver.see(changed(waiting, metadata={"deletion_timestamp": "2026-01-01T00:01:00Z"}), node("b", cpu="4"))
    assert driver.decide(after=600.0) == []


def test_a_pod_deleted_between_decision_and_binding_frees_its_room():
    first = pod("p1", cpu="1")
    driver = Driver(node("a", cpu="1"), first)
    driver.decide()
    driver.lose(first)
    driver.refuse(first, "a")
    driver.see(pod("p2", cpu="1"))
    assert driver.bind() == {"p2": "a"}


def test_a_gated_pod_waits_in_silence_until_its_gates_are_gone():
    held = pod("p1", scheduling_gates=gated("quota"))
    driver = Driver(node("a"), held)
    assert driver.decide() == []
    driver.see(changed(held, spec={"scheduling_gates": ()}))
    assert driver.bind() == {"p1": "a"}


def test_a_node_that_flaps_keeps_the_pods_on_it():
    driver = Driver(node("a", cpu="1"), pod("p1", cpu="1"))
    driver.decide()
    driver.lose(node("a", cpu="1"))
    driver.see(pod("p2", cpu="1"))
    assert driver.bind() == {}
    driver.see(node("a", cpu="1"))
    assert driver.bind(after=60.0) == {}
    driver.lose(pod("p1", cpu="1"))
    assert driver.bind(after=60.0) == {"p2": "a"}


def test_pods_seen_before_their_node_count_when_it_appears():
    driver = Driver(pod("p1", cpu="1", on="a"), node("a", cpu="1"), pod("p2", cpu="1"))
    assert driver.bind() == {}


def test_a_node_that_opens_up_wakes_who_waited():
    driver = Driver(node("a", unschedulable=True), pod("p1"))
    assert driver.bind() == {}
    driver.see(node("a"))
    assert driver.bind(after=0.1) == {"p1": "a"}


def test_a_heartbeat_wakes_nobody():
    driver = Driver(node("a", cpu="1"), pod("p1", cpu="2"))
    driver.decide()
    version = driver.engine._knowledge.state.nodes.version
    driver.see(changed(node("a", cpu="1"), metadata={"resource_version": "2"}))
    assert driver.engine._knowledge.state.nodes.version == version
    assert driver.decide() == []


def test_who_is_parked_is_looked_at_again_after_five_minutes():
    driver = Driver(node("a", cpu="1"), pod("p1", cpu="2"))
    driver.decide()
    assert driver.engine.next_wakeup() == driver.now + 300.0
    attempts = driver.engine._knowledge.backlog.get("uid-p1").attempts
    driver.decide(after=299.0)
    assert driver.engine._knowledge.backlog.get("uid-p1").attempts == attempts
    driver.decide(after=1.0)
    assert driver.engine._knowledge.backlog.get("uid-p1").attempts == attempts + 1


def test_a_pod_whose_requests_change_is_judged_anew():
    large = pod("p1", cpu="4")
    driver = Driver(node("a", cpu="1"), large)
    assert driver.bind() == {}
    driver.see(changed(large, spec={"containers": pod(cpu="1").spec.containers}))
    assert driver.bind() == {"p1": "a"}


def test_a_change_that_no_rule_reads_leaves_the_pod_its_place_in_the_queue():
    waiting = pod("p1", cpu="4")
    driver = Driver(node("a", cpu="1"), waiting)
    driver.decide()
    entry = driver.engine._knowledge.backlog.get("uid-p1")
    driver.see(changed(waiting, spec={"active_deadline_seconds": 60}))
    assert driver.engine._knowledge.backlog.get("uid-p1") is entry
    assert entry.place is QueueState.UNSCHEDULABLE


def test_pods_of_several_kinds_are_served_strictly_by_age():
    kinds = interleaved(pods(3, cpu="1"), pods(3, first=4, cpu="500m"))
    driver = Driver(node("a", cpu="3"), *kinds)
    assert list(driver.bind()) == ["p1", "p4", "p2", "p5"]


def test_a_running_pod_that_shrinks_makes_room():
    running = pod("p1", cpu="2", on="a")
    driver = Driver(node("a", cpu="2"), running, pod("p2", cpu="1"))
    assert driver.bind() == {}
    driver.see(changed(running, spec={"containers": pod(cpu="1").spec.containers}))
    assert driver.bind(after=0.1) == {"p2": "a"}


def test_long_queues_are_worked_off_in_bounded_steps():
    driver = Driver(node("a", cpu="4k", pods="5k"), *pods(1500, cpu="1"))
    first = driver.engine.decide(driver.now)
    assert len(binds(first)) == 1000
    assert driver.engine.has_work
    assert len(binds(driver.engine.decide(driver.now))) == 500
    assert not driver.engine.has_work


def test_labels_that_come_with_a_binding_make_nobody_look_again():
    first, large = pod("first", cpu="1"), pod("large", cpu="4")
    driver = Driver(node("a", cpu="4"), first, large)
    assert driver.bind() == {"first": "a"}
    labelled = changed(first, metadata={"labels": {"zone": "east"}}, spec={"node_name": "a"})
    driver.see(labelled)
    assert not driver.engine.has_work
    assert driver.engine._knowledge.pods[first.metadata.uid].labels.labels == {"zone": "east"}


def test_labels_that_come_with_a_binding_count_for_those_who_ask_for_them():
    hosts = [node(name, labels={"kubernetes.io/hostname": name}) for name in ("a", "b")]
    term = PodAffinityTerm(
        label_selector=LabelSelector(match_labels={"zone": "east"}), topology_key="kubernetes.io/hostname"
    )
    apart = PodAntiAffinity(required_during_scheduling_ignored_during_execution=(term,))
    first, lonely = pod("first", cpu="1"), pod("lonely", affinity=Affinity(pod_anti_affinity=apart))
    driver = Driver(*hosts, changed(lonely, spec={"scheduling_gates": gated("later")}), first)
    [where] = driver.bind().values()
    driver.see(changed(first, metadata={"labels": {"zone": "east"}}, spec={"node_name": where}))
    driver.see(lonely)
    assert driver.bind()["lonely"] != where
