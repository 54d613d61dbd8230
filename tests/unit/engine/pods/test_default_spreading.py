"""Pods that do not say how they are spread, spread by the Services that select them."""

import pytest

from posse.engine.options import EngineOptions
from posse.engine.pods.policy import DefaultSpreading, PodPolicy
from posse.engine.rules.profile import Profile
from posse.engine.rules.registry import DEFAULT_PROFILE
from posse.engine.rules.topology_spread import SpreadPreference, TopologySpread
from posse.model.meta import ObjectMeta
from posse.model.placement import TopologySpreadConstraint
from posse.model.service import Service, ServiceSpec
from tests.support.builders import NAMESPACE, SCHEDULER, changed, node, pod
from tests.support.engine_driver import Driver, pod_reports

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
SPREADING_ONLY = Profile(
    filters=(TopologySpread(),), cluster_scores=(SpreadPreference(),), policy=DEFAULT_PROFILE.policy
)


def hosts(*names, **zones):
    """Nodes that differ in name and zone only; those not among the zones have none."""
    return [node(n, labels={HOST: n} | ({ZONE: zones[n]} if n in zones else {})) for n in names]


def web(name, namespace=NAMESPACE, **spec):
    return changed(pod(name, **spec), metadata={"labels": {"app": "web"}, "namespace": namespace})


def service(name="web", **selector):
    selector = selector or {"app": "web"}
    return Service(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=ServiceSpec(selector=selector))


def driver(*objects, profile=SPREADING_ONLY):
    return Driver(*objects, options=EngineOptions({SCHEDULER: profile}))


def crowd(on, count, first=0):
    return [web(f"there-{on}-{index}", on=on) for index in range(first, first + count)]


def test_pods_of_a_service_go_where_fewest_of_them_are():
    everything = (service(), *hosts("a", "b"), *crowd("a", 3), web("new"))
    assert driver(*everything).bind() == {"new": "b"}


def test_zones_count_beside_nodes():
    nodes = hosts("a", "b", "c", a="east", b="east", c="west")
    assert driver(service(), *nodes, *crowd("a", 4), web("new")).bind() == {"new": "c"}


def test_nodes_without_a_zone_are_told_apart_by_their_names():
    nodes = hosts("a", "b", "c", a="east")
    everything = (service(), *nodes, *crowd("a", 5), *crowd("b", 5), web("new"))
    assert driver(*everything).bind() == {"new": "c"}


@pytest.mark.parametrize(
    "selecting",
    [(), (service(app="db"),), (changed(service(), metadata={"namespace": "other"}),)],
    ids=["no-service", "another-selector", "another-namespace"],
)
def test_pods_that_no_service_selects_are_not_spread(selecting):
    everything = (*selecting, *hosts("a", "b"), *crowd("a", 3), web("new"))
    assert driver(*everything).bind() == {"new": "a"}


def test_pods_with_constraints_of_their_own_have_only_those():
    own = TopologySpreadConstraint(
        topology_key="rack", max_skew=1, when_unsatisfiable="ScheduleAnyway", label_selector=None
    )
    new = web("new", topology_spread_constraints=(own,))
    assert driver(service(), *hosts("a", "b"), *crowd("a", 3), new).bind() == {"new": "a"}


def test_pods_of_other_namespaces_do_not_count():
    others = [web(f"other-{index}", namespace="other", on="a") for index in range(5)]
    assert driver(service(), *hosts("a", "b"), *others, *crowd("b", 1), web("new")).bind() == {"new": "a"}


def test_a_service_that_comes_later_is_heard():
    driving = driver(*hosts("a", "b"), *crowd("a", 3), web("first"))
    assert driving.bind() == {"first": "a"}
    driving.see(web("second"), service())
    assert driving.bind() == {"second": "b"}


def test_a_service_that_goes_is_no_longer_heard():
    driving = driver(service(), *hosts("a", "b"), *crowd("a", 3), web("new"))
    driving.lose(service())
    assert driving.bind() == {"new": "a"}


def test_services_that_come_and_go_leave_nothing_behind():
    driving = driver(*hosts("a", "b"), *crowd("a", 2), web("new"))
    state = driving.engine._knowledge.state
    before = len(state.classes._classes), len(state.census._queries)
    driving.see(service())
    driving.engine._cluster_events.read_outdated()
    assert len(state.census._queries) == 1
    driving.lose(service())
    driving.engine._cluster_events.read_outdated()
    assert (len(state.classes._classes), len(state.census._queries)) == before


def test_a_profile_may_have_constraints_of_its_own():
    law = TopologySpreadConstraint(topology_key=ZONE, max_skew=1, when_unsatisfiable="DoNotSchedule")
    listed = Profile(filters=(TopologySpread(),), policy=PodPolicy(spreading=DefaultSpreading((law,))))
    nodes = hosts("a", "b", "c", a="east", b="west")
    everything = (service(), *nodes, *crowd("a", 2), web("new"))
    assert driver(*everything, profile=listed).bind() == {"new": "b"}


def test_listed_constraints_leave_nodes_out_that_lack_a_key():
    wish = TopologySpreadConstraint(topology_key=ZONE, max_skew=1, when_unsatisfiable="ScheduleAnyway")
    listed = Profile(
        cluster_scores=(SpreadPreference(),), policy=PodPolicy(spreading=DefaultSpreading((wish,)))
    )
    nodes = hosts("a", "b", a="east")
    everything = (service(), *nodes, *crowd("a", 3), web("new"))
    assert driver(*everything, profile=listed).bind() == {"new": "a"}


def test_pods_of_other_schedulers_are_not_spread():
    stranger = web("stranger", scheduler_name="other", on="a")
    driving = driver(service(), *hosts("a"), stranger)
    assert driving.engine._knowledge.pods[stranger.metadata.uid].pod_class.terms.soft_spread == ()


def test_a_refused_pod_is_told_of_default_laws():
    law = TopologySpreadConstraint(topology_key=ZONE, max_skew=1, when_unsatisfiable="DoNotSchedule")
    listed = Profile(filters=(TopologySpread(),), policy=PodPolicy(spreading=DefaultSpreading((law,))))
    driving = driver(service(), *hosts("a"), web("new"), profile=listed)
    reason, message = pod_reports(driving.decide())["new"]
    assert reason == "Unschedulable"
    assert "node(s) didn't match pod topology spread constraints (missing required label)" in message
