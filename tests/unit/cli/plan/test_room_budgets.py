"""Disruption budgets are counted for all pods that a plan stops, before anything is stopped."""

import pytest

from posse.cli.client import Refused
from posse.cli.plan.room_budgets import check_budgets
from posse.cli.problems import Problem
from posse.kinds.registry import POD
from posse.model.meta import ObjectMeta
from posse.model.pod import Pod

READY = ({"type": "Ready", "status": "True"},)


class Source:
    def __init__(self, pods, budgets, refuses=False):
        self.pods, self.budgets, self.refuses = pods, budgets, refuses

    def objects(self, kind, namespace, _tell):
        if self.refuses:
            raise Refused({"code": 403, "reason": "Forbidden", "message": "may not list budgets"})
        found = self.pods if kind is POD else self.budgets
        return iter([one for one in found if one["metadata"]["namespace"] == namespace])


def pod(name, namespace="team", conditions=READY, phase="Running", **labels):
    metadata = {"namespace": namespace, "name": name, "uid": name, "labels": labels}
    return {"metadata": metadata, "status": {"phase": phase, "conditions": conditions}}


def budget(name, allowed, namespace="team", generation=1, healthy=5, policy=None, **labels):
    spec = {"selector": {"matchLabels": labels}, "unhealthyPodEvictionPolicy": policy}
    status = {
        "observedGeneration": 1,
        "disruptionsAllowed": allowed,
        "desiredHealthy": 5,
        "currentHealthy": healthy,
    }
    metadata = {"namespace": namespace, "name": name, "generation": generation}
    return {"metadata": metadata, "spec": spec, "status": status}


def victims(*pods):
    keys = [(one["metadata"]["namespace"], one["metadata"]["name"]) for one in pods]
    return [Pod(metadata=ObjectMeta(name=name, namespace=place, uid=name)) for place, name in keys]


def checked(pods, *budgets, stopped=None):
    """What is told, or nothing if the budgets suffice."""
    try:
        check_budgets(Source(pods, budgets), victims(*(pods if stopped is None else stopped)))
    except Problem as problem:
        return str(problem)
    return ""


WEB = [pod(f"w{number}", app="web") for number in range(3)]


@pytest.mark.parametrize(
    ("allowed", "told"),
    [
        (3, ""),
        (2, "PodDisruptionBudget team/web allows 2 disruptions now, and the plan needs 3"),
        (1, "PodDisruptionBudget team/web allows 1 disruption now, and the plan needs 3"),
        (0, "PodDisruptionBudget team/web allows no disruption now, and the plan needs 3"),
    ],
)
def test_a_budget_that_several_victims_share_is_counted_for_all_of_them(allowed, told):
    assert checked(WEB, budget("web", allowed, app="web")) == (told and f"nothing was stopped: {told}")


def test_every_budget_of_a_pod_is_charged_and_each_that_does_not_suffice_is_named():
    pods = [pod("a", app="web", tier="front"), pod("b", app="web"), pod("c", tier="front")]
    budgets = [budget("web", 1, app="web"), budget("front", 1, tier="front"), budget("other", 0, app="db")]
    assert checked(pods, *budgets) == (
        "nothing was stopped: PodDisruptionBudget team/web allows 1 disruption now, and the plan needs 2; "
        "PodDisruptionBudget team/front allows 1 disruption now, and the plan needs 2"
    )


def test_pods_that_stay_are_not_counted():
    assert checked(WEB, budget("web", 1, app="web"), stopped=WEB[:1]) == ""


def test_a_budget_of_another_namespace_is_not_charged():
    assert checked(WEB, budget("web", 0, namespace="other", app="web")) == ""


def test_namespaces_are_counted_one_by_one():
    pods = [*WEB, pod("x", namespace="other", app="web")]
    told = checked(pods, budget("web", 3, app="web"), budget("web", 0, namespace="other", app="web"))
    assert told.endswith("PodDisruptionBudget other/web allows no disruption now, and the plan needs 1")


@pytest.mark.parametrize(
    "free",
    [
        pod("p", phase="Pending", app="web"),
        pod("p", phase="Succeeded", app="web"),
        pod("p", conditions=(), app="web"),
        {**pod("p", app="web"), "metadata": {**pod("p", app="web")["metadata"], "deletionTimestamp": "x"}},
    ],
    ids=["pending", "ended", "not ready", "terminating"],
)
def test_a_pod_whose_eviction_costs_nothing_is_not_counted(free):
    assert checked([free], budget("web", 0, app="web")) == ""


def test_a_pod_that_is_not_ready_costs_a_disruption_while_too_few_are_healthy():
    sick = [pod("p", conditions=(), app="web")]
    assert "needs 1" in checked(sick, budget("web", 0, healthy=4, app="web"))
    assert checked(sick, budget("web", 0, healthy=4, policy="AlwaysAllow", app="web")) == ""


def test_a_budget_that_has_just_changed_says_nothing_yet():
    told = checked(WEB, budget("web", 9, generation=2, app="web"))
    assert told.startswith("nothing was stopped: PodDisruptionBudget team/web has changed")


def test_budgets_that_may_not_be_read_are_no_consent():
    with pytest.raises(
        Problem, match=r"nothing was stopped: disruption budgets cannot be checked: .*may not list"
    ):
        check_budgets(Source(WEB, [], refuses=True), victims(*WEB))
