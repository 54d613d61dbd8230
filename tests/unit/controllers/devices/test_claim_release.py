"""Reservations end with their pods and groups, the allocation with the last of them."""

from posse.controllers.devices.claim_release import ClaimRelease
from posse.controllers.steps import Amend, Delete, ExpectAbsent, Write
from posse.kinds.registry import POD, POD_GROUP, RESOURCE_CLAIM
from posse.model.resource_claim import CLAIM_FINALIZER
from tests.support.plans import planned

P = {"resource": "pods", "name": "p", "uid": "p"}
Q = {"resource": "pods", "name": "q", "uid": "q"}
GANG = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "gang", "uid": "g"}
ALLOCATION = {"devices": {"results": []}}


def pod(uid="p", phase="Running", deleted=False, node="n1"):
    metadata = {"namespace": "ns", "name": uid, "uid": uid}
    if deleted:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]} | (
        {"nodeName": node} if node else {}
    )
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase}}


def claim(*consumers, allocated=True, deleted=False, finalizers=(CLAIM_FINALIZER,), owner=""):
    metadata = {"namespace": "ns", "name": "c", "uid": "c", "resourceVersion": "7"}
    metadata["finalizers"] = list(finalizers)
    if deleted:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if owner:
        reference = {"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": owner, "controller": True}
        metadata["ownerReferences"] = [reference]
    status = {"allocation": ALLOCATION} if allocated else {}
    if consumers:
        status["reservedFor"] = list(consumers)
    return {"metadata": metadata, "status": status}


def release_of(*objects):
    release = ClaimRelease()
    for kind, obj in objects:
        release.see(kind, obj)
    return release


def test_nothing_happens_while_the_pods_run():
    assert planned(release_of((POD, pod()), (RESOURCE_CLAIM, claim(P)))) == []


def test_a_pod_that_is_done_loses_its_reservation_and_others_keep_theirs():
    release = release_of((POD, pod()), (POD, pod("q")), (RESOURCE_CLAIM, claim(P, Q)))
    planned(release)
    release.see(POD, pod("q", phase="Succeeded"))
    (write,) = planned(release)
    assert isinstance(write, Write)
    assert write.obj["status"] == {"allocation": ALLOCATION, "reservedFor": [P]}


def test_the_last_reservation_takes_allocation_and_finalizer_along():
    release = release_of((POD, pod(phase="Failed")), (RESOURCE_CLAIM, claim(P)))
    (write,) = planned(release)
    assert write.obj["status"] == {}
    release.see(RESOURCE_CLAIM, claim(allocated=False))
    (amend,) = planned(release)
    assert isinstance(amend, Amend)
    assert amend.patch["metadata"]["finalizers"] is None
    assert amend.patch["metadata"]["resourceVersion"] == "7"


def test_a_finalizer_that_a_scheduler_has_just_added_stays():
    assert planned(release_of((RESOURCE_CLAIM, claim(allocated=False)))) == []


def test_a_claim_that_was_never_reserved_keeps_its_allocation():
    assert planned(release_of((RESOURCE_CLAIM, claim()))) == []


def test_a_pod_that_is_unknown_is_looked_for_first():
    doubt, write = planned(release_of((RESOURCE_CLAIM, claim(P))))
    assert doubt == ExpectAbsent(POD, "ns", "p", "p")
    assert isinstance(write, Write)


def test_a_pod_that_is_gone_loses_its_reservation():
    release = release_of((POD, pod()), (RESOURCE_CLAIM, claim(P)))
    planned(release)
    release.lose(POD, pod())
    assert isinstance(planned(release)[-1], Write)


def test_a_pod_that_ends_keeps_its_devices_until_it_is_gone_unless_it_never_started():
    release = release_of((POD, pod(deleted=True)), (RESOURCE_CLAIM, claim(P)))
    assert planned(release) == []
    release.see(POD, pod(deleted=True, node=""))
    assert isinstance(planned(release)[-1], Write)


def test_the_reservation_of_a_group_ends_with_the_group():
    group = {"metadata": {"namespace": "ns", "name": "gang", "uid": "g"}, "spec": {}}
    release = release_of((POD_GROUP, group), (RESOURCE_CLAIM, claim(GANG)))
    assert planned(release) == []
    release.lose(POD_GROUP, group)
    doubt, write = planned(release)
    assert doubt == ExpectAbsent(POD_GROUP, "ns", "gang", "g")
    assert write.obj["status"] == {}


def test_a_deleted_claim_goes_when_nobody_uses_it():
    release = release_of((POD, pod()), (RESOURCE_CLAIM, claim(P, deleted=True)))
    assert planned(release) == []
    release = release_of((RESOURCE_CLAIM, claim(deleted=True)))
    (write,) = planned(release)
    assert write.obj["status"] == {}
    release.see(RESOURCE_CLAIM, claim(deleted=True, allocated=False))
    (amend,) = planned(release)
    assert isinstance(amend, Amend)


def test_a_claim_made_for_a_pod_that_is_done_is_deleted():
    release = release_of(
        (POD, pod(phase="Succeeded")), (RESOURCE_CLAIM, claim(allocated=False, owner="p", finalizers=()))
    )
    (delete,) = planned(release)
    assert isinstance(delete, Delete)
    unknown = release_of((RESOURCE_CLAIM, claim(allocated=False, owner="p", finalizers=())))
    assert planned(unknown) == []
