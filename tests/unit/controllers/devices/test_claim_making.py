"""Claims from templates: one for each entry of a pod or group, found again, named in the status."""

from posse.controllers.devices.claim_making import GroupClaims, PodClaims
from posse.controllers.steps import Amend, Create
from posse.kinds.registry import POD, POD_GROUP, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE
from posse.model.resource_claim import POD_CLAIM_ANNOTATION
from tests.support.plans import planned

ENTRY = {"name": "gpu", "resourceClaimTemplateName": "t"}
SPEC = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
TEMPLATE = {
    "metadata": {"namespace": "ns", "name": "t", "uid": "t", "resourceVersion": "1"},
    "spec": {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}, "spec": SPEC},
}


def pod(entries=(ENTRY,), group="", version=1, statuses=(), node=""):
    spec = {"containers": [], "resourceClaims": list(entries)}
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    if node:
        spec["nodeName"] = node
    status = {"phase": "Pending", "resourceClaimStatuses": list(statuses)}
    metadata = {"namespace": "ns", "name": "p", "uid": "p", "resourceVersion": str(version)}
    return {"metadata": metadata, "spec": spec, "status": status}


def group(entries=(ENTRY,)):
    metadata = {"namespace": "ns", "name": "gang", "uid": "g", "resourceVersion": "1"}
    return {"metadata": metadata, "spec": {"resourceClaims": list(entries)}}


def claim_of(owner_kind, owner_uid, name="p-gpu-abcde", entry="gpu", **status):
    owner = {"apiVersion": owner_kind.api_version, "kind": owner_kind.name, "name": "o", "uid": owner_uid}
    metadata = {
        "namespace": "ns",
        "name": name,
        "uid": name,
        "resourceVersion": "2",
        "annotations": {POD_CLAIM_ANNOTATION: entry},
        "ownerReferences": [owner | {"controller": True}],
    }
    return {"metadata": metadata, "spec": SPEC, "status": status}


def statuses_in(steps):
    return [step.patch["status"]["resourceClaimStatuses"] for step in steps if isinstance(step, Amend)]


def test_a_claim_for_each_entry_of_a_pod():
    maker = PodClaims()
    maker.see(RESOURCE_CLAIM_TEMPLATE, TEMPLATE)
    maker.see(POD, pod([ENTRY, ENTRY | {"name": "nic"}, {"name": "own", "resourceClaimName": "c"}]))
    first, second = planned(maker)
    assert isinstance(first, Create)
    metadata = first.obj["metadata"]
    assert metadata["generateName"] == "p-gpu-"
    assert metadata["labels"] == {"a": "b"}
    assert metadata["annotations"] == {"c": "d", POD_CLAIM_ANNOTATION: "gpu"}
    assert metadata["ownerReferences"][0]["uid"] == "p"
    assert first.obj["spec"] == SPEC
    assert second.obj["metadata"]["generateName"] == "p-nic-"


def test_a_claim_that_was_made_is_named_in_the_status():
    maker = PodClaims()
    maker.see(POD, pod())
    maker.see(RESOURCE_CLAIM, claim_of(POD, "p"))
    assert statuses_in(planned(maker)) == [[{"name": "gpu", "resourceClaimName": "p-gpu-abcde"}]]
    maker.see(POD, pod(version=2, statuses=[{"name": "gpu", "resourceClaimName": "p-gpu-abcde"}]))
    assert planned(maker) == []


def test_a_claim_that_was_deleted_is_made_again():
    maker = PodClaims()
    maker.see(RESOURCE_CLAIM_TEMPLATE, TEMPLATE)
    maker.see(RESOURCE_CLAIM, claim_of(POD, "p"))
    maker.see(POD, pod(statuses=[{"name": "gpu", "resourceClaimName": "p-gpu-abcde"}]))
    assert planned(maker) == []
    maker.lose(RESOURCE_CLAIM, claim_of(POD, "p"))
    (create,) = planned(maker)
    assert isinstance(create, Create)


