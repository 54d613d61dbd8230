"""Which request of which claim finds too few devices, where they are, and who holds them."""

from posse.cli.explain.device_words import device_lines
from posse.cli.explain.text import pod_lines
from posse.engine.keys import GroupKey
from tests.support.builders import NAMESPACE, gang, nodes, pod
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
    resource_slice,
)
from tests.support.engine_driver import Driver


def explained(driver, one):
    driver.decide()
    return driver.engine.explain_pod(one.metadata.uid)


def test_the_request_its_devices_and_their_holders_are_named():
    held = given(device_claim("other"), "n1/d1", to=["user"], selector=on_node("n1"))
    user = pod("user", on="n1", resource_claims=claiming("other"))
    one, claims = pod_with_own("p1", (exact("accelerator", 1),))
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), held, user, *claims, one)
    told = explained(driver, one)
    [lack] = told.obstacle.devices
    assert (lack.claim, lack.request, lack.wanted, lack.matching) == ("gpu0", "accelerator", 1, 1)
    assert [(place.where, place.free) for place in lack.places] == [("n1", 0)]
    assert [(holder.claim, holder.users) for holder in lack.holders] == [("test/other", ("pod user",))]
    text = "\n".join(pod_lines(told))
    assert "claim gpu0, request accelerator: wants 1 device of class gpu; 1 match" in text
    assert "n1 has 0 free of 1" in text
    assert "claim test/other holds 1 of them, in use by pod user" in text
    assert "it would help to free some that claims hold" in text


def test_devices_that_no_selector_matches_are_told_apart_from_devices_in_use():
    asks = exact("req", 1, 'device.driver == "nobody"')
    one, claims = pod_with_own("p1", (asks,))
    driver = Driver(*nodes(1), device_class(), resource_slice("n1"), *claims, one)
    lines = list(device_lines(explained(driver, one).obstacle.devices))
    assert lines[0].endswith("no device matches")
    assert "correct the selectors" in lines[-1]


def test_a_request_for_more_devices_than_any_node_has_says_so():
    one, claims = pod_with_own("p1", (exact("req", 4),))
    driver = Driver(*nodes(2), device_class(), resource_slice("n1", 2), resource_slice("n2", 3), *claims, one)
    [lack] = explained(driver, one).obstacle.devices
    assert [(place.where, place.free) for place in lack.places] == [("n2", 3), ("n1", 2)]
    assert "no node has 4 of them even if all were free" in list(device_lines([lack]))[-1]


def test_taints_that_keep_a_request_away_are_told():
    one, claims = pod_with_own("p1")
    sick = resource_slice("n1", [device("d1", taints=[("sick", "NoSchedule")])])
    driver = Driver(*nodes(1), device_class(), sick, *claims, one)
    lines = list(device_lines(explained(driver, one).obstacle.devices))
    assert "1 with taints that it does not tolerate" in lines[0]
    assert "tolerate the taints" in lines[-1]


def test_a_group_is_told_what_devices_its_members_lack():
    pods, claims = pods_with_own(2, group="g1")
    driver = Driver(*nodes(1), device_class(), resource_slice("n1", 1), gang(minimum=2), *claims, *pods)
    driver.decide()
    explanation = driver.engine.explain(GroupKey(NAMESPACE, "g1"))
    [obstacle] = explanation.obstacles
    assert [(lack.request, lack.most_free) for lack in obstacle.devices] == [("req", 0)]
