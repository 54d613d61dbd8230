"""Metrics as a scraper reads them, after rounds of a real engine."""

import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from posse.engine.keys import PodRef
from posse.model.disruption_budget import (
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
)
from posse.model.feature_gates import ALL_GATES, Gate
from posse.model.meta import LabelSelector, ObjectMeta
from posse.runtime.scheduling.metrics import Metrics
from posse.runtime.scheduling.observers import Round
from tests.support.builders import (
    NAMESPACE,
    basic_group,
    changed,
    composite,
    gang,
    node,
    nodes,
    one_domain,
    pod,
    pods,
    taint,
)
from tests.support.engine_driver import Driver

OURS = "default-scheduler"


class Watched:
    """An engine whose rounds are counted; each round takes as long as a test says."""

    def __init__(self, *objects):
        self.driver = Driver(*objects)
        self.metrics = Metrics(self.driver.engine.statistics, lambda: self.driver.now)

    def decide(self, after=0.0, seconds=0.0):
        self.driver.now += after
        decisions = self.driver.engine.decide(self.driver.now)
        done = Round(time.perf_counter(), seconds, decisions, self.driver.engine.tried())
        self.metrics.decided(done)
        return done

    def bind(self, done, **refusals):
        self.metrics.bound(done, {f"uid-{name}": reason for name, reason in refusals.items()})

    def value(self, name, **labels):
        return values(self.metrics)[name, tuple(sorted(labels.items()))]


def values(metrics):
    text = metrics.page("")[0].decode()
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def attempts(watched, result):
    found = values(watched.metrics)
    return found.get(("scheduler_schedule_attempts_total", (("profile", OURS), ("result", result))), 0)


def test_a_pod_is_scheduled_when_its_binding_is_accepted_and_not_before():
    watched = Watched(node(), *pods(2))
    done = watched.decide()
    assert attempts(watched, "scheduled") == 0
    watched.bind(done)
    assert attempts(watched, "scheduled") == 2
    assert (
        watched.value("scheduler_scheduling_attempt_duration_seconds_count", result="scheduled", profile=OURS)
        == 2
    )


def test_a_refused_binding_is_an_error():
    watched = Watched(node(), *pods(2))
    watched.bind(watched.decide(), p1="conflict")
    assert (attempts(watched, "scheduled"), attempts(watched, "error")) == (1, 1)
    assert watched.value("posse_bind_refused_total") == 1
    assert watched.value("scheduler_pod_scheduling_attempts_count") == 1


def test_refused_volumes_are_an_error():
    watched = Watched()
    watched.metrics.volumes_refused(PodRef("test", "p1", "uid-p1", OURS), "n1", "conflict")
    assert attempts(watched, "error") == 1


def test_a_pod_that_cannot_be_read_is_an_error():
    watched = Watched(node(), pod(cpu="lots"))
    watched.decide()
    assert attempts(watched, "error") == 1


def test_what_finds_no_place_is_unschedulable_at_every_attempt():
    watched = Watched(node(cpu="1"), *pods(3, cpu="2"))
    watched.decide()
    watched.decide(after=400)
    assert attempts(watched, "unschedulable") == 6


def test_the_time_of_a_round_is_shared_by_its_pods():
    watched = Watched(*nodes(2, cpu="1"), *pods(4, cpu="1"))
    watched.decide(seconds=0.4)
    assert watched.value("posse_decide_duration_seconds_sum") == 0.4
    assert watched.value("scheduler_scheduling_algorithm_duration_seconds_count") == 4
    assert watched.value("scheduler_scheduling_algorithm_duration_seconds_sum") == pytest.approx(0.4)
    unschedulable = {"result": "unschedulable", "profile": OURS}
    seconds = watched.value("scheduler_scheduling_attempt_duration_seconds_sum", **unschedulable)
    assert seconds == pytest.approx(0.2)


def test_attempts_and_waiting_time_are_counted_until_the_binding():
    watched = Watched(node(cpu="1"), pod(cpu="2"))
    watched.decide()
    watched.driver.see(node("n2", cpu="2"))
    done = watched.decide(after=30)
    watched.driver.now += 0.5
    watched.bind(done)
    assert watched.value("scheduler_pod_scheduling_attempts_sum") == 2
    assert watched.value("scheduler_pod_scheduling_sli_duration_seconds_sum", attempts="2") == 30.5


