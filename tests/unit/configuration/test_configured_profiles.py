"""Files at work: what they say decides where pods go."""

import pytest

from posse.model.container import ContainerPort
from posse.model.meta import LabelSelector, ObjectMeta
from posse.model.placement import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    WeightedPodAffinityTerm,
)
from posse.model.service import Service, ServiceSpec
from tests.support.builders import (
    NAMESPACE,
    changed,
    container,
    gang,
    in_rack,
    interleaved,
    node,
    nodes,
    one_domain,
    pod,
    pods,
    required_affinity,
    requirement,
    taint,
)
from tests.support.configurations import configured, disabled, enabled, options
from tests.support.engine_driver import Driver, group_reports, pod_reports

GPU = "example.com/gpu"
PACKING = {"scoringStrategy": {"type": "MostAllocated"}}
ONLY_ROOM = disabled("*") | enabled("NodeResourcesFit")


def driver(*objects, profiles):
    return Driver(*objects, options=options(*profiles))


def message(driving, name="p1"):
    return pod_reports(driving.decide())[name][1]


def named(scheduler, **profile):
    return {"schedulerName": scheduler, **profile}


def test_two_profiles_with_different_strategies_place_differently():
    profiles = [
        named("spread", plugins={"multiPoint": ONLY_ROOM}),
        named("pack", plugins={"multiPoint": ONLY_ROOM}, **configured("NodeResourcesFit", **PACKING)),
    ]
    equals = {"cpu": "1", "memory": "1Gi"}
    spread = [pod(f"spread-{i}", scheduler_name="spread", **equals) for i in range(2)]
    pack = [pod(f"pack-{i}", scheduler_name="pack", **equals) for i in range(2)]
    full = pod("full", "2", "4Gi", on="n1")
    placed = driver(*nodes(3), full, *interleaved(spread, pack), profiles=profiles).bind()
    assert placed == {"spread-0": "n2", "pack-0": "n1", "spread-1": "n3", "pack-1": "n1"}


@pytest.mark.parametrize(
    ("shape", "expected"),
    [([(0, 0), (100, 10)], "n1"), ([(0, 10), (100, 0)], "n2"), ([(0, 0), (50, 10), (100, 0)], "n1")],
)
def test_the_shape_of_a_ratio_decides(shape, expected):
    ratio = {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": GPU, "weight": 3}],
        "requestedToCapacityRatio": {"shape": [{"utilization": u, "score": s} for u, s in shape]},
    }
    profile = {"plugins": {"multiPoint": ONLY_ROOM}} | configured("NodeResourcesFit", scoringStrategy=ratio)
    offering = [node(name, **{GPU: "4"}) for name in ("n1", "n2")]
    there = pod("there", requests={GPU: "1"}, on="n1")
    assert driver(*offering, there, pod(requests={GPU: "1"}), profiles=[profile]).bind() == {"p1": expected}


def test_a_disabled_filter_lets_the_pod_through():
    tainted = node(taints=(taint("gpu"),))
    assert message(driver(tainted, pod(), profiles=[{}])).startswith("0/1 nodes are available")
    profile = {"plugins": {"filter": disabled("TaintToleration")}}
    assert driver(tainted, pod(), profiles=[profile]).bind() == {"p1": "n1"}


def test_without_the_filter_for_room_nodes_are_never_full():
    profile = {"plugins": {"filter": disabled("NodeResourcesFit")}}
    small = node(cpu="1", pods="1")
    crowd = [pod(f"p{i}", cpu="1") for i in range(3)]
    assert driver(small, *crowd, profiles=[profile]).bind() == {"p0": "n1", "p1": "n1", "p2": "n1"}


@pytest.mark.parametrize("ignored", [{"ignoredResources": [GPU]}, {"ignoredResourceGroups": ["example.com"]}])
def test_ignored_resources_need_not_be_offered(ignored):
    wants_gpu = pod(requests={GPU: "8"})
    assert "Insufficient example.com/gpu" in message(driver(node(), wants_gpu, profiles=[{}]))
    profile = configured("NodeResourcesFit", **ignored)
    assert driver(node(), wants_gpu, profiles=[profile]).bind() == {"p1": "n1"}


def test_only_extended_resources_can_be_ignored():
    profile = configured("NodeResourcesFit", ignoredResources=["cpu"])
    assert "Insufficient cpu" in message(driver(node(cpu="1"), pod(cpu="2"), profiles=[profile]))


