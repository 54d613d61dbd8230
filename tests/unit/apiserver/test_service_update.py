"""Updating objects: optimistic concurrency, what belongs to the server, the status subresource, no-ops."""

import copy

import pytest

from posse.apiserver.requests import WriteOptions
from posse.kinds.machinery.errors import OBJECT_MODIFIED
from posse.kinds.registry import CONFIG_MAP, NAMESPACE, NODE, POD, POD_GROUP, PRIORITY_CLASS

CONDITION = {
    "type": "PodGroupInitiallyScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "message": "no room",
    "lastTransitionTime": "2026-01-01T12:00:00Z",
}


@pytest.fixture
def stored_map(service):
    created = service.create(CONFIG_MAP, "default", {"metadata": {"name": "c"}, "data": {"a": "1"}})
    return copy.deepcopy(created)


def update(service, obj, kind=CONFIG_MAP, **kwargs):
    metadata = obj["metadata"]
    sent = copy.deepcopy(obj)
    return service.update(kind, metadata.get("namespace", ""), metadata["name"], sent, **kwargs)


def test_an_update_gets_a_new_version_and_keeps_the_identity(service, stored_map, clock):
    clock.now += 60
    stored_map["data"] = {"a": "2"}
    updated = update(service, stored_map)
    assert updated["data"] == {"a": "2"}
    assert int(updated["metadata"]["resourceVersion"]) > int(stored_map["metadata"]["resourceVersion"])
    for field in ("uid", "creationTimestamp"):
        assert updated["metadata"][field] == stored_map["metadata"][field]


def test_identity_that_is_left_out_or_tampered_with_is_put_back(service, stored_map):
    sent = {
        "metadata": {"name": "c", "creationTimestamp": "1999-01-01T00:00:00Z", "managedFields": []},
        "data": {"a": "2"},
    }
    updated = service.update(CONFIG_MAP, "default", "c", sent)
    assert updated["metadata"]["uid"] == stored_map["metadata"]["uid"]
    assert updated["metadata"]["creationTimestamp"] == stored_map["metadata"]["creationTimestamp"]
    assert "managedFields" not in updated["metadata"]


