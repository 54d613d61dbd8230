"""StatefulSets and their revisions as the API takes them: what is filled in, what is refused, what may change."""

import pytest

from posse.kinds.machinery.scaling import scale_of, selector_of
from posse.kinds.registry import CONTROLLER_REVISION, STATEFUL_SET

TEMPLATE = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "i:1"}]},
}


def stateful_set(**spec):
    return {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE, **spec},
    }


def test_what_is_filled_in():
    obj = stateful_set()
    STATEFUL_SET.rules.default(obj)
    spec = obj["spec"]
    assert spec["replicas"] == 1
    assert spec["podManagementPolicy"] == "OrderedReady"
    assert spec["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"partition": 0, "maxUnavailable": 1},
    }
    assert spec["revisionHistoryLimit"] == 10
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert spec["template"]["spec"]["restartPolicy"] == "Always"


def test_an_ordinary_set_is_fine(problems):
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    claim["spec"]["resources"] = {"requests": {"storage": "1Gi"}}
    assert problems(STATEFUL_SET, stateful_set(volumeClaimTemplates=[claim])) == []
    strategy = {"type": "OnDelete"}
    assert problems(STATEFUL_SET, stateful_set(updateStrategy=strategy, ordinals={"start": 3})) == []


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"replicas": -1}, "spec.replicas"),
        ({"minReadySeconds": -1}, "spec.minReadySeconds"),
        ({"ordinals": {"start": -1}}, "spec.ordinals.start"),
        ({"podManagementPolicy": "Chaotic"}, "spec.podManagementPolicy"),
        ({"updateStrategy": {"type": "Recreate"}}, "spec.updateStrategy.type"),
        ({"updateStrategy": {"type": "OnDelete", "rollingUpdate": {}}}, "spec.updateStrategy.rollingUpdate"),
        (
            {"updateStrategy": {"rollingUpdate": {"partition": -1}}},
            "spec.updateStrategy.rollingUpdate.partition",
        ),
        (
            {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 0}}},
            "spec.updateStrategy.rollingUpdate.maxUnavailable",
        ),
        (
            {"updateStrategy": {"rollingUpdate": {"maxUnavailable": "101%"}}},
            "spec.updateStrategy.rollingUpdate.maxUnavailable",
        ),
        ({"selector": None}, "spec.selector"),
        ({"selector": {"matchLabels": {"app": None}}}, "spec.selector"),
        ({"selector": {"matchLabels": {"app": "other"}}}, "spec.template.metadata.labels"),
        ({"template": {"spec": {"restartPolicy": "Never"}}}, "spec.template.spec.restartPolicy"),
        ({"template": {"spec": {"activeDeadlineSeconds": 1}}}, "spec.template.spec.activeDeadlineSeconds"),
        (
            {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Archive"}},
            "spec.persistentVolumeClaimRetentionPolicy.whenScaled",
        ),
    ],
)
def test_what_is_refused(problems, spec, field):
    (problem,) = problems(STATEFUL_SET, stateful_set(), {"spec": spec})
    assert problem.startswith(f"{field}: ")


def mounting(*claims):
    """A set whose container mounts a volume, with claim templates of these names."""
    container = {"name": "c", "image": "i:1", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    templates = [{"metadata": {"name": name}, "spec": storage} for name in claims]
    return {"spec": {"template": {"spec": {"containers": [container]}}, "volumeClaimTemplates": templates}}


def test_containers_mount_what_the_claim_templates_bring(problems):
    assert problems(STATEFUL_SET, stateful_set(), mounting("data")) == []
    (problem,) = problems(STATEFUL_SET, stateful_set(), mounting("other"))
    assert problem == 'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"'


def test_claims_must_be_claims(problems):
    claim = {"metadata": {"name": ""}, "spec": {}}
    fields = [
        problem.partition(":")[0]
        for problem in problems(STATEFUL_SET, stateful_set(volumeClaimTemplates=[claim]))
    ]
    assert fields == [
        "spec.volumeClaimTemplates[0].metadata.name",
        "spec.volumeClaimTemplates[0].spec.accessModes",
        "spec.volumeClaimTemplates[0].spec.resources.requests[storage]",
    ]


@pytest.mark.parametrize(
    ("change", "allowed"),
    [
        ({"replicas": 5}, True),
        ({"template": {"spec": {"priorityClassName": "p"}}}, True),
        ({"ordinals": {"start": 2}}, True),
        ({"updateStrategy": {"rollingUpdate": {"partition": 2}}}, True),
        ({"minReadySeconds": 3}, True),
        ({"serviceName": "other"}, False),
        ({"podManagementPolicy": "Parallel"}, False),
    ],
)
def test_what_may_change(update_problems, change, allowed):
    found = update_problems(STATEFUL_SET, stateful_set(), {"spec": change})
    assert (found == []) is allowed
    if not allowed:
        assert "updates to statefulset spec for fields other than" in found[0]


def test_a_status_must_add_up(update_problems):
    (problem,) = update_problems(
        STATEFUL_SET, stateful_set(), {"status": {"replicas": 1, "readyReplicas": 2}}
    )
    assert problem == "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"


def test_a_revision_keeps_its_data(problems, update_problems):
    revision = {"metadata": {"name": "r", "namespace": "default"}, "data": {"a": 1}, "revision": 1}
    assert problems(CONTROLLER_REVISION, revision) == []
    assert problems(CONTROLLER_REVISION, revision, {"data": None})
    assert update_problems(CONTROLLER_REVISION, revision, {"revision": 2}) == []
    assert update_problems(CONTROLLER_REVISION, revision, {"data": {"a": 2}})


def test_a_scale_tells_the_size_and_how_pods_are_found():
    obj = stateful_set(replicas=3) | {"status": {"replicas": 2}}
    scale = scale_of(STATEFUL_SET, obj)
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["spec"] == {"replicas": 3}
    assert scale["status"] == {"replicas": 2, "selector": "app=web"}


def test_selectors_are_told_as_they_are_written_in_queries():
    expressions = [
        {"key": "a", "operator": "In", "values": ["1", "2"]},
        {"key": "b", "operator": "NotIn", "values": ["3"]},
        {"key": "c", "operator": "Exists"},
        {"key": "d", "operator": "DoesNotExist"},
    ]
    selector = {"matchLabels": {"z": "1"}, "matchExpressions": expressions}
    assert selector_of({"spec": {"selector": selector}}) == "z=1,a in (1,2),b notin (3),c,!d"