def test_balance_looks_at_the_resources_of_the_file():
    plugins = {"multiPoint": disabled("*") | enabled("NodeResourcesBalancedAllocation")}
    profile = {"plugins": plugins} | configured(
        "NodeResourcesBalancedAllocation", resources=[{"name": "cpu", "weight": 1}, {"name": GPU}]
    )
    offering = [node("n1", cpu="4", **{GPU: "8"}), node("n2", cpu="8", **{GPU: "4"})]
    wanted = pod(cpu="2", requests={GPU: "1"})
    assert driver(*offering, wanted, profiles=[profile]).bind() == {"p1": "n2"}


def term(key, *values):
    return {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}


def test_added_affinity_is_required_of_all_nodes():
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term("pool", "a")]}}
    profile = configured("NodeAffinity", addedAffinity=required)
    places = [node("n1"), node("n2", labels={"pool": "a"}), node("n3", labels={"pool": "b"})]
    assert driver(*places, *pods(2), profiles=[profile]).bind() == {"p1": "n2", "p2": "n2"}
    elsewhere = pod(affinity=required_affinity([requirement("pool", "In", "b")]))
    assert message(driver(*places, elsewhere, profiles=[profile])).startswith(
        "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, "
        "2 node(s) didn't match scheduler-enforced node affinity."
    )


def test_added_affinity_may_be_a_wish():
    wish = {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term("pool", "a")}]
    }
    profile = configured("NodeAffinity", addedAffinity=wish)
    places = [node("n1"), node("n2", labels={"pool": "a"})]
    assert driver(*places, pod(), profiles=[profile]).bind() == {"p1": "n2"}


def web(name, **spec):
    return changed(pod(name, **spec), metadata={"labels": {"app": "web"}})


def near_web(weight=None):
    near = PodAffinityTerm(
        label_selector=LabelSelector(match_labels={"app": "web"}), topology_key="kubernetes.io/hostname"
    )
    if weight is None:
        wanted = PodAffinity(required_during_scheduling_ignored_during_execution=(near,))
    else:
        weighted = WeightedPodAffinityTerm(weight=weight, pod_affinity_term=near)
        wanted = PodAffinity(preferred_during_scheduling_ignored_during_execution=(weighted,))
    return Affinity(pod_affinity=wanted)


def hosts(count):
    return [node(f"n{i}", labels={"kubernetes.io/hostname": f"n{i}"}) for i in range(1, count + 1)]


ONLY_AFFINITY = {"plugins": {"multiPoint": disabled("*") | enabled("InterPodAffinity")}}


@pytest.mark.parametrize(("weight", "expected"), [(0, "n1"), (1, "n2")])
def test_pods_that_require_company_attract_it_with_the_weight_of_the_file(weight, expected):
    profile = ONLY_AFFINITY | configured("InterPodAffinity", hardPodAffinityWeight=weight)
    there = web("there", on="n2", affinity=near_web())
    assert driver(*hosts(2), there, web("p1"), profiles=[profile]).bind() == {"p1": expected}


@pytest.mark.parametrize(("ignored", "expected"), [(True, "n1"), (False, "n2")])
def test_wishes_of_pods_on_nodes_may_be_ignored(ignored, expected):
    profile = ONLY_AFFINITY | configured("InterPodAffinity", ignorePreferredTermsOfExistingPods=ignored)
    there = pod("there", on="n2", affinity=near_web(weight=5))
    assert driver(*hosts(2), there, web("p1"), profiles=[profile]).bind() == {"p1": expected}


SERVICE = Service(
    metadata=ObjectMeta(name="web", namespace=NAMESPACE), spec=ServiceSpec(selector={"app": "web"})
)


def racks(**rack_of):
    return [node(name, labels={"rack": rack}) for name, rack in rack_of.items()]


def test_default_constraints_of_the_file_replace_those_of_kubernetes():
    constraint = {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}
    profile = configured("PodTopologySpread", defaultingType="List", defaultConstraints=[constraint])
    places = racks(n1="a", n2="b")
    everything = (SERVICE, *places, *[web(f"p{i}") for i in range(4)])
    placed = driver(*everything, profiles=[profile]).bind()
    assert sorted(placed.values()) == ["n1", "n1", "n2", "n2"]


