"""Services that are reached from outside have a port on every node."""

import random

import pytest

from posse.apiserver.service import ApiService
from posse.kinds.core.node_ports import NODE_PORTS
from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.patching import copy_json
from posse.kinds.registry import NAMESPACE, SERVICE
from posse.store.store import Store
from posse.transport.patches import MERGE_PATCH, Patch

WITHOUT = {"allocateLoadBalancerNodePorts": False}


@pytest.fixture
def service():
    service = ApiService(Store(history_limit=100), lambda: 1000.0, random.Random(7))
    service.create(NAMESPACE, "", {"metadata": {"name": "ns"}})
    return service


def created(service, name, kind="NodePort", **spec):
    ports = spec.pop("ports", [{"port": 80}])
    body = {"metadata": {"name": name}, "spec": {"type": kind, "ports": copy_json(ports), **spec}}
    return service.create(SERVICE, "ns", body)["spec"]


def node_ports(spec):
    return [port.get("nodePort") for port in spec["ports"]]


def changed(service, name, spec):
    return service.patch(SERVICE, "ns", name, Patch(MERGE_PATCH, {"spec": spec}))["spec"]


def test_each_port_gets_one_that_no_other_service_has(service):
    first = created(service, "a", ports=[{"port": 80}, {"port": 81}])
    second = created(service, "b", "LoadBalancer")
    assert node_ports(first) == [30000, 30001]
    assert node_ports(second) == [30002]
    assert first["externalTrafficPolicy"] == "Cluster"
    assert second["allocateLoadBalancerNodePorts"] is True


def test_services_inside_of_the_cluster_and_balancers_that_do_without_get_none(service):
    assert node_ports(created(service, "a", "ClusterIP")) == [None]
    assert node_ports(created(service, "b", "LoadBalancer", allocateLoadBalancerNodePorts=False)) == [None]


def test_a_port_may_be_asked_for(service):
    assert node_ports(created(service, "a", ports=[{"port": 80}, {"port": 81, "nodePort": 30000}])) == [
        30001,
        30000,
    ]


@pytest.mark.parametrize(
    ("asked", "text"),
    [(30000, "provided port is already allocated"), (80, "The range of valid ports is 30000-32767")],
)
def test_a_port_that_is_taken_or_outside_of_the_range_is_refused(service, asked, text):
    created(service, "a")
    with pytest.raises(ApiError, match=text) as refusal:
        created(service, "b", ports=[{"port": 80, "nodePort": asked}])
    assert "spec.ports[0].nodePort" in str(refusal.value)


@pytest.mark.parametrize(
    ("asked", "text"),
    [(30000, "provided port is already allocated"), (80, "The range of valid ports is 30000-32767")],
)
def test_a_port_that_a_balancer_without_other_ports_asks_for_is_checked_too(service, asked, text):
    created(service, "a")
    with pytest.raises(ApiError, match=text):
        created(service, "b", "LoadBalancer", ports=[{"port": 80, "nodePort": asked}], **WITHOUT)
    created(service, "b", "LoadBalancer", **WITHOUT)
    with pytest.raises(ApiError, match=text):
        changed(service, "b", {"ports": [{"port": 80, "nodePort": asked}]})


def test_a_balancer_without_other_ports_keeps_those_that_it_asked_for(service):
    asked = [{"port": 80, "nodePort": 30007}, {"port": 81}]
    assert node_ports(created(service, "a", "LoadBalancer", ports=asked, **WITHOUT)) == [30007, None]
    label = Patch(MERGE_PATCH, {"metadata": {"labels": {"colour": "red"}}})
    assert node_ports(service.patch(SERVICE, "ns", "a", label)["spec"]) == [30007, None]
    assert node_ports(changed(service, "a", {"ports": [{"port": 80}, {"port": 81}]})) == [30007, None]


def test_a_balancer_that_wants_no_more_ports_keeps_those_that_it_has(service):
    created(service, "a", "LoadBalancer")
    assert node_ports(changed(service, "a", WITHOUT)) == [30000]
    assert node_ports(changed(service, "a", {"type": "ClusterIP"})) == [None]


def test_one_port_of_the_nodes_serves_a_service_once_per_protocol(service):
    tcp, udp = {"port": 80, "nodePort": 30005}, {"port": 80, "nodePort": 30005, "protocol": "UDP"}
    assert node_ports(created(service, "a", ports=[tcp, udp])) == [30005, 30005]
    twice = [{"port": 80, "nodePort": 30006}, {"port": 81, "nodePort": 30006}]
    with pytest.raises(ApiError, match=r"spec.ports\[1\].nodePort: Duplicate value: 30006"):
        created(service, "b", ports=twice)
    with pytest.raises(ApiError, match="Duplicate value"):
        changed(service, "a", {"ports": twice})


def test_ports_of_one_number_share_one_of_the_nodes(service):
    both = [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}, {"port": 54}]
    assert node_ports(created(service, "a", ports=both)) == [30000, 30000, 30001]
    asked = [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP", "nodePort": 30053}]
    assert node_ports(created(service, "b", ports=asked)) == [30053, 30053]
    further = [{"port": 80}, {"port": 80, "protocol": "UDP"}]
    created(service, "c")
    assert node_ports(changed(service, "c", {"ports": further})) == [30002, 30003]


def test_a_service_inside_of_the_cluster_may_not_ask_for_a_port(service):
    text = r"spec.ports\[1\].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"
    with pytest.raises(ApiError, match=text):
        created(service, "a", "ClusterIP", ports=[{"port": 80}, {"port": 81, "nodePort": 30000}])
    created(service, "a", "ClusterIP")
    with pytest.raises(ApiError, match=r"spec.ports\[0\].nodePort: Forbidden"):
        changed(service, "a", {"ports": [{"port": 80, "nodePort": 30000}]})
    with pytest.raises(ApiError, match=r"spec.ports\[0\].port: Invalid value: 0"):
        changed(service, "a", {"ports": [{"port": 0}]})


def test_a_port_that_moves_to_another_entry_is_not_kept_for_the_first(service):
    created(service, "a")
    moved = [{"port": 80}, {"port": 81, "nodePort": 30000}]
    assert node_ports(changed(service, "a", {"ports": moved})) == [30001, 30000]


@pytest.mark.parametrize("port", [{"nodePort": [1]}, {"nodePort": "x"}, {"nodePort": 30000, "protocol": {}}])
def test_ports_of_another_shape_are_refused(service, port):
    created(service, "a")
    with pytest.raises(ApiError):
        created(service, "b", ports=[{"port": 80} | port])
    with pytest.raises(ApiError):
        changed(service, "a", {"ports": [{"port": 80} | port]})


def test_an_update_keeps_the_ports_that_it_does_not_name(service):
    created(service, "a")
    assert node_ports(changed(service, "a", {"ports": [{"port": 81}, {"port": 80, "protocol": "TCP"}]})) == [
        30001,
        30000,
    ]


def test_a_service_that_opens_gets_ports_and_one_that_closes_loses_them(service):
    created(service, "a", "ClusterIP")
    assert node_ports(changed(service, "a", {"type": "NodePort"})) == [30000]
    closed = changed(service, "a", {"type": "ClusterIP"})
    assert node_ports(closed) == [None]
    assert "externalTrafficPolicy" not in closed


def test_a_full_range_is_an_error_that_says_so(service, monkeypatch):
    monkeypatch.setattr("posse.kinds.core.node_ports.NODE_PORTS", NODE_PORTS[:1])
    created(service, "a")
    with pytest.raises(ApiError, match="range is full"):
        created(service, "b")
