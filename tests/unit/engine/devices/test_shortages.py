"""Conditions of pods and groups that find too few devices name the claim and the request."""

from posse.engine.decisions import ReportGroup
from posse.model.device import DeviceCapacity
from tests.support.builders import changed, gang, node, nodes, pod
from tests.support.device_objects import (
    claiming,
    device,
    device_claim,
    device_class,
    distinct,
    exact,
    first_of,
    given,
    matching,
    on_node,
    pods_with_own,
    resource_slice,
)
from tests.support.engine_driver import Driver, binds, pod_reports


def message(driver, name="p1"):
    decisions = driver.decide()
    assert not [one for one in binds(decisions) if name in [placed.pod.name for placed in one.placements]]
    return pod_reports(decisions)[name][1]


def refused(*requests, slices=(), constraints=(), others=()):
    """The message of a pod with a claim that no node meets."""
    claim = device_claim("c", *requests, constraints=constraints)
    driver = Driver(*nodes(2), device_class(), *(slices or (resource_slice("n1", 2),)), *others)
    driver.see(claim, pod("p1", resource_claims=claiming("c")))
    return message(driver)


def test_a_claim_of_a_user_is_named_with_its_request():
    text = refused(exact("accelerator", 3))
    assert text.startswith("0/2 nodes are available: 2 cannot allocate all claims. ")
    assert (
        "Claim test/c, request accelerator: it wants 3 devices of class gpu, and no node has more than 2 free."
        in text
    )


def test_a_claim_made_from_a_template_is_named_as_each_pod_knows_it():
    pods, claims = pods_with_own(3)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), *claims, *pods)
    reports = pod_reports(driver.decide())
    for name in ("p2", "p3"):
        assert (
            f"Claim test/{name}-gpu0, request req: it wants 1 device of class gpu, and no node has one free."
            in (reports[name][1])
        )


def test_the_same_shortage_is_reported_once():
    pods, claims = pods_with_own(2)
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), *claims, *pods)
    assert list(pod_reports(driver.decide())) == ["p2"]
    driver.see(changed(node("n2"), metadata={"uid": "other"}))
    driver.lose(node("n2"))
    assert not pod_reports(driver.decide())


def group_message(driver):
    [report] = [one for one in driver.decide() if isinstance(one, ReportGroup)]
    return report.message


def test_a_group_and_its_members_are_told_the_claim_and_the_request():
    pods, claims = pods_with_own(3, group="g1")
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), gang(minimum=3), *claims, *pods)
    decisions = driver.decide()
    [group] = [one for one in decisions if isinstance(one, ReportGroup)]
    shortage = "request req: it wants 1 device of class gpu, and no node has one free."
    assert f"Claim gpu0, {shortage}" in group.message
    reports = pod_reports(decisions)
    for name in ("p2", "p3"):
        assert f"Claim test/{name}-gpu0, {shortage}" in reports[name][1]
    assert f"Claim gpu0, {shortage}" in reports["p1"][1]


def test_a_group_is_told_the_claim_of_the_only_pod_that_lacks_devices():
    pods, claims = pods_with_own(3, group="g1")
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 2), gang(minimum=3), *claims, *pods)
    assert "Claim test/p3-gpu0, request req: it wants 1 device of class gpu" in group_message(driver)


def test_a_group_whose_member_lacks_a_claim_of_a_user_is_told_its_name():
    claims = [device_claim(name) for name in ("c1", "c2")]
    pods = [pod(f"p{i}", group="g1", resource_claims=claiming(f"c{i}")) for i in (1, 2)]
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), gang(minimum=2), *claims, *pods)
    assert "Claim test/c2, request req: it wants 1 device of class gpu" in group_message(driver)


def test_only_requests_that_find_too_few_by_themselves_are_named():
    text = refused(exact("few", 1), exact("many", 3))
    assert "request many: it wants 3 devices" in text
    assert "request few" not in text


def test_requests_that_only_together_find_too_few_are_all_named():
    text = refused(exact("one", 1), exact("two", 2))
    for name in ("one", "two"):
        assert (
            f"Claim test/c, request {name}: it finds devices of class gpu by itself, but not together" in text
        )


def test_alternatives_are_named_one_by_one():
    text = refused(first_of("req", big=("gpu", 4), small=("gpu", 3)))
    assert "request req/big: it wants 4 devices" in text
    assert "request req/small: it wants 3 devices" in text


def test_many_requests_are_counted():
    text = refused(*(exact(f"r{i}", 3) for i in range(5)))
    assert "request r2: it wants 3 devices of class gpu, and no node has more than 2 free." in text
    assert "2 more requests found no devices." in text


def test_a_selector_that_matches_nothing_is_told():
    text = refused(exact("req", 1, 'device.driver == "nobody"'))
    assert "Claim test/c, request req: no node has a matching device of class gpu." in text


def test_taints_are_told():
    sick = resource_slice("n1", [device("d1", taints=[("sick", "NoSchedule")])])
    text = refused(slices=[sick])
    assert "request req: matching devices of class gpu have taints that it does not tolerate." in text


def test_all_devices_are_told():
    held = given(device_claim("other"), "n1/d1", to=["user"], selector=on_node("n1"))
    every = exact("every", 0, allocation_mode="All")
    assert "request every: it wants all matching devices of class gpu, and no node can give all" in refused(
        every, others=[held]
    )


def test_attributes_that_exclude_each_other_are_told():
    kinds = resource_slice("n1", [device(f"d{i}", attributes={"dra.example.com/root": i}) for i in (1, 2)])
    text = refused(exact("pair", 2), slices=[kinds], constraints=[matching("dra.example.com/root", "pair")])
    assert "Claim test/c, request pair: it wants 2 devices of class gpu; some are free, but" in text


def test_capacity_that_is_used_up_is_told():
    shared = device("d1", shared=True, capacity={"memory": DeviceCapacity(value="4Gi")})
    text = refused(exact("share", 1, capacity={"memory": "8Gi"}), slices=[resource_slice("n1", [shared])])
    assert "Claim test/c, request share: it wants 1 device of class gpu; some are free, but" in text


def test_the_request_at_fault_is_found_among_several_that_have_free_devices():
    kinds = resource_slice(
        "n1", [device(f"d{i}", attributes={"dra.example.com/root": i % 2}) for i in range(4)]
    )
    apart = distinct("dra.example.com/root", "three")
    text = refused(exact("one", 1), exact("three", 3), slices=[kinds], constraints=[apart])
    assert "request three: it wants 3 devices" in text
    assert "request one" not in text


def test_pools_that_give_no_devices_are_named():
    text = refused(slices=[resource_slice("n1", name="a", count=2)])
    assert (
        "Claim test/c, request req: no node has a matching device of class gpu; "
        "no devices come from pool dra.example.com/n1, which is incomplete or invalid." in text
    )


def test_a_claim_with_devices_elsewhere_is_named():
    claim = given(device_claim("c"), "n1/d1", to=["user"], selector=on_node("n1"))
    driver = Driver(node("n1", cpu="1"), node("n2"), device_class(), resource_slice("n1"), claim)
    driver.see(pod("user", on="n1", resource_claims=claiming("c")))
    driver.see(pod("p1", cpu="2", resource_claims=claiming("c")))
    assert "Claim test/c, request req: its devices cannot be used from these nodes." in message(driver)


def test_extended_resources_are_named():
    driver = Driver(*nodes(1), device_class(extended="example.com/gpu"), resource_slice("n1"))
    driver.see(pod("p1", requests={"example.com/gpu": "2"}))
    assert "Claim for extended resources, request container-0-request-0: it wants 2 devices" in message(
        driver
    )
