"""Volumes of simulated storage: made when a claim needs one, deleted when the claim is gone."""

import pytest

from posse.controllers.steps import Create, Delete
from posse.controllers.volume_provisioning import DEFAULT_CLASS, VolumeProvisioner, default_storage_class
from posse.kinds.registry import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS
from tests.support.plans import planned

SELECTED = {"volume.kubernetes.io/selected-node": "n1"}
AT_ONCE = default_storage_class() | {"volumeBindingMode": "Immediate"}
OF_OTHERS = default_storage_class() | {"provisioner": "csi.example.com"}


def claim(storage_class=DEFAULT_CLASS, annotations=None, **spec):
    requests = {"requests": {"storage": "5Gi"}}
    base = {"accessModes": ["ReadWriteOnce"], "resources": requests, "storageClassName": storage_class}
    metadata = {"name": "data", "namespace": "ns", "uid": "u1", "annotations": annotations or {}}
    return {"metadata": metadata, "spec": base | spec}


def observed(the_claim, the_class):
    provisioner = VolumeProvisioner()
    provisioner.see(STORAGE_CLASS, the_class)
    provisioner.see(PERSISTENT_VOLUME_CLAIM, the_claim)
    return provisioner


def made_for(the_claim, the_class=AT_ONCE):
    [step] = planned(observed(the_claim, the_class))
    assert isinstance(step, Create)
    return step.obj


def test_a_volume_is_kept_for_its_claim():
    volume = made_for(claim())
    assert volume["metadata"]["name"] == "pvc-u1"
    spec = volume["spec"]
    assert (spec["capacity"], spec["accessModes"]) == ({"storage": "5Gi"}, ["ReadWriteOnce"])
    assert (spec["claimRef"]["namespace"], spec["claimRef"]["uid"]) == ("ns", "u1")
    assert (spec["storageClassName"], spec["persistentVolumeReclaimPolicy"]) == (DEFAULT_CLASS, "Delete")


def test_claims_of_the_default_class_wait_for_a_pod():
    assert planned(observed(claim(), default_storage_class())) == []
    assert made_for(claim(annotations=SELECTED), default_storage_class())


def test_a_claim_that_was_there_before_its_class_gets_a_volume():
    provisioner = VolumeProvisioner()
    provisioner.see(PERSISTENT_VOLUME_CLAIM, claim())
    assert planned(provisioner) == []
    provisioner.see(STORAGE_CLASS, AT_ONCE)
    assert len(planned(provisioner)) == 1


@pytest.mark.parametrize(
    ("the_claim", "the_class"),
    [
        (claim("another"), AT_ONCE),
        (claim(""), AT_ONCE),
        (claim(volumeName="mine"), AT_ONCE),
        (claim(), OF_OTHERS | {"volumeBindingMode": "Immediate"}),
    ],
)
def test_other_claims_are_left_alone(the_claim, the_class):
    assert planned(observed(the_claim, the_class)) == []


@pytest.mark.parametrize(
    ("policy", "phase", "goes"),
    [("Delete", "Released", True), ("Retain", "Released", False), ("Delete", "Bound", False)],
)
def test_a_released_volume_is_deleted(policy, phase, goes):
    provisioner = observed(claim(), AT_ONCE)
    [made] = planned(provisioner)
    spec = made.obj["spec"] | {"persistentVolumeReclaimPolicy": policy}
    provisioner.see(PERSISTENT_VOLUME, made.obj | {"spec": spec, "status": {"phase": phase}})
    assert planned(provisioner) == []
    provisioner.lose(PERSISTENT_VOLUME_CLAIM, claim())
    assert [type(step) for step in planned(provisioner)] == [Delete] * goes


def test_volumes_that_were_made_by_hand_stay():
    provisioner = VolumeProvisioner()
    spec = {"persistentVolumeReclaimPolicy": "Delete"}
    provisioner.see(
        PERSISTENT_VOLUME, {"metadata": {"name": "v"}, "spec": spec, "status": {"phase": "Released"}}
    )
    assert planned(provisioner) == []
