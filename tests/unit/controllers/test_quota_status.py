"""The status of a quota says what its namespace uses."""

from posse.controllers import quota_status
from posse.controllers.quota_status import PAUSE_SECONDS, QuotaStatus
from posse.kinds.registry import POD, RESOURCE_QUOTA, SERVICE
from tests.support.plans import steps_of

HARD = {"pods": "5", "requests.memory": "4Gi", "services": "1"}


def metadata(name):
    return {"name": name, "namespace": "ns", "uid": name}


def quota(status=None):
    return {"metadata": metadata("q"), "spec": {"hard": HARD}, "status": status or {}}


def pod(name, phase="Running"):
    containers = [{"name": "c", "resources": {"requests": {"memory": "1Gi"}}}]
    return {"metadata": metadata(name), "spec": {"containers": containers}, "status": {"phase": phase}}


def statuses(controller):
    """What is written after the pause."""
    assert steps_of(controller.plan("ns", 0.0)) == []
    return [step.obj["status"] for step in steps_of(controller.plan("ns", PAUSE_SECONDS))]


def test_objects_are_counted():
    controller = QuotaStatus()
    controller.see(RESOURCE_QUOTA, quota())
    for each in (pod("a"), pod("b"), pod("c", "Failed")):
        controller.see(POD, each)
    controller.see(SERVICE, {"metadata": metadata("s"), "spec": {}})
    [status] = statuses(controller)
    assert status == {"hard": HARD, "used": {"pods": "2", "requests.memory": "2Gi", "services": "1"}}
    controller.see(RESOURCE_QUOTA, quota(status))
    assert statuses(controller) == []
    controller.lose(POD, pod("a"))
    [status] = statuses(controller)
    assert status["used"]["pods"] == "1"


def test_namespaces_without_a_quota_cost_nothing():
    controller = QuotaStatus()
    controller.see(POD, pod("a"))
    assert controller.touched.take(9) == []


def test_only_what_has_changed_is_counted_again(monkeypatch):
    """A namespace may have a hundred thousand objects, and one of them changes all the time."""
    counted = []
    charge = quota_status.charge

    def noted(kind, obj, quota):
        if kind is POD:
            counted.append(obj)
        return charge(kind, obj, quota)

    monkeypatch.setattr(quota_status, "charge", noted)
    controller = QuotaStatus()
    controller.see(RESOURCE_QUOTA, quota())
    for number in range(50):
        controller.see(POD, pod(f"p{number}"))
    [status] = statuses(controller)
    assert (status["used"]["pods"], len(counted)) == ("50", 50)
    counted.clear()
    controller.see(RESOURCE_QUOTA, quota(status))
    controller.see(POD, pod("p0", "Pending"))
    controller.see(POD, pod("p0", "Succeeded"))
    controller.lose(POD, pod("p1"))
    controller.see(POD, pod("new"))
    [status] = statuses(controller)
    assert (status["used"]["pods"], len(counted)) == ("49", 4)


def test_a_quota_that_changes_is_counted_as_a_new_one():
    controller = QuotaStatus()
    controller.see(RESOURCE_QUOTA, quota())
    controller.see(POD, pod("a"))
    [status] = statuses(controller)
    changed = quota(status) | {"spec": {"hard": {"count/pods": "9"}}}
    controller.see(RESOURCE_QUOTA, changed)
    assert statuses(controller) == [{"hard": {"count/pods": "9"}, "used": {"count/pods": "1"}}]


def test_quotas_count_themselves():
    controller = QuotaStatus()
    hard = {"resourcequotas": "3"}
    for name in ("one", "two"):
        controller.see(RESOURCE_QUOTA, {"metadata": metadata(name), "spec": {"hard": hard}})
    assert [status["used"] for status in statuses(controller)] == [{"resourcequotas": "2"}] * 2
    controller.lose(RESOURCE_QUOTA, {"metadata": metadata("one")})
    assert [status["used"] for status in statuses(controller)] == [{"resourcequotas": "1"}]
