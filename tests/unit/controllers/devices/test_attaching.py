"""The simulated driver reports its devices as attached, some time after a claim has got them."""

from posse.controllers.devices.attaching import ATTACH_SECONDS, ATTACHABLE_DRIVER, ATTACHED, AttachingDriver
from posse.controllers.steps import Amend
from posse.kinds.registry import RESOURCE_CLAIM
from posse.model.timestamps import parse_timestamp
from tests.support.plans import planned

ALLOCATED = "2026-01-01T00:00:00Z"
READY = parse_timestamp(ALLOCATED) + ATTACH_SECONDS


def claim(*drivers, devices=()):
    results = [{"request": "r", "driver": one, "pool": "p", "device": "d"} for one in drivers]
    allocation = {"devices": {"results": results}, "allocationTimestamp": ALLOCATED}
    metadata = {"namespace": "ns", "name": "c", "uid": "u", "resourceVersion": "3"}
    return {"metadata": metadata, "status": {"allocation": allocation, "devices": list(devices)}}


def driver(obj):
    made = AttachingDriver()
    made.see(RESOURCE_CLAIM, obj)
    return made


def test_devices_are_attached_some_time_after_the_allocation():
    made = driver(claim(ATTACHABLE_DRIVER))
    assert made.plan("u", READY - 1).wake_at == READY
    [step] = planned(made, READY)
    assert isinstance(step, Amend)
    assert step.patch["metadata"] == {"uid": "u", "resourceVersion": "3"}
    [device] = step.patch["status"]["devices"]
    assert (device["device"], device["conditions"][0]["type"], device["conditions"][0]["status"]) == (
        "d",
        ATTACHED,
        "True",
    )


def test_reports_of_other_drivers_stay():
    other = {"driver": "other.example.com", "pool": "p", "device": "d"}
    [step] = planned(driver(claim(ATTACHABLE_DRIVER, "other.example.com", devices=[other])), READY)
    assert [one["driver"] for one in step.patch["status"]["devices"]] == [
        "other.example.com",
        ATTACHABLE_DRIVER,
    ]


def test_nothing_is_done_for_devices_of_others_or_twice():
    attached = {"driver": ATTACHABLE_DRIVER, "pool": "p", "device": "d"}
    assert planned(driver(claim("other.example.com")), READY) == []
    assert planned(driver(claim(ATTACHABLE_DRIVER, devices=[attached])), READY) == []


def test_a_claim_that_is_released_or_gone_is_forgotten():
    made = driver(claim(ATTACHABLE_DRIVER))
    made.see(RESOURCE_CLAIM, claim(ATTACHABLE_DRIVER) | {"status": {}})
    assert planned(made, READY) == []
    made.see(RESOURCE_CLAIM, claim(ATTACHABLE_DRIVER))
    made.lose(RESOURCE_CLAIM, claim(ATTACHABLE_DRIVER))
    assert planned(made, READY) == []
