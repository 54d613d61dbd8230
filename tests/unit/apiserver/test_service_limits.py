"""Objects beyond a limit are refused with the field; those that are stored already can be mended."""

import pytest

from posse.apiserver.requests import DeleteOptions
from posse.kinds.machinery.errors import ApiError
from posse.kinds.machinery.patching import copy_json
from posse.kinds.registry import (
    CONFIG_MAP,
    COSCHEDULING_POD_GROUP,
    CRON_JOB,
    DEPLOYMENT,
    JOB,
    LEADER_WORKER_SET,
    LIMIT_RANGE,
    NODE,
    POD,
    POD_DISRUPTION_BUDGET,
    REPLICA_SET,
    RESOURCE_QUOTA,
    SERVICE,
    STATEFUL_SET,
)
from tests.support import poisons


def refusal(service, kind, body, namespace="default"):
    with pytest.raises(ApiError) as raised:
        service.create(kind, namespace, body)
    assert raised.value.code == 422
    return raised.value.status


@pytest.mark.parametrize("name", poisons.PODS)
def test_a_poisonous_pod_is_refused(service, name):
    status = refusal(service, POD, poisons.PODS[name](poisons.MANY + 1))
    assert status["details"]["causes"][0]["reason"] in {"FieldValueTooMany", "FieldValueInvalid"}


def test_the_refusal_names_field_and_limit(service):
    status = refusal(service, POD, poisons.PODS["spread constraints"](6000))
    assert status["details"]["causes"][0] == {
        "reason": "FieldValueTooMany",
        "message": "Too many: 6000: must have at most 64 items",
        "field": "spec.topologySpreadConstraints",
    }


def test_names_and_nested_items_are_told_as_such(service):
    status = refusal(service, POD, poisons.PODS["resource names"](65))
    assert "must have at most 64 different names" in status["message"]
    status = refusal(service, POD, poisons.PODS["values of a node expression"](20_000))
    assert (
        "spec.affinity.nodeAffinity: Too many: 20002: must have at most 20000 items in all"
        in status["message"]
    )


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        (CRON_JOB, {"schedule": "1," * 600 + "1 * * * *"}, "must have at most 1000 characters"),
        (RESOURCE_QUOTA, {"hard": {f"count/r{i}": "1" for i in range(1001)}}, "must have at most 1000 items"),
        (SERVICE, {"ports": [{"port": i} for i in range(1, 1002)]}, "must have at most 1000 items"),
        (
            LIMIT_RANGE,
            {"limits": [{"type": "Container", "max": {f"example.com/r{i}": "1" for i in range(1000)}}]},
            "must have at most 1000 items in all",
        ),
    ],
)
def test_what_is_read_again_and_again_is_short(service, kind, spec, message):
    status = refusal(service, kind, {"metadata": {"name": "a"}, "spec": spec})
    assert message in status["message"]


def test_a_node_with_too_many_resource_names_is_refused(service):
    status = refusal(service, NODE, poisons.node(30_000), "")
    assert [cause["field"] for cause in status["details"]["causes"]] == [
        "status.capacity",
        "status.allocatable",
    ]


def _stateful_set(replicas):
    spec = {"serviceName": "s", "replicas": replicas, "selector": {"matchLabels": {"app": "a"}}}
    template = poisons.template(restartPolicy="Always")
    return {"metadata": {"name": "s"}, "spec": spec | {"template": template}}


def test_numbers_of_pods_are_limited(service):
    assert (
        "spec.replicas: Invalid value: 2000000000"
        in refusal(service, STATEFUL_SET, _stateful_set(2_000_000_000))["message"]
    )
    job = {"metadata": {"name": "j"}, "spec": {"parallelism": 2_000_000_000, "template": poisons.template()}}
    assert "spec.parallelism: Invalid value" in refusal(service, JOB, job)["message"]
    template = poisons.template()
    replicas = {"replicas": 200_000, "leaderWorkerTemplate": {"size": 2, "workerTemplate": template}}
    assert (
        "spec.replicas: Invalid value"
        in refusal(service, LEADER_WORKER_SET, {"metadata": {"name": "l"}, "spec": replicas})["message"]
    )
    size = {"replicas": 1, "leaderWorkerTemplate": {"size": 2_000_000_000, "workerTemplate": template}}
    assert (
        "spec.leaderWorkerTemplate.size: Invalid value"
        in refusal(service, LEADER_WORKER_SET, {"metadata": {"name": "l"}, "spec": size})["message"]
    )


