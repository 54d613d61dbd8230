"""Eviction: it deletes a pod as far as disruption budgets allow it."""

import pytest

from posse.apiserver.requests import DeleteOptions
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import POD, POD_DISRUPTION_BUDGET
from posse.transport.patches import Patch

MERGE = "application/merge-patch+json"
READY = [{"type": "Ready", "status": "True"}]


@pytest.fixture
def running(service, pod):
    def make(name="p", conditions=READY):
        service.create(POD, "default", pod(name, {"labels": {"app": "web"}}, nodeName="n1"))
        set_status(service, POD, name, {"phase": "Running", "conditions": conditions})

    return make


def set_status(service, kind, name, status):
    service.patch(kind, "default", name, Patch(MERGE, {"status": status}), subresource="status")


def budget(service, name="b", policy=None, **status):
    spec = {"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 1}
    spec |= {"unhealthyPodEvictionPolicy": policy} if policy else {}
    service.create(POD_DISRUPTION_BUDGET, "default", {"metadata": {"name": name}, "spec": spec})
    set_status(service, POD_DISRUPTION_BUDGET, name, {"observedGeneration": 1, **status})


def evicted(service, name="p"):
    return "deletionTimestamp" in service.get(POD, "default", name)["metadata"]


def test_a_pod_without_a_budget_is_deleted_and_marked(service, running):
    running()
    service.evict("default", "p")
    assert evicted(service)
    [condition] = [
        each
        for each in service.get(POD, "default", "p")["status"]["conditions"]
        if each["type"] == "DisruptionTarget"
    ]
    assert (condition["reason"], condition["status"]) == ("EvictionByEvictionAPI", "True")


def test_a_budget_is_charged_and_refuses_when_it_is_spent(service, running, refused):
    running("p")
    running("q")
    budget(service, disruptionsAllowed=1, desiredHealthy=1, currentHealthy=2)
    service.evict("default", "p")
    status = service.get(POD_DISRUPTION_BUDGET, "default", "b")["status"]
    assert status["disruptionsAllowed"] == 0
    assert list(status["disruptedPods"]) == ["p"]
    assert status["conditions"][0]["reason"] == "InsufficientPods"
    error = refused(service.evict, "default", "q")
    assert (error.code, error.reason) == (429, "TooManyRequests")
    assert error.message == "Cannot evict pod as it would violate the pod's disruption budget."
    assert error.details["causes"] == [
        {
            "reason": "DisruptionBudget",
            "message": "The disruption budget b needs 1 healthy pods and has 2 currently",
        }
    ]
    assert not evicted(service, "q")


def test_a_budget_that_has_not_been_looked_at_refuses_for_now(service, running, refused):
    running()
    budget(service, observedGeneration=0, disruptionsAllowed=5)
    error = refused(service.evict, "default", "p")
    assert "still being processed" in error.details["causes"][0]["message"]
    assert error.details["retryAfterSeconds"] == 10


def test_two_budgets_are_an_error(service, running):
    running()
    budget(service, "a", disruptionsAllowed=1)
    budget(service, "b", disruptionsAllowed=1)
    with pytest.raises(ApiError, match="more than one PodDisruptionBudget"):
        service.evict("default", "p")


@pytest.mark.parametrize(
    ("policy", "healthy", "may_go"),
    [("AlwaysAllow", 0, True), (None, 1, True), (None, 0, False), ("IfHealthyBudget", 0, False)],
)
def test_pods_that_are_not_ready_cost_nothing_where_the_policy_says_so(
    service, running, policy, healthy, may_go
):
    running(conditions=[])
    budget(service, policy=policy, disruptionsAllowed=0, desiredHealthy=1, currentHealthy=healthy)
    if may_go:
        service.evict("default", "p")
    else:
        with pytest.raises(ApiError, match="disruption budget"):
            service.evict("default", "p")
    assert evicted(service) is may_go


def test_pods_that_have_not_started_or_have_ended_cost_nothing(service, running):
    running()
    set_status(service, POD, "p", {"phase": "Succeeded"})
    budget(service, disruptionsAllowed=0)
    service.evict("default", "p")
    with pytest.raises(ApiError, match="not found"):
        service.get(POD, "default", "p")


def test_a_dry_run_and_a_wrong_uid_change_nothing(service, running, refused):
    running()
    budget(service, disruptionsAllowed=1, desiredHealthy=1, currentHealthy=2)
    service.evict("default", "p", DeleteOptions(dry_run=True))
    assert refused(service.evict, "default", "p", DeleteOptions(uid="other")).code == 409
    assert not evicted(service)
    assert service.get(POD_DISRUPTION_BUDGET, "default", "b")["status"]["disruptionsAllowed"] == 1
