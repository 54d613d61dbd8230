"""Deleting: at once, with grace, held by finalizers, guarded by preconditions; namespaces last."""

import copy

import pytest

from posse.apiserver.kind_store import key_of
from posse.apiserver.requests import DeleteOptions, Selection
from posse.kinds.registry import CONFIG_MAP, NAMESPACE, NODE, POD, POD_GROUP, PRIORITY_CLASS
from posse.transport.patches import Patch

MERGE = "application/merge-patch+json"


@pytest.fixture
def running_pod(service, pod):
    service.create(POD, "default", pod(terminationGracePeriodSeconds=20))
    return service.bind("default", "p", {"target": {"kind": "Node", "name": "n"}})


def names(service, kind, namespace=None):
    return [each["metadata"]["name"] for each in service.list(kind, namespace).items]


def test_an_object_that_nothing_holds_is_gone_and_answered_with_a_status(service):
    created = service.create(PRIORITY_CLASS, "", {"metadata": {"name": "high"}, "value": 1})
    answer = service.delete(PRIORITY_CLASS, "", "high")
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    assert answer["details"] == {
        "name": "high",
        "group": "scheduling.k8s.io",
        "kind": "priorityclasses",
        "uid": created["metadata"]["uid"],
    }
    assert "high" not in names(service, PRIORITY_CLASS)


def test_what_is_not_there_is_not_found(service, refused):
    assert refused(service.delete, POD, "default", "p").code == 404


def test_an_unscheduled_pod_is_gone_at_once_and_answered_with_itself(service, pod):
    service.create(POD, "default", pod())
    assert service.delete(POD, "default", "p")["kind"] == "Pod"
    assert names(service, POD) == []


def test_a_running_pod_gets_its_grace_period(service, running_pod):
    going = service.delete(POD, "default", "p")
    assert going["metadata"]["deletionTimestamp"] == "2026-01-01T12:00:20Z"
    assert going["metadata"]["deletionGracePeriodSeconds"] == 20
    assert going["metadata"]["generation"] == running_pod["metadata"]["generation"] + 1
    assert service.get(POD, "default", "p") is going


def test_the_grace_period_can_be_chosen_and_then_only_shortened(service, clock, running_pod):
    service.delete(POD, "default", "p", DeleteOptions(grace_seconds=100))
    clock.now += 10
    before = service.store.version
    for seconds in (None, 100, 200):
        service.delete(POD, "default", "p", DeleteOptions(grace_seconds=seconds))
    assert service.store.version == before
    hastened = service.delete(POD, "default", "p", DeleteOptions(grace_seconds=50))
    assert hastened["metadata"]["deletionTimestamp"] == "2026-01-01T12:00:50Z"
    service.delete(POD, "default", "p", DeleteOptions(grace_seconds=0))
    assert names(service, POD) == []


@pytest.mark.parametrize("options", [DeleteOptions(grace_seconds=2**62), DeleteOptions()])
def test_a_grace_period_beyond_all_calendars_is_cut(service, pod, options):
    created = service.create(POD, "default", pod(nodeName="n"))
    # As it was stored by a version that had no bound.
    spec = created["spec"] | {"terminationGracePeriodSeconds": 2**62}
    version = int(created["metadata"]["resourceVersion"])
    service.store.put(key_of(POD, created), created | {"spec": spec}, version)
    assert service.delete(POD, "default", "p", options)["metadata"]["deletionGracePeriodSeconds"] == 2**31 - 1


def test_a_running_pod_without_grace_is_gone_at_once(service, running_pod):
    service.delete(POD, "default", "p", DeleteOptions(grace_seconds=0))
    assert names(service, POD) == []


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_finished_pod_is_gone_at_once(service, running_pod, phase):
    status = Patch(MERGE, {"status": {"phase": phase}})
    service.patch(POD, "default", "p", status, subresource="status")
    service.delete(POD, "default", "p")
    assert names(service, POD) == []