def test_an_empty_list_means_no_default_constraints():
    profile = {"plugins": {"multiPoint": disabled("*") | enabled("PodTopologySpread")}} | configured(
        "PodTopologySpread", defaultingType="List"
    )
    there = [web(f"there-{i}", on="n1") for i in range(3)]
    assert driver(SERVICE, *hosts(2), *there, web("p1"), profiles=[profile]).bind() == {"p1": "n1"}


def test_a_profile_without_preemption_evicts_nobody():
    there = pod("there", cpu="4", on="n1", priority=0)
    urgent = pod(cpu="4", priority=10)
    assert "preemption: found" in message(driver(node(), there, urgent, profiles=[{}]))
    profile = {"plugins": {"postFilter": disabled("DefaultPreemption")}}
    assert message(driver(node(), there, urgent, profiles=[profile])) == (
        "0/1 nodes are available: 1 Insufficient cpu."
    )


def test_pods_that_name_no_profile_are_left_alone():
    driving = driver(node(), pod(), pod("mine", scheduler_name="mine"), profiles=[named("mine")])
    assert driving.bind() == {"mine": "n1"}


def test_members_of_a_group_go_by_one_profile():
    profiles = [named("spread"), named("pack", **configured("NodeResourcesFit", **PACKING))]
    members = [pod(f"p{i}", group="g1", cpu="1", scheduler_name="pack") for i in range(2)]
    there = pod("there", cpu="1", memory="1Gi", on="n2")
    placed = driver(*nodes(2), there, gang(), *members, profiles=profiles).bind()
    assert placed == {"p0": "n2", "p1": "n2"}


def test_members_that_name_different_profiles_are_told_so():
    profiles = [named("a"), named("b")]
    members = [pod("p1", group="g1", scheduler_name="a"), pod("p2", group="g1", scheduler_name="b")]
    ((_, scheduled, reason, text),) = group_reports(
        driver(node(), gang(), *members, profiles=profiles).decide()
    )
    assert (scheduled, reason) == (False, "SchedulerError")
    assert "should have the same .spec.schedulerName" in text


def test_backoff_follows_the_file():
    driving = Driver(
        node(cpu="1"), pod(cpu="2"), options=options(podInitialBackoffSeconds=30, podMaxBackoffSeconds=60)
    )
    driving.decide()
    driving.engine._knowledge.backlog.wake("uid-p1")
    driving.decide()
    waiting = driving.engine._knowledge.backlog.get("uid-p1")
    assert waiting.ready_at - driving.now == 60


def test_ports_still_clash_in_a_profile_of_ones_own():
    """Rules without arguments are those of the default profile."""
    serving = changed(container(), ports=(ContainerPort(container_port=80, host_port=80),))
    two = [pod(f"p{i}", containers=(serving,)) for i in range(2)]
    profile = {"plugins": {"multiPoint": disabled("*") | enabled("NodePorts")}}
    driving = driver(node(), *two, profiles=[profile])
    assert driving.bind() == {"p0": "n1"}


def racks_of(plugins, *resources):
    """Return where a gang of two to three goes: to the rack that is full of CPU, of GPUs, or has room for all three."""
    full = in_rack("cpu", "a", cpu="4", **{GPU: "9"})
    crowded = in_rack("gpu", "b", cpu="9", **{GPU: "4"})
    empty = in_rack("room", "c", cpu="9", **{GPU: "9"})
    there = [pod("x", "2", on="a"), pod("y", "1", requests={GPU: "2"}, on="b")]
    scoring = {"scoringStrategy": {"type": "LeastAllocated", "resources": list(resources)}}
    arguments = configured("NodeResourcesFit", **scoring) if resources else {}
    group = gang(minimum=2, **one_domain())
    members = pods(3, cpu="1", group="g1", requests={GPU: "1"})
    profiles = [named("default-scheduler", plugins=plugins, **arguments)]
    placed = driver(*full, *crowded, *empty, *there, group, *members, profiles=profiles).bind()
    return set(placed.values())


def test_the_domain_of_a_group_is_chosen_by_the_weights_of_the_file():
    by_count = {"placementScore": enabled(PodGroupPodsCount=9)}
    by_fullness = {"placementScore": enabled(NodeResourcesFit=9)}
    assert racks_of(by_count, {"name": "cpu"}) == {"c"}
    assert racks_of(by_fullness, {"name": "cpu"}) == {"a"}
    assert racks_of(by_fullness, {"name": GPU}) == {"b"}
