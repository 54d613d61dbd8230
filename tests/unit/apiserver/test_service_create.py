"""Creating objects: what is checked, what the server adds, what is refused and how."""

import re

import pytest

from posse.apiserver.requests import WriteOptions
from posse.kinds.registry import CONFIG_MAP, EVENT, EVENT_VIEW, NODE, POD, POD_GROUP


def test_the_server_gives_identity_time_and_version(service, pod):
    created = service.create(POD, "default", pod())
    metadata = created["metadata"]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata["uid"])
    assert metadata["creationTimestamp"] == "2026-01-01T12:00:00Z"
    assert metadata["resourceVersion"] == str(service.store.version)
    assert metadata["namespace"] == "default"
    assert metadata["generation"] == 1
    assert service.get(POD, "default", "p") == created


def test_what_clients_send_for_the_servers_fields_is_dropped(service, pod):
    sent = {
        "uid": "mine",
        "creationTimestamp": None,
        "generation": 9,
        "deletionTimestamp": "2020-01-01T00:00:00Z",
        "managedFields": [{"manager": "x"}],
        "selfLink": "/x",
    }
    metadata = service.create(POD, "default", pod(metadata=sent))["metadata"]
    assert metadata["uid"] != "mine"
    assert metadata["generation"] == 1
    assert not {"deletionTimestamp", "managedFields", "selfLink"} & metadata.keys()


def test_scheduling_kinds_and_nodes_have_no_generation(service, pod_group):
    assert "generation" not in service.create(POD_GROUP, "default", pod_group())["metadata"]
    assert "generation" not in service.create(NODE, "", {"metadata": {"name": "n"}})["metadata"]


def test_defaults_are_filled_in(service, pod, pod_group):
    assert service.create(POD, "default", pod())["spec"]["restartPolicy"] == "Always"
    group = service.create(POD_GROUP, "default", pod_group())
    assert group["spec"]["disruptionMode"] == {"single": {}}


def test_kind_and_version_may_be_left_to_the_request(service):
    created = service.create(NODE, "", {"metadata": {"name": "n"}})
    assert (created["apiVersion"], created["kind"]) == ("v1", "Node")


def test_other_served_versions_are_stored_in_the_storage_version(service, pod_group):
    created = service.create(POD_GROUP, "default", pod_group(version="v1alpha3"))
    assert created["apiVersion"] == "scheduling.k8s.io/v1beta1"


def test_a_view_is_stored_as_the_kind_behind_it(service):
    body = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "note": "hello",
        "reason": "Scheduled",
        "action": "Binding",
        "type": "Normal",
        "reportingController": "default-scheduler",
        "reportingInstance": "here",
        "eventTime": "2026-01-01T12:00:00.000000Z",
    }
    created = service.create(EVENT_VIEW, "default", body)
    assert created["message"] == "hello"
    assert service.get(EVENT, "default", "e") == created == service.get(EVENT_VIEW, "default", "e")


def test_generated_names_end_in_five_characters_and_differ(service, pod):
    names = {
        service.create(POD, "default", pod(name="", metadata={"generateName": "worker-"}))["metadata"]["name"]
        for _ in range(20)
    }
    assert len(names) == 20
    assert all(re.fullmatch(r"worker-[bcdfghjklmnpqrstvwxz2456789]{5}", name) for name in names)


def test_a_generated_name_that_is_taken_is_tried_again_but_not_for_ever(service, pod, monkeypatch, refused):
    suffixes = iter(["aaaaa", "aaaaa", "bbbbb", *["bbbbb"] * 8])
    monkeypatch.setattr("posse.apiserver.service.generated_name", lambda prefix, _: prefix + next(suffixes))
    made = [service.create(POD, "default", pod(name="", metadata={"generateName": "w-"})) for _ in range(2)]
    assert [each["metadata"]["name"] for each in made] == ["w-aaaaa", "w-bbbbb"]
    error = refused(service.create, POD, "default", pod(name="", metadata={"generateName": "w-"}))
    assert (error.code, error.reason) == (409, "AlreadyExists")


def test_without_any_name_the_object_is_invalid(service, pod, refused):
    error = refused(service.create, POD, "default", pod(name=""))
    assert error.code == 422
    assert "metadata.name: Required value: name or generateName is required" in error.message


def test_what_exists_already_is_a_conflict(service, pod, refused):
    service.create(POD, "default", pod())
    error = refused(service.create, POD, "default", pod())
    assert (error.code, error.reason, error.message) == (409, "AlreadyExists", 'pods "p" already exists')