def test_a_finalizer_holds_a_pod_beyond_its_grace_period(service, pod):
    service.create(POD, "default", pod(metadata={"finalizers": ["example.com/hold"]}, nodeName="n"))
    service.delete(POD, "default", "p")
    held = service.delete(POD, "default", "p", DeleteOptions(grace_seconds=0))
    assert held["metadata"]["deletionGracePeriodSeconds"] == 0
    service.patch(POD, "default", "p", Patch(MERGE, {"metadata": {"finalizers": []}}))
    assert names(service, POD) == []


def test_a_pod_still_in_its_grace_period_stays_when_its_finalizers_go(service, pod):
    service.create(POD, "default", pod(metadata={"finalizers": ["example.com/hold"]}, nodeName="n"))
    service.delete(POD, "default", "p")
    service.patch(POD, "default", "p", Patch(MERGE, {"metadata": {"finalizers": []}}))
    assert names(service, POD) == ["p"]


def test_a_group_is_held_by_its_protection_until_that_is_taken_off(service, pod_group, refused):
    service.create(POD_GROUP, "default", pod_group())
    going = service.delete(POD_GROUP, "default", "g")
    assert going["metadata"]["deletionTimestamp"] == "2026-01-01T12:00:00Z"
    before = service.store.version
    assert service.delete(POD_GROUP, "default", "g") is going
    assert service.store.version == before
    more = Patch(MERGE, {"metadata": {"finalizers": [*going["metadata"]["finalizers"], "example.com/x"]}})
    assert refused(service.patch, POD_GROUP, "default", "g", more).code == 422
    service.patch(POD_GROUP, "default", "g", Patch(MERGE, {"metadata": {"finalizers": None}}))
    assert names(service, POD_GROUP) == []


def test_a_name_can_be_used_again_after_deletion_with_a_new_uid(service, pod):
    first = service.create(POD, "default", pod())["metadata"]["uid"]
    service.delete(POD, "default", "p")
    assert service.create(POD, "default", pod())["metadata"]["uid"] != first


@pytest.mark.parametrize(
    ("options", "field"),
    [(DeleteOptions(uid="other"), "UID"), (DeleteOptions(resource_version="1"), "ResourceVersion")],
)
def test_preconditions_must_hold(service, pod, refused, options, field):
    service.create(POD, "default", pod())
    error = refused(service.delete, POD, "default", "p", options)
    assert (error.code, error.reason) == (409, "Conflict")
    assert f"Precondition failed: {field} in precondition: " in error.message
    assert names(service, POD) == ["p"]


def test_preconditions_that_hold_let_the_deletion_through(service, pod):
    metadata = service.create(POD, "default", pod())["metadata"]
    options = DeleteOptions(uid=metadata["uid"], resource_version=metadata["resourceVersion"])
    service.delete(POD, "default", "p", options)
    assert names(service, POD) == []


@pytest.mark.parametrize(
    ("propagation", "finalizers"),
    [("Orphan", ["orphan"]), ("Foreground", ["foregroundDeletion"]), ("Background", None), ("", None)],
)
def test_propagation_policies_hold_an_object_by_finalizers(service, pod, propagation, finalizers):
    service.create(POD, "default", pod())
    service.delete(POD, "default", "p", DeleteOptions(propagation=propagation))
    found = [item["metadata"].get("finalizers") for item in service.list(POD, "default").items]
    assert found == ([finalizers] if finalizers else [])


def test_a_later_deletion_may_change_what_dependents_meet(service, pod):
    service.create(POD, "default", pod())
    service.delete(POD, "default", "p", DeleteOptions(propagation="Foreground"))
    service.delete(POD, "default", "p")
    assert service.get(POD, "default", "p")["metadata"]["finalizers"] == ["foregroundDeletion"]
    service.delete(POD, "default", "p", DeleteOptions(propagation="Orphan"))
    assert service.get(POD, "default", "p")["metadata"]["finalizers"] == ["orphan"]
    service.delete(POD, "default", "p", DeleteOptions(propagation="Background"))
    assert names(service, POD) == []


def test_a_dry_run_deletes_nothing(service, running_pod):
    service.create(NAMESPACE, "", {"metadata": {"name": "x"}})
    before = service.store.version
    service.delete(POD, "default", "p", DeleteOptions(dry_run=True))
    service.delete(POD, "default", "p", DeleteOptions(dry_run=True, grace_seconds=0))
    service.delete(NAMESPACE, "", "x", DeleteOptions(dry_run=True))
    assert service.store.version == before