def test_scaling_beyond_the_limit_is_refused(service):
    service.create(STATEFUL_SET, "default", _stateful_set(1))
    scale = {"metadata": {"name": "s", "namespace": "default"}, "spec": {"replicas": 2_000_000_000}}
    with pytest.raises(ApiError, match=r"spec\.replicas: Invalid value: 2000000000"):
        service.update_scale(STATEFUL_SET, "default", "s", scale)


def test_selectors_and_minimum_resources_are_limited(service):
    values = [{"key": "k", "operator": "In", "values": [f"v{i}" for i in range(10_000)]}]
    budget = {
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchExpressions": values}},
    }
    assert (
        "spec.selector.matchExpressions: Too many"
        in refusal(service, POD_DISRUPTION_BUDGET, budget)["message"]
    )
    wanted = {f"example.com/r{i}": "1" for i in range(65)}
    group = {"metadata": {"name": "g"}, "spec": {"minMember": 1, "minResources": wanted}}
    assert "spec.minResources: Too many: 65" in refusal(service, COSCHEDULING_POD_GROUP, group)["message"]


@pytest.fixture
def stored(service, monkeypatch):
    """A pod beyond a limit, as a version without limits has stored it."""
    with monkeypatch.context() as without_limits:
        without_limits.setattr("posse.apiserver.incoming.limit_errors", lambda *_: [])
        return service.create(POD, "default", poisons.PODS["spread constraints"](100))


def test_a_stored_object_beyond_a_limit_can_be_changed_and_deleted(service, stored):
    changed = copy_json(stored)
    changed["metadata"]["labels"] = {"seen": "yes"}
    assert service.update(POD, "default", "poison", changed)["metadata"]["labels"] == {"seen": "yes"}
    changed = copy_json(service.get(POD, "default", "poison"))
    changed["status"]["phase"] = "Failed"
    service.update(POD, "default", "poison", changed, subresource="status")
    service.delete(POD, "default", "poison", DeleteOptions(grace_seconds=0))
    assert not service.list(POD, "default").items


def test_a_stored_object_beyond_a_limit_may_not_grow(service, stored):
    changed = copy_json(stored)
    constraints = changed["spec"]["topologySpreadConstraints"]
    changed["spec"]["topologySpreadConstraints"] = [*constraints, constraints[0] | {"topologyKey": "more"}]
    with pytest.raises(ApiError, match=r"spec\.topologySpreadConstraints: Too many: 101"):
        service.update(POD, "default", "poison", changed)


def test_the_values_of_an_object_are_limited_whatever_they_are(service):
    with pytest.raises(ApiError) as raised:
        service.create(CONFIG_MAP, "default", {"metadata": {"name": "c"}, "odd": [0] * 100_000})
    assert raised.value.code == 413
    assert raised.value.message == "the object holds 100005 values; Posse takes at most 100000"
    # Commas in a text are no values.
    assert service.create(CONFIG_MAP, "default", {"metadata": {"name": "c"}, "data": {"a": "," * 200_000}})


def test_limits_come_before_everything_that_reads_the_object(service, monkeypatch):
    monkeypatch.setattr("posse.apiserver.service.admit_create", lambda *_: pytest.fail("it was read"))
    refusal(service, POD, poisons.PODS["spread constraints"](6000))


def test_of_many_faults_the_first_are_named(service):
    status = refusal(service, POD, poisons.pod(containers=[{"name": "c", "image": "i", "env": [{}] * 5000}]))
    assert len(status["details"]["causes"]) == 100
    assert status["message"].endswith(", and 4900 more]")


def test_replicas_of_deployments_are_limited(service):
    spec = {"replicas": 2_000_000_000, "selector": {"matchLabels": {"app": "a"}}}
    spec |= {"template": poisons.template(restartPolicy="Always")}
    for kind in (DEPLOYMENT, REPLICA_SET):
        message = refusal(service, kind, {"metadata": {"name": "d"}, "spec": spec})["message"]
        assert "spec.replicas: Invalid value: 2000000000" in message