def test_values_against_the_rules_are_named_by_field(service, pod_group, refused):
    error = refused(service.create, POD_GROUP, "default", pod_group(min_count=-1))
    assert error.code == 422
    assert error.message == (
        'PodGroup.scheduling.k8s.io "g" is invalid: spec.schedulingPolicy.gang.minCount: '
        "Invalid value: -1: must be greater than or equal to 1"
    )
    assert service.list(POD_GROUP, None).items == []


def test_a_wrong_type_is_named_by_path(service, pod_group, refused):
    body = pod_group()
    body["spec"]["schedulingPolicy"]["gang"]["minCount"] = "two"
    error = refused(service.create, POD_GROUP, "default", body)
    assert error.code == 400
    assert error.message == (
        'PodGroup in version "v1beta1" cannot be handled as a PodGroup: '
        "spec.schedulingPolicy.gang.minCount: expected an integer, got a string"
    )


@pytest.mark.parametrize("metadata", [None, {}])
def test_metadata_may_be_missing_or_null_but_then_so_is_the_name(service, metadata, refused):
    assert refused(service.create, NODE, "", {"metadata": metadata}).code == 422


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"apiVersion": "v2"},
            "the API version in the data (v2) does not match the expected API version (v1)",
        ),
        ({"kind": "Node"}, 'Node in version "v1" cannot be handled as a Pod: its kind is Node'),
        ({"metadata": []}, 'Pod in version "v1" cannot be handled as a Pod: metadata: expected an object'),
        (
            {"metadata": {"name": "p", "namespace": "other"}},
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        ({"metadata": {"name": "p", "resourceVersion": "5"}}, "resourceVersion should not be set"),
        ({"spec": {"nodeName": "\ud800"}}, "the object contains text that is not Unicode"),
    ],
)
def test_a_body_that_is_not_what_the_request_says_is_refused(service, pod, change, message, refused):
    error = refused(service.create, POD, "default", pod() | change)
    assert (error.code, error.reason) == (400, "BadRequest")
    assert message in error.message
    assert service.list(POD, None).items == []


def test_a_namespace_on_a_cluster_scoped_object_is_refused(service, refused):
    body = {"metadata": {"name": "n", "namespace": "default"}}
    assert refused(service.create, NODE, "", body).code == 400


def test_unknown_fields_are_warned_about_and_kept(service, pod):
    options = WriteOptions()
    created = service.create(POD, "default", pod(colour="red"), options)
    assert options.warnings == ['unknown field "spec.colour"']
    assert created["spec"]["colour"] == "red"


def test_unknown_fields_are_refused_when_asked_to_be_strict(service, pod, refused):
    body = pod(colour="red") | {"size": 1}
    error = refused(service.create, POD, "default", body, WriteOptions(field_validation="Strict"))
    assert error.code == 400
    assert error.message == (
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
        'unknown field "spec.colour", unknown field "size"'
    )


def test_unknown_fields_pass_in_silence_when_asked_to(service, pod):
    options = WriteOptions(field_validation="Ignore")
    service.create(POD, "default", pod(colour="red"), options)
    assert options.warnings == []


def test_nulls_mean_absent(service):
    body = {"metadata": {"name": "c", "labels": None}, "data": {"a": "1", "b": None}}
    created = service.create(CONFIG_MAP, "default", body)
    assert created["data"] == {"a": "1"}
    assert "labels" not in created["metadata"]


def test_a_dry_run_answers_as_if_and_keeps_nothing(service, pod, refused):
    before = service.store.version
    created = service.create(POD, "default", pod(), WriteOptions(dry_run=True))
    assert created["metadata"]["uid"]
    assert "resourceVersion" not in created["metadata"]
    assert service.store.version == before
    service.create(POD, "default", pod())
    assert refused(service.create, POD, "default", pod(), WriteOptions(dry_run=True)).code == 409


def nested(levels):
    """Make a value with so many objects one within another."""
    value = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


@pytest.mark.parametrize("levels", [99, 400, 5000])
def test_what_is_nested_too_deeply_is_refused(service, refused, levels):
    allowed = {"metadata": {"name": "fine"}, "other": nested(99)}
    assert service.create(CONFIG_MAP, "default", allowed)
    body = {"metadata": {"name": "c"}, "other": {"a": nested(levels)}}
    error = refused(service.create, CONFIG_MAP, "default", body)
    assert (error.code, error.message) == (400, "what was sent is nested more than 100 levels deep")


def test_what_is_too_large_is_refused_and_leaves_no_trace(service, refused):
    body = {"metadata": {"name": "c"}, "data": {"x": "x" * 3 * 1024 * 1024}}
    before = service.store.version
    error = refused(service.create, CONFIG_MAP, "default", body)
    assert (error.code, error.reason) == (413, "RequestEntityTooLarge")
    assert service.store.version == before
    assert service.list(CONFIG_MAP, None).items == []