def test_many_attempts_are_told_as_fifteen_or_more():
    watched = Watched(node(cpu="1"), pod(cpu="2"))
    for _ in range(16):
        watched.decide(after=400)
    watched.driver.see(node("n2", cpu="2"))
    watched.bind(watched.decide(after=400))
    assert watched.value("scheduler_pod_scheduling_sli_duration_seconds_count", attempts="15+") == 1


def test_groups_are_counted_as_groups_and_their_pods_as_pods():
    watched = Watched(
        *nodes(4, cpu="1"),
        gang("fits", minimum=3),
        *(pod(f"fits-{number}", cpu="1", group="fits") for number in range(3)),
        gang("does-not", minimum=2),
        *(pod(f"does-not-{number}", cpu="1", group="does-not") for number in range(2)),
    )
    watched.bind(watched.decide(seconds=0.5))
    group_attempts = "scheduler_podgroup_schedule_attempts_total"
    group_seconds = "scheduler_podgroup_scheduling_attempt_duration_seconds_sum"
    assert watched.value(group_attempts, result="scheduled", profile=OURS) == 1
    assert watched.value(group_attempts, result="unschedulable", profile=OURS) == 1
    assert watched.value(group_seconds, result="scheduled", profile=OURS) == pytest.approx(0.3)
    assert (attempts(watched, "scheduled"), attempts(watched, "unschedulable")) == (3, 2)


def test_members_that_a_group_starts_without_are_unschedulable():
    watched = Watched(*nodes(2, cpu="1"), basic_group(), *pods(3, cpu="1", group="g1"))
    watched.bind(watched.decide())
    assert (attempts(watched, "scheduled"), attempts(watched, "unschedulable")) == (2, 1)


def test_preemption_is_counted_with_its_victims():
    low = [pod(f"low-{number}", cpu="1", on="n1", priority=0) for number in range(2)]
    watched = Watched(node(cpu="2"), *low, pod("high", cpu="2", priority=10))
    watched.decide()
    assert watched.value("scheduler_preemption_attempts_total") == 1
    assert watched.value("scheduler_preemption_victims_count") == 1
    assert watched.value("scheduler_preemption_victims_sum") == 2


def test_preemption_by_a_group_is_counted_apart():
    low = [pod(f"low-{number}", cpu="1", on="n1", priority=0) for number in range(2)]
    watched = Watched(
        node(cpu="2"), *low, gang(minimum=2, priority=10), *pods(2, cpu="1", group="g1", priority=10)
    )
    watched.decide()
    assert watched.value("scheduler_preemption_attempts_total") == 0
    assert watched.value("scheduler_workload_preemption_attempts_total", result="success") == 1
    assert watched.value("scheduler_workload_preemption_victims_sum") == 2


def group_attempts(watched, result):
    found = values(watched.metrics)
    labels = (("profile", OURS), ("result", result))
    return found.get(("scheduler_podgroup_schedule_attempts_total", labels), 0)


def labelled(one):
    return changed(one, metadata={"labels": {"app": "low"}})


def budget(allowed):
    return PodDisruptionBudget(
        metadata=ObjectMeta(name="b", namespace=NAMESPACE),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": "low"})),
        status=PodDisruptionBudgetStatus(disruptions_allowed=allowed),
    )


def test_a_group_that_others_leave_for_waits_on_preemption():
    low = [pod(f"low-{number}", cpu="1", on="n1", priority=0) for number in range(2)]
    watched = Watched(
        node(cpu="2"), *low, gang(minimum=2, priority=10), *pods(2, cpu="1", group="g1", priority=10)
    )
    watched.decide()
    assert group_attempts(watched, "waiting_on_preemption") == 1
    assert group_attempts(watched, "unschedulable") == 0


def test_a_group_whose_bindings_are_refused_is_an_error():
    watched = Watched(node(), gang(minimum=2), *pods(2, group="g1"))
    watched.bind(watched.decide(), p1="node is gone")
    assert group_attempts(watched, "error") == 1


def test_what_preemption_does_to_groups_and_budgets_is_counted():
    low = [labelled(pod(name, cpu="1", on="n1", group="g1")) for name in ("low-1", "low-2")]
    watched = Watched(node(cpu="2"), gang(minimum=1), budget(1), *low)
    watched.driver.see(pod("high", cpu="2", priority=10))
    watched.decide()
    assert watched.value("scheduler_preemption_workload_disruptions_sum", preemptor="pod") == 1
    assert watched.value("scheduler_preemption_pdb_violations_total", preemptor="pod") == 1