def test_a_collection_is_deleted_by_selection(service, pod):
    service.create(NAMESPACE, "", {"metadata": {"name": "other"}})
    for name, label in (("a", "x"), ("b", "y"), ("c", "x")):
        service.create(POD, "default", pod(name, metadata={"labels": {"l": label}}))
    service.create(POD, "other", pod("d", metadata={"labels": {"l": "x"}}))
    deleted = service.list(POD, "default", Selection(labels="l=x"))
    assert service.delete_all(POD, deleted.stored) == []
    assert [each["metadata"]["name"] for each in deleted.items] == ["a", "c"]
    assert names(service, POD) == ["b", "d"]


def test_one_of_a_collection_that_may_not_go_keeps_none_of_the_others(service):
    for name in ("a", "x"):
        service.create(NAMESPACE, "", {"metadata": {"name": name}})
    error, *_ = service.delete_all(NAMESPACE, service.list(NAMESPACE, None).stored)
    assert error.message == 'namespaces "default" is forbidden: this namespace may not be deleted'
    phases = {
        each["metadata"]["name"]: each["status"]["phase"] for each in service.list(NAMESPACE, None).items
    }
    assert [name for name, phase in phases.items() if phase == "Terminating"] == ["a", "x"]


def test_of_a_collection_what_has_changed_goes_and_what_is_new_stays(service, pod):
    for name in ("changed", "gone", "new"):
        service.create(POD, "default", pod(name))
    found = service.list(POD, "default").stored
    labels = Patch("application/merge-patch+json", {"metadata": {"labels": {"a": "b"}}})
    service.patch(POD, "default", "changed", labels)
    for name in ("gone", "new"):
        service.delete(POD, "default", name)
    service.create(POD, "default", pod("new"))
    assert service.delete_all(POD, found) == []
    assert names(service, POD) == ["new"]


def test_a_namespace_terminates_first_and_goes_when_it_is_finalized(service, pod, refused):
    service.create(NAMESPACE, "", {"metadata": {"name": "x"}})
    going = service.delete(NAMESPACE, "", "x")
    assert going["status"]["phase"] == "Terminating"
    assert going["metadata"]["deletionTimestamp"] == "2026-01-01T12:00:00Z"
    assert service.delete(NAMESPACE, "", "x") is going
    assert refused(service.create, POD, "x", pod()).code == 403
    finalized = copy.deepcopy(going)
    finalized["spec"]["finalizers"] = []
    service.finalize_namespace("x", finalized)
    assert "x" not in names(service, NAMESPACE)


def test_finalizing_is_refused_for_a_stale_version(service, refused):
    created = service.create(NAMESPACE, "", {"metadata": {"name": "x"}})
    service.delete(NAMESPACE, "", "x")
    assert refused(service.finalize_namespace, "x", created | {"spec": {}}).code == 409


def test_a_finalizer_in_the_metadata_holds_a_finalized_namespace(service):
    body = {"metadata": {"name": "x", "finalizers": ["example.com/hold"]}}
    service.create(NAMESPACE, "", body)
    service.delete(NAMESPACE, "", "x")
    service.finalize_namespace("x", {"metadata": {"name": "x"}, "spec": {"finalizers": []}})
    assert "x" in names(service, NAMESPACE)
    service.patch(NAMESPACE, "", "x", Patch(MERGE, {"metadata": {"finalizers": None}}))
    assert "x" not in names(service, NAMESPACE)


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public", "kube-node-lease"])
def test_the_first_namespaces_stay(service, refused, name):
    error = refused(service.delete, NAMESPACE, "", name)
    assert error.code == 403
    assert error.message == f'namespaces "{name}" is forbidden: this namespace may not be deleted'


def test_nodes_and_maps_go_at_once(service):
    service.create(NODE, "", {"metadata": {"name": "n"}})
    service.create(CONFIG_MAP, "default", {"metadata": {"name": "c"}})
    service.delete(NODE, "", "n", DeleteOptions(grace_seconds=30))
    service.delete(CONFIG_MAP, "default", "c")
    assert names(service, NODE) == names(service, CONFIG_MAP) == []
