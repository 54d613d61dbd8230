"""Recordings as traces: arrivals, run times, nodes that came and went, evicted work."""

from msgspec.structs import replace

from posse.engine.events import Observed, Vanished
from posse.model.meta import Condition
from posse.model.pod import PodStatus
from posse.model.resource_claim import ResourceClaim
from posse.simulation.jobs import FOREVER
from posse.simulation.policies import named_policies
from posse.simulation.recorded_jobs import recorded_cluster
from posse.simulation.virtual_cluster import VirtualCluster
from tests.support.builders import composite, gang, node, pod, priority_class
from tests.support.device_objects import (
    claiming,
    device_claim,
    device_class,
    given,
    pod_with_own,
    resource_slice,
)

BEGIN = 1000.0


def bound(one, name):
    return replace(one, spec=replace(one.spec, node_name=name), status=PodStatus(phase="Running"))


def over(one):
    return replace(one, status=PodStatus(phase="Succeeded"))


def evicted(one):
    mark = Condition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler")
    return replace(one, status=replace(one.status, conditions=(mark,)))


def read(*history):
    return recorded_cluster((BEGIN + time, event) for time, event in history)


def seen(time, *objects):
    return [(time, Observed(obj)) for obj in objects]


def test_a_gang_arrives_with_its_first_pod_and_runs_from_binding_to_end():
    members = [pod(f"g{index}", group="g") for index in range(2)]
    found = read(
        *seen(0, node("n1"), priority_class("high", 10)),
        *seen(5, gang("g", 2), *members),
        *seen(7, *(bound(one, "n1") for one in members)),
        *seen(107, *(over(bound(one, "n1")) for one in members)),
    )
    (job,) = found.jobs
    assert (job.name, job.submit, job.duration, job.pods) == ("test/g", 5, 100, 2)
    assert [one.metadata.name for one in found.nodes] == ["n1"]
    assert [type(one).__name__ for one in found.fixtures] == ["PriorityClass"]
    assert found.length == 107


def test_work_that_had_not_ended_runs_on():
    one = pod("p")
    found = read(*seen(0, node("n1"), one), *seen(1, bound(one, "n1")))
    assert found.jobs[0].duration == FOREVER


def test_replacements_of_evicted_members_are_the_same_job():
    first = [pod(f"a{index}", group="g") for index in range(2)]
    second = [pod(f"b{index}", group="g") for index in range(2)]
    running = [bound(one, "n1") for one in first]
    found = read(
        *seen(0, node("n1"), gang("g", 2), *first),
        *seen(1, *running),
        *seen(50, *(evicted(one) for one in running)),
        *((60, Vanished(evicted(one))) for one in running),
        *seen(61, *second),
        *seen(200, *(bound(one, "n1") for one in second)),
        *seen(300, *(over(bound(one, "n1")) for one in second)),
    )
    (job,) = found.jobs
    assert (job.submit, job.duration, job.pods) == (0, 100, 2)


def test_claims_from_templates_are_made_for_every_run_and_freed_at_its_end():
    """Two pods with a claim each, and one device: the second pod starts when the first has ended."""
    (one, first), (other, second) = (pod_with_own(name) for name in ("p1", "p2"))
    found = read(
        *seen(0, device_class(), resource_slice("n1", 1), node("n1"), one, *first, other, *second),
        *seen(1, given(first[0], "n1/d1", to=("p1",)), bound(one, "n1")),
        *seen(101, over(bound(one, "n1"))),
        *seen(102, given(second[0], "n1/d1", to=("p2",)), bound(other, "n1")),
        *seen(202, over(bound(other, "n1"))),
    )
    assert [len(job.objects.claims) for job in found.jobs] == [1, 1]
    assert not any(isinstance(one, ResourceClaim) for one in found.fixtures)
    run = VirtualCluster(found.nodes, found.jobs, named_policies()["greedy"], fixtures=found.fixtures).run()
    assert sorted((job.start, job.end) for job in run.jobs) == [(0, 100), (100, 200)]


def test_a_claim_by_name_is_given_back_when_no_pod_uses_it():
    shared = given(device_claim("c"), "n1/d1", to=("p1",))
    one, other = (pod(name, resource_claims=claiming("c")) for name in ("p1", "p2"))
    found = read(
        *seen(0, device_class(), resource_slice("n1", 1), node("n1"), shared, one),
        *seen(1, bound(one, "n1")),
        *seen(11, over(bound(one, "n1"))),
        *seen(20, other),
        *seen(21, bound(other, "n1")),
        *seen(31, over(bound(other, "n1"))),
    )
    run = VirtualCluster(found.nodes, found.jobs, named_policies()["greedy"], fixtures=found.fixtures).run()
    assert [(job.start, job.end) for job in run.jobs] == [(0, 10), (20, 30)]


def test_nodes_come_and_go():
    found = read(
        *seen(0, node("n1"), pod("p")),
        *seen(10, node("n2")),
        (20, Vanished(node("n1"))),
        *seen(30, node("n1")),
        (40, Vanished(node("n2"))),
    )
    assert [(one.node, one.begin, one.end) for one in found.failures] == [
        ("n2", 0, 10),
        ("n1", 20, 30),
        ("n2", 40, FOREVER),
    ]


def test_a_tree_is_one_job_and_starts_in_virtual_time():
    parts = [gang(name, 1, parent_composite_pod_group_name="tree") for name in ("left", "right")]
    members = [pod(f"p-{name}", group=name, cpu="4") for name in ("left", "right")]
    found = read(*seen(0, node("n1", cpu="4"), composite("tree", 2), *parts, *members))
    (job,) = found.jobs
    assert "tree" in job.name
    assert job.pods == 2
    waiting = VirtualCluster(found.nodes, found.jobs, named_policies()["greedy"]).run(until=100)
    assert waiting.jobs[0].nodes == ()
    nodes = [*found.nodes, node("n2", cpu="4")]
    started = VirtualCluster(nodes, found.jobs, named_policies()["greedy"]).run(until=100)
    assert sorted(started.jobs[0].nodes) == ["n1", "n2"]