def test_budgets_that_a_group_overdraws_are_counted():
    low = [labelled(pod(name, cpu="1", on="n1")) for name in ("low-1", "low-2")]
    watched = Watched(node(cpu="2"), budget(0), *low)
    watched.driver.see(gang(minimum=2, priority=10), *pods(2, cpu="1", group="g1", priority=10))
    watched.decide()
    assert watched.value("scheduler_preemption_pdb_violations_total", preemptor="podgroup") == 2
    assert watched.value("scheduler_preemption_workload_disruptions_sum", preemptor="podgroup") == 0


def test_preemptions_under_way_and_those_by_victims_of_others_are_counted():
    here = {"place": "here"}
    low, middle = pod("low", cpu="1", on="n2"), pod("middle", cpu="1", on="n1", group="g1", priority=5)
    watched = Watched(
        node("n1", cpu="1", labels=here), node("n2", cpu="1"), gang(minimum=1, priority=5), middle, low
    )
    watched.driver.see(pod("high", cpu="1", priority=10, node_selector=here))
    watched.decide()
    assert watched.value("posse_preemptions_under_way") == 1
    assert watched.value("posse_preemption_cascades_total") == 0
    watched.driver.see(pod("again", cpu="1", group="g1", priority=5))
    watched.decide()
    assert watched.value("posse_preemptions_under_way") == 2
    assert watched.value("posse_preemption_cascades_total") == 1


def test_gauges_tell_how_things_stand_when_asked():
    watched = Watched(node(taints=[taint("dedicated")]), *pods(2), pod("orphan", group="nobody"))
    assert watched.value("scheduler_pending_pods", queue="active") == 2
    watched.decide()
    assert watched.value("scheduler_pending_pods", queue="active") == 0
    assert watched.value("scheduler_pending_pods", queue="unschedulable") == 2
    assert watched.value("scheduler_pending_pods", queue="incomplete") == 1
    assert watched.value("scheduler_queued_entities", queue="unschedulable", type="pod") == 2
    assert watched.value("scheduler_queued_entities", queue="incomplete", type="podgroup") == 1
    assert watched.value("scheduler_unschedulable_pods", plugin="TaintToleration", profile=OURS) == 2
    assert watched.value("scheduler_cache_size", type="nodes") == 1
    assert watched.value("scheduler_cache_size", type="pods") == 0


def test_two_schedulers_in_one_process_do_not_share_counts():
    first, second = Watched(node(), pod()), Watched(node())
    first.bind(first.decide())
    assert (attempts(first, "scheduled"), attempts(second, "scheduled")) == (1, 0)


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "text/plain; version=0.0.4; charset=utf-8"),
        ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text; version=1.0.0"),
    ],
)
def test_the_page_comes_in_the_form_that_is_asked_for(accept, content_type):
    body, told = Watched().metrics.page(accept)
    assert told.startswith(content_type)
    assert b"posse_build_info{" in body
    assert b"_created" not in body


def test_feature_gates_are_told_as_kubernetes_tells_them():
    gates = ALL_GATES - {Gate.DELAYED_PREEMPTION}
    found = values(Metrics(Driver().engine.statistics, time.time, gates))
    told = {
        dict(labels)["name"]: value
        for (name, labels), value in found.items()
        if name == "kubernetes_feature_enabled"
    }
    assert told == {gate.value: float(gate in gates) for gate in Gate}


def test_a_group_that_cannot_go_on_where_its_members_run_counts_as_an_error():
    running = pod("p1", on="plain", group="g1")
    watched = Watched(node("plain"), gang(minimum=1, **one_domain()), running, pod("p2", group="g1"))
    watched.decide()
    assert (attempts(watched, "error"), attempts(watched, "unschedulable")) == (1, 0)
    groups = "scheduler_podgroup_schedule_attempts_total"
    assert watched.value(groups, result="error", profile=OURS) == 1


def test_what_is_known_of_placements_is_counted():
    watched = Watched(node(cpu="3"), gang("a", 2), *pods(2, cpu="1", group="a"))
    watched.driver.see(gang("b", 2), pod("b1", cpu="1", group="b"), pod("b2", cpu="1", group="b"))
    below = {"parent_composite_pod_group_name": "root"}
    watched.driver.see(composite("root", 1), gang("c", 2, **below))
    watched.driver.see(pod("c1", cpu="1", group="c"), pod("c2", cpu="0.5", group="c"))
    watched.decide()
    counted = {
        verdict: watched.value("posse_podgroup_verdicts_total", verdict=verdict)
        for verdict in ("Placed", "ProvenInfeasible", "NotExhaustive")
    }
    assert counted == {"Placed": 1, "ProvenInfeasible": 1, "NotExhaustive": 1}
