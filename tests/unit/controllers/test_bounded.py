"""Objects beyond a limit are not acted on: an event says once that one asks for too many pods."""

from posse.controllers.bounded import BoundedPlans
from posse.controllers.stateful_sets.controller import StatefulSetController
from posse.kinds.registry import STATEFUL_SET
from tests.support import poisons


def stateful_set(replicas, version):
    spec = {"serviceName": "s", "replicas": replicas, "selector": {"matchLabels": {"app": "a"}}}
    template = poisons.template(restartPolicy="Always")
    metadata = {"name": "s", "namespace": "default", "uid": "u", "resourceVersion": version, "generation": 1}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata} | {
        "spec": spec | {"template": template, "podManagementPolicy": "Parallel"}
    }


def test_a_set_of_too_many_pods_gets_none_and_an_event():
    controller = StatefulSetController()
    plans = BoundedPlans(controller)
    controller.see(STATEFUL_SET, stateful_set(2_000_000_000, "1"))
    plan = plans.plan("u", 0.0)
    assert not plan.stages
    (news,) = plan.news
    assert news.reason == "LimitExceeded"
    assert news.message == "spec.replicas is 2000000000; Posse takes at most 100000"
    assert not plans.plan("u", 1.0).news
    controller.see(STATEFUL_SET, stateful_set(2, "2"))
    assert plans.plan("u", 2.0).stages
