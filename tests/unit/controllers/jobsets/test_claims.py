"""The claims that the Jobs of a JobSet share."""

import pytest

from posse.kinds.registry import JOB, PERSISTENT_VOLUME_CLAIM
from tests.support.jobset_plans import NOW, PREFIX, controller_of, jobset, made, plan, replicated_job

CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}},
}


def sharing(policy=None):
    """A JobSet whose workers mount a claim that the driver does not."""
    obj = [replicated_job("driver"), replicated_job("workers")]
    mount = {"name": "data", "mountPath": "/data"}
    obj[1]["template"]["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] = [mount]
    return jobset(*obj, volumeClaimPolicies=[{"templates": [CLAIM], **(policy or {})}])


def test_pods_share_the_claims_that_they_mount():
    result = plan(sharing())
    (claim,) = made(result, PERSISTENT_VOLUME_CLAIM)
    assert claim["metadata"]["name"] == "data-js"
    assert claim["metadata"]["labels"] == {PREFIX + "jobset-name": "js"}
    assert [owner["uid"] for owner in claim["metadata"]["ownerReferences"]] == ["u"]
    driver, workers = (job["spec"]["template"]["spec"] for job in made(result))
    assert "volumes" not in driver
    assert workers["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-js"}}]
    kinds = [stage[0].kind for stage in result.stages]
    assert kinds.index(PERSISTENT_VOLUME_CLAIM) < kinds.index(JOB)


def test_claims_may_outlive_the_jobset():
    (claim,) = made(plan(sharing({"retentionPolicy": {"whenDeleted": "Retain"}})), PERSISTENT_VOLUME_CLAIM)
    assert claim["metadata"]["ownerReferences"] == []


@pytest.mark.parametrize(("owners", "is_made"), [([], False), ([{"uid": "other", "controller": True}], True)])
def test_a_claim_that_nobody_owns_is_used_again(owners, is_made):
    controller = controller_of(sharing())
    metadata = {"name": "data-js", "namespace": "default", "uid": "c", "resourceVersion": "3"}
    controller.see(PERSISTENT_VOLUME_CLAIM, {"metadata": metadata | {"ownerReferences": owners}, "spec": {}})
    assert bool(made(controller.plan("u", NOW), PERSISTENT_VOLUME_CLAIM)) is is_made
