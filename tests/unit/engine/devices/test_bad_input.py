"""Claims, classes and slices that are missing, wrong or contradictory: pods wait, and say for what."""

import pytest

from posse.model.pod import PodResourceClaim, PodResourceClaimStatus
from tests.support.builders import changed, gang, node, nodes, pod
from tests.support.device_objects import (
    claiming,
    device,
    device_claim,
    device_class,
    exact,
    given,
    on_node,
    pod_with_own,
    pods_with_own,
    released,
    resource_slice,
)
from tests.support.engine_driver import Driver, binds, pod_reports

COUNTERS = {"set": {"slots": "2"}}


def waiting(driver, name="p1"):
    """What the pod waits for; it is not bound."""
    decisions = driver.decide()
    assert not binds(decisions)
    return pod_reports(decisions)[name][1]


def cluster(*slices):
    return Driver(*nodes(1), device_class(), *slices)


def test_a_pod_whose_claim_was_not_made_from_its_template_names_both():
    entry = PodResourceClaim(name="gpu", resource_claim_template_name="ghost")
    driver = cluster(resource_slice("n1"))
    driver.see(pod("p1", resource_claims=(entry,)))
    assert 'waiting for the resourceclaim of "gpu", made from template "ghost"' in waiting(driver)


def test_a_claim_that_was_made_for_another_pod_is_not_used():
    one, claims = pod_with_own()
    status = PodResourceClaimStatus(name="gpu0", resource_claim_name="p2-gpu0")
    thief = changed(one, status={"resource_claim_statuses": (status,)})
    driver = cluster(resource_slice("n1"))
    driver.see(*claims, device_claim("p2-gpu0", owner="p2"), thief)
    assert 'resourceclaim "p2-gpu0" was not created for pod test/p1' in waiting(driver)


def test_amounts_with_a_vast_exponent_are_compared_at_once():
    one, claims = pod_with_own("p1", (exact(capacity={"memory": "1e999999999"}),))
    driver = cluster(resource_slice("n1", [device(capacity={"memory": "1"})]))
    driver.see(*claims, one)
    assert waiting(driver)
    driver.see(resource_slice("n1", [device(capacity={"memory": "1e999999999"})], generation=2))
    assert binds(driver.decide())


@pytest.mark.parametrize("where", ["class", "claim"])
def test_an_invalid_expression_is_an_error_that_names_where_it_stands(where):
    """An API server refuses it at creation; one of another release may not."""
    broken = "device.driver =="
    one, claims = pod_with_own("p1", (exact("req", 1, *([broken] if where == "claim" else [])),))
    driver = Driver(*nodes(1), device_class("gpu", *([broken] if where == "class" else [])))
    driver.see(resource_slice("n1"), *claims, one)
    reason, message = pod_reports(driver.decide())["p1"]
    assert reason == "SchedulerError"
    place = "claim test/p1-gpu0: class gpu" if where == "class" else "claim test/p1-gpu0"
    assert f"request req: {place}: selector #0 on device" in message


@pytest.mark.parametrize(
    "slices",
    [
        [resource_slice("n1", [device("d"), device("d")])],
        [resource_slice("n1", name="a", count=2), resource_slice("n1", name="b", count=2)],
        [resource_slice("n1", [device("d", counters={"ghost": {"slots": "1"}})])],
        [
            resource_slice("n1", [], name="a", count=3, counters=COUNTERS),
            resource_slice("n1", [], name="b", count=3, counters=COUNTERS),
            resource_slice("n1", name="c", count=3),
        ],
    ],
    ids=["device twice", "device in two slices", "unknown counters", "counters twice"],
)
def test_a_pool_that_contradicts_itself_gives_no_device_until_it_is_mended(slices):
    one, claims = pod_with_own()
    driver = cluster(*slices)
    driver.see(*claims, one)
    assert "invalid resource pools were encountered" in waiting(driver)
    driver.see(resource_slice("n1", generation=2))
    assert driver.bind() == {"p1": "n1"}


def test_a_pool_that_is_not_complete_gives_no_device_until_it_is():
    one, claims = pod_with_own()
    driver = cluster(resource_slice("n1", name="a", count=2))
    driver.see(*claims, one)
    assert "cannot allocate all claims" in waiting(driver)
    driver.see(resource_slice("n1", [device("x")], name="b", count=2))
    assert driver.bind() == {"p1": "n1"}


def test_counters_below_zero_give_nothing():
    """Another scheduler gave devices away that consume more than there is."""
    half = {"set": {"slots": "2"}}
    slices = [
        resource_slice("n1", [], name="a", count=2, counters=COUNTERS),
        resource_slice("n1", [device(f"d{i}", counters=half) for i in (1, 2, 3)], name="b", count=2),
    ]
    taken = [given(device_claim(f"c{i}"), f"n1/d{i}", to=("x",), selector=on_node("n1")) for i in (1, 2)]
    one, claims = pod_with_own()
    driver = cluster(*slices)
    driver.see(*taken, *claims, one)
    assert "cannot allocate all claims" in waiting(driver)
    driver.see(released(taken[0]))
    assert not binds(driver.decide())
    driver.see(released(taken[1]))
    assert driver.bind() == {"p1": "n1"}


def test_devices_of_a_driver_that_vanished_stay_with_their_claims():
    pods, claims = pods_with_own(2)
    local = resource_slice("n1")
    driver = cluster(local)
    driver.see(*claims, *pods)
    assert driver.bind() == {"p1": "n1"}
    driver.confirm(pods[0], on="n1")
    driver.see(given(claims[0], "n1/d1", to=("p1",), selector=on_node("n1")))
    driver.lose(local)
    assert not binds(driver.decide())
    driver.see(local)
    assert not binds(driver.decide())
    driver.see(resource_slice("n1", 2))
    assert driver.bind() == {"p2": "n1"}


def test_a_claim_that_is_deleted_while_its_pod_runs_takes_no_new_pods():
    claim = given(device_claim("c"), "n1/d1", to=("p1",), selector=on_node("n1"))
    driver = cluster(resource_slice("n1", 2))
    driver.see(claim, pod("p1", resource_claims=claiming("c"), on="n1"))
    driver.see(changed(claim, metadata={"deletion_timestamp": "2026-01-01T00:00:00Z"}))
    driver.see(pod("p2", resource_claims=claiming("c")))
    assert 'resourceclaim "c" is being deleted' in waiting(driver, "p2")
    driver.lose(claim)
    assert 'resourceclaim "c" not found' in waiting(driver, "p2")


def test_a_gang_waits_for_the_missing_claim_of_one_member():
    pods, claims = pods_with_own(2, group="g1")
    driver = Driver(node("n1"), device_class(), resource_slice("n1", 2), gang(minimum=2))
    driver.see(claims[0], *pods)
    assert 'resourceclaim "p2-gpu0" not found' in waiting(driver, "p2")
    driver.see(claims[1])
    assert driver.bind() == {"p1": "n1", "p2": "n1"}
