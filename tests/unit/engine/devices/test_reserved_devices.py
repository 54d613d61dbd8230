"""Devices that come free for a pod with a nominated node are held for it while their holders terminate."""

from tests.support.builders import changed, nodes, pod
from tests.support.device_objects import (
    claiming,
    device_claim,
    device_class,
    given,
    on_node,
    resource_slice,
    written,
)
from tests.support.engine_driver import Driver, binds, evicted, nominated, pod_reports

GOING = {"deletion_timestamp": "2026-01-01T00:00:00Z"}


def contest(driver, low):
    """A pod of high priority evicts the holder; one of middle priority comes while that terminates."""
    driver.see(device_claim("c2"), device_claim("c3"))
    driver.see(pod("high", priority=10, resource_claims=claiming("c2")))
    assert evicted(driver.decide()) == ["low"]
    driver.see(changed(low, metadata=GOING))
    driver.see(pod("mid", priority=5, resource_claims=claiming("c3")))
    decisions = driver.decide()
    assert list(nominated(driver)) == ["high"]
    assert "Preemption is not helpful" in pod_reports(decisions)["mid"][1]


def test_a_device_is_held_against_lower_priorities():
    low = pod("low", on="n1", priority=1, resource_claims=claiming("c1"))
    held = given(device_claim("c1"), "n1/d1", to=("low",), selector=on_node("n1"))
    contest(Driver(*nodes(1), device_class(), resource_slice("n1"), held, low), low)


def placed(driver, claim):
    """The pod `low`, which got its device by a decision of the engine itself."""
    low = pod("low", priority=1, resource_claims=claiming("c1"))
    driver.see(claim, low)
    [bind] = binds(driver.decide())
    bound = changed(low, spec={"node_name": bind.placements[0].node})
    driver.see(bound, written(claim, bind.claims[0]))
    return bound


def test_a_device_that_the_engine_itself_gave_away_is_held_too():
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"))
    contest(driver, placed(driver, device_claim("c1")))


def test_a_device_on_the_network_is_held_wherever_its_holder_terminates():
    driver = Driver(*nodes(2), device_class(), resource_slice("", 1, all_nodes=True))
    contest(driver, placed(driver, device_claim("c1")))