def test_nobody_can_delete_by_update(service, stored_map):
    stored_map["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:00Z"
    assert "deletionTimestamp" not in update(service, stored_map)["metadata"]


def test_a_stale_version_is_a_conflict(service, stored_map, refused):
    update(service, stored_map | {"data": {"a": "2"}})
    error = refused(update, service, stored_map | {"data": {"a": "3"}})
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message == f'Operation cannot be fulfilled on configmaps "c": {OBJECT_MODIFIED}'
    assert service.get(CONFIG_MAP, "default", "c")["data"] == {"a": "2"}


def test_another_uid_is_a_conflict(service, stored_map, refused):
    stored_map["metadata"]["uid"] = "other"
    error = refused(update, service, stored_map)
    assert error.code == 409
    assert "Precondition failed: UID in precondition: other, UID in object meta: " in error.message


def test_without_a_version_the_last_writer_wins_where_that_is_allowed(service, stored_map):
    del stored_map["metadata"]["resourceVersion"]
    assert update(service, stored_map | {"data": {"a": "9"}})["data"] == {"a": "9"}


def test_scheduling_kinds_need_a_version(service, pod_group, refused):
    group = copy.deepcopy(service.create(POD_GROUP, "default", pod_group()))
    del group["metadata"]["resourceVersion"]
    error = refused(update, service, group, POD_GROUP)
    assert error.code == 422
    assert error.message.endswith(
        "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    )


def test_an_update_that_changes_nothing_is_no_write(service, stored_map):
    before = service.store.version
    assert update(service, stored_map) == stored_map
    assert service.store.version == before


def test_absent_objects_are_not_found(service, stored_map, refused):
    stored_map["metadata"]["name"] = "other"
    error = refused(update, service, stored_map)
    assert (error.code, error.message) == (404, 'configmaps "other" not found')


def test_the_name_must_be_that_of_the_request(service, stored_map, refused):
    stored_map["metadata"]["name"] = "other"
    error = refused(service.update, CONFIG_MAP, "default", "c", stored_map)
    assert error.code == 400
    assert error.message == "the name of the object (other) does not match the name on the URL (c)"


def test_immutable_fields_are_refused(service, pod_group, refused):
    group = copy.deepcopy(service.create(POD_GROUP, "default", pod_group()))
    group["spec"]["disruptionMode"] = {"all": {}}
    error = refused(update, service, group, POD_GROUP)
    assert error.code == 422
    assert "spec.disruptionMode" in error.message


def test_the_main_resource_does_not_write_status(service, pod_group):
    group = copy.deepcopy(service.create(POD_GROUP, "default", pod_group()))
    group["status"] = {"conditions": [CONDITION]}
    group["spec"]["schedulingPolicy"]["gang"]["minCount"] = 5
    updated = update(service, group, POD_GROUP)
    assert "status" not in updated
    assert updated["spec"]["schedulingPolicy"]["gang"]["minCount"] == 5


def test_the_status_subresource_writes_status_only(service, pod_group):
    group = copy.deepcopy(service.create(POD_GROUP, "default", pod_group()))
    group["status"] = {"conditions": [CONDITION]}
    group["spec"]["schedulingPolicy"]["gang"]["minCount"] = 5
    group["metadata"]["labels"] = {"a": "b"}
    updated = update(service, group, POD_GROUP, subresource="status")
    assert updated["status"] == {"conditions": [CONDITION]}
    assert updated["spec"]["schedulingPolicy"]["gang"]["minCount"] == 2
    assert "labels" not in updated["metadata"]


def test_status_is_validated(service, pod_group, refused):
    group = copy.deepcopy(service.create(POD_GROUP, "default", pod_group()))
    group["status"] = {"conditions": [CONDITION | {"status": "Perhaps"}]}
    assert refused(update, service, group, POD_GROUP, subresource="status").code == 422


def test_the_generation_follows_the_spec(service, pod):
    created = copy.deepcopy(service.create(POD, "default", pod()))
    created["metadata"]["labels"] = {"a": "b"}
    labelled = copy.deepcopy(update(service, created, POD))
    assert labelled["metadata"]["generation"] == 1
    labelled["spec"]["containers"][0]["image"] = "busybox:2"
    assert update(service, labelled, POD)["metadata"]["generation"] == 2


def test_what_is_stored_is_never_edited(service, stored_map):
    first = service.get(CONFIG_MAP, "default", "c")
    before = copy.deepcopy(first)
    update(service, stored_map | {"data": {"b": "2"}})
    assert first == before


def test_a_dry_run_shows_the_result_and_keeps_nothing(service, stored_map):
    before = service.store.version
    options = WriteOptions(dry_run=True)
    assert update(service, stored_map | {"data": {"b": "2"}}, options=options)["data"] == {"b": "2"}
    assert service.store.version == before


def test_fields_unknown_before_are_no_reason_to_refuse_an_update(service, stored_map, refused):
    stored_map["colour"] = "red"
    kept = copy.deepcopy(update(service, stored_map))
    strict = WriteOptions(field_validation="Strict")
    update(service, kept | {"data": {"b": "2"}}, options=strict)
    del kept["metadata"]["resourceVersion"]
    error = refused(update, service, kept | {"size": 1}, options=strict)
    assert error.message.endswith('strict decoding error: unknown field "size"')


def test_a_node_keeps_its_status_when_its_spec_is_updated(service):
    node = {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4"}}}
    created = copy.deepcopy(service.create(NODE, "", node))
    del created["status"]
    created["spec"] = {"unschedulable": True}
    updated = update(service, created, NODE)
    assert updated["spec"]["unschedulable"]
    assert updated["status"]["allocatable"] == {"cpu": "4"}


def test_a_second_default_priority_class_is_refused_on_update_too(service, refused):
    service.create(PRIORITY_CLASS, "", {"metadata": {"name": "a"}, "value": 1, "globalDefault": True})
    other = service.create(PRIORITY_CLASS, "", {"metadata": {"name": "b"}, "value": 2})
    error = refused(update, service, other | {"globalDefault": True}, PRIORITY_CLASS)
    assert error.code == 403


def test_the_finalizers_of_a_namespace_change_only_through_finalize(service):
    created = copy.deepcopy(service.create(NAMESPACE, "", {"metadata": {"name": "x"}}))
    created["spec"] = {"finalizers": []}
    assert update(service, created, NAMESPACE)["spec"]["finalizers"] == ["kubernetes"]
    created["metadata"].pop("resourceVersion")
    assert service.finalize_namespace("x", created)["spec"]["finalizers"] == []