def test_a_missing_template_is_told_once_and_awaited():
    maker = PodClaims()
    maker.see(POD, pod())
    (news,) = maker.plan("p", 0.0).news
    assert news.reason == "FailedResourceClaimCreation"
    assert news.message == (
        'PodResourceClaim gpu: resource claim template "t": resourceclaimtemplates.resource.k8s.io "t" not found'
    )
    assert maker.plan("p", 0.0).news == []
    planned(maker)
    maker.see(RESOURCE_CLAIM_TEMPLATE, TEMPLATE)
    (create,) = planned(maker)
    assert isinstance(create, Create)


def test_long_names_are_shortened_in_proportion():
    maker = PodClaims()
    maker.see(RESOURCE_CLAIM_TEMPLATE, TEMPLATE)
    long = pod([ENTRY | {"name": "e" * 40}])
    long["metadata"]["name"] = "p" * 60
    maker.see(POD, long)
    (create,) = planned(maker)
    prefix = create.obj["metadata"]["generateName"]
    assert len(prefix) <= 58
    assert prefix.startswith("ppp")
    assert "-eee" in prefix


def test_a_group_has_one_claim_for_each_entry():
    maker = GroupClaims()
    maker.see(RESOURCE_CLAIM_TEMPLATE, TEMPLATE)
    maker.see(POD_GROUP, group())
    (create,) = planned(maker)
    assert create.obj["metadata"]["generateName"] == "gang-gpu-"
    assert create.obj["metadata"]["ownerReferences"][0]["kind"] == "PodGroup"
    maker.see(RESOURCE_CLAIM, claim_of(POD_GROUP, "g", "gang-gpu-abcde"))
    assert statuses_in(planned(maker)) == [[{"name": "gpu", "resourceClaimName": "gang-gpu-abcde"}]]


def test_members_use_the_claim_of_their_group():
    maker = PodClaims()
    maker.see(RESOURCE_CLAIM_TEMPLATE, TEMPLATE)
    maker.see(POD_GROUP, group())
    maker.see(POD, pod(group="gang"))
    assert planned(maker) == []
    maker.see(RESOURCE_CLAIM, claim_of(POD_GROUP, "g", "gang-gpu-abcde"))
    assert statuses_in(planned(maker)) == [[{"name": "gpu", "resourceClaimName": "gang-gpu-abcde"}]]


def test_a_pod_whose_group_comes_later_gets_no_claim_that_the_group_would_share():
    reconciler = PodClaims()
    reconciler.see(RESOURCE_CLAIM_TEMPLATE, TEMPLATE)
    reconciler.see(POD, pod(group="gang"))
    assert planned(reconciler) == []
    reconciler.see(POD_GROUP, group(entries=()))
    assert [step.kind for step in planned(reconciler)] == [RESOURCE_CLAIM]


def test_an_entry_with_another_source_is_the_pods_own():
    maker = PodClaims()
    maker.see(RESOURCE_CLAIM_TEMPLATE, TEMPLATE)
    maker.see(POD_GROUP, group([ENTRY | {"resourceClaimTemplateName": "other"}]))
    maker.see(POD, pod(group="gang"))
    (create,) = planned(maker)
    assert create.obj["metadata"]["ownerReferences"][0]["uid"] == "p"


def test_claims_of_a_pod_that_was_bound_without_a_scheduler_are_reserved():
    maker = PodClaims()
    own = {"name": "own", "resourceClaimName": "c"}
    maker.see(RESOURCE_CLAIM, claim_of(POD, "other", "c", allocation={}))
    maker.see(POD, pod([own]))
    assert planned(maker) == []
    maker.see(POD, pod([own], version=2, node="n1"))
    (reserve,) = planned(maker)
    assert reserve.patch["status"] == {"reservedFor": [{"resource": "pods", "name": "p", "uid": "p"}]}


def test_pods_that_are_done_or_going_get_no_claims():
    maker = PodClaims()
    maker.see(RESOURCE_CLAIM_TEMPLATE, TEMPLATE)
    done, going = pod(), pod()
    done["status"]["phase"] = "Succeeded"
    going["metadata"] |= {"uid": "q", "name": "q", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    maker.see(POD, done)
    maker.see(POD, going)
    assert planned(maker) == []
