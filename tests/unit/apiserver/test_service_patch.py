"""Patches: the three formats, and that a patched object passes the same gates as an updated one."""

import pytest

from posse.apiserver.requests import WriteOptions
from posse.kinds.registry import CONFIG_MAP, EVENT, EVENT_VIEW, POD, POD_GROUP
from posse.transport.patches import Patch

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON = "application/json-patch+json"


@pytest.fixture
def patch(service):
    """Patch the pod p."""

    def apply(media_type, body, **kwargs):
        return service.patch(POD, "default", "p", Patch(media_type, body), **kwargs)

    return apply


@pytest.fixture(autouse=True)
def stored_pod(service, pod):
    return service.create(POD, "default", pod(metadata={"labels": {"a": "1"}}))


def test_a_merge_patch_sets_and_removes(patch):
    patched = patch(MERGE, {"metadata": {"labels": {"a": None, "b": "2"}}})
    assert patched["metadata"]["labels"] == {"b": "2"}


def test_a_json_patch_works_on_paths(patch):
    operations = [
        {"op": "test", "path": "/metadata/labels/a", "value": "1"},
        {"op": "add", "path": "/metadata/labels/b", "value": "2"},
    ]
    assert patch(JSON, operations)["metadata"]["labels"] == {"a": "1", "b": "2"}


def test_a_strategic_patch_merges_lists_by_their_key(patch):
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    patch(STRATEGIC, {"status": status}, subresource="status")
    more = {"conditions": [{"type": "PodScheduled", "status": "True"}]}
    patched = patch(STRATEGIC, {"status": more}, subresource="status")
    assert {each["type"] for each in patched["status"]["conditions"]} == {"Ready", "PodScheduled"}


@pytest.mark.parametrize(
    ("media_type", "body", "code"),
    [
        (JSON, [{"op": "test", "path": "/metadata/labels/a", "value": "2"}], 422),
        (JSON, [{"op": "remove", "path": "/metadata/labels/z"}], 422),
        (JSON, [{"op": "explode", "path": "/metadata"}], 400),
        (JSON, {"metadata": {}}, 400),
        (JSON, [{"op": "replace", "path": "", "value": 5}], 422),
        (MERGE, [], 400),
        (STRATEGIC, {"$patch": "explode"}, 400),
        (MERGE, {"spec": {"containers": "none"}}, 400),
        (MERGE, {"spec": {"schedulerName": "other"}}, 422),
        (MERGE, {"metadata": {"name": "q"}}, 400),
        (MERGE, {"metadata": {"namespace": "q"}}, 400),
        (MERGE, {"metadata": {"uid": "q"}}, 409),
        (MERGE, {"metadata": {"resourceVersion": "1"}}, 409),
        (MERGE, {"metadata": None}, 400),
        (MERGE, {"kind": "Node"}, 400),
    ],
)
def test_a_patch_that_does_not_fit_is_refused_and_changes_nothing(
    service, patch, stored_pod, refused, media_type, body, code
):
    assert refused(patch, media_type, body).code == code
    assert service.get(POD, "default", "p") is stored_pod


@pytest.mark.parametrize("media_type", ["application/apply-patch+yaml", "application/json", ""])
def test_other_formats_are_refused_with_those_that_are_known(patch, refused, media_type):
    error = refused(patch, media_type, {})
    assert (error.code, error.reason) == (415, "UnsupportedMediaType")
    assert f"{JSON}, {MERGE}, {STRATEGIC}" in error.message


def test_a_patch_of_what_is_not_there_is_not_found(service, refused):
    assert refused(service.patch, POD, "default", "q", Patch(MERGE, {})).code == 404


def test_an_empty_patch_is_no_write(service, patch, stored_pod):
    before = service.store.version
    assert patch(MERGE, {}) is stored_pod
    assert service.store.version == before


def test_unknown_fields_in_a_patch_are_reported(patch, refused):
    options = WriteOptions()
    patch(MERGE, {"metadata": {"colour": "red"}}, options=options)
    assert options.warnings == ['unknown field "metadata.colour"']
    strict = WriteOptions(field_validation="Strict")
    assert refused(patch, MERGE, {"size": 1}, options=strict).code == 400


def test_a_scheduling_kind_can_be_patched_without_a_version(service, pod_group):
    service.create(POD_GROUP, "default", pod_group())
    change = {"spec": {"schedulingPolicy": {"gang": {"minCount": 7}}}}
    patched = service.patch(POD_GROUP, "default", "g", Patch(MERGE, change))
    assert patched["spec"]["schedulingPolicy"]["gang"]["minCount"] == 7


def test_a_view_is_patched_in_its_own_words(service):
    event = {
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "message": "hello",
    }
    service.create(EVENT, "default", event)
    service.patch(EVENT_VIEW, "default", "e", Patch(MERGE, {"note": "bye"}))
    assert service.get(EVENT, "default", "e")["message"] == "bye"


def test_a_dry_run_keeps_nothing(service, patch, stored_pod):
    patched = patch(MERGE, {"metadata": {"labels": {"a": "2"}}}, options=WriteOptions(dry_run=True))
    assert patched["metadata"]["labels"] == {"a": "2"}
    assert service.get(POD, "default", "p") is stored_pod


def test_taking_the_last_finalizer_off_an_object_that_is_being_deleted_removes_it(service):
    body = {"metadata": {"name": "c", "finalizers": ["example.com/hold"]}}
    service.create(CONFIG_MAP, "default", body)
    service.delete(CONFIG_MAP, "default", "c")
    service.patch(CONFIG_MAP, "default", "c", Patch(MERGE, {"metadata": {"finalizers": None}}))
    assert service.list(CONFIG_MAP, None).items == []


def test_patches_cannot_make_an_object_larger_than_may_be_stored(service, refused):
    service.create(CONFIG_MAP, "default", {"metadata": {"name": "c"}, "data": {"x": "x" * 2_000_000}})
    steps = [{"op": "copy", "from": "/data/x", "path": "/data/y"}]
    error = refused(service.patch, CONFIG_MAP, "default", "c", Patch(JSON, steps))
    assert (error.code, error.reason) == (413, "RequestEntityTooLarge")
    error = refused(service.patch, CONFIG_MAP, "default", "c", Patch(JSON, steps * 2))
    assert (error.code, error.reason) == (422, "Invalid")


@pytest.mark.parametrize("steps", [2, 60])
def test_patches_cannot_nest_an_object_too_deeply(service, refused, steps):
    deep = {}
    for _ in range(40):
        deep = {"a": deep}
    service.create(CONFIG_MAP, "default", {"metadata": {"name": "c"}, "x": deep})
    moves = []
    for _ in range(steps):
        into = "/x" + "/a" * 40
        moves += [{"op": "copy", "from": "/x", "path": "/y"}, {"op": "add", "path": into, "value": {}}]
        moves += [{"op": "move", "from": "/y", "path": f"{into}/a"}]
    error = refused(service.patch, CONFIG_MAP, "default", "c", Patch(JSON, moves))
    assert (error.code, error.message) == (400, "what was sent is nested more than 100 levels deep")


def test_a_patch_is_applied_to_the_version_it_is_written_for(service, pod_group, refused):
    service.create(POD_GROUP, "default", pod_group())

    def apply(stated, version):
        steps = [{"op": "test", "path": "/apiVersion", "value": f"scheduling.k8s.io/{stated}"}]
        steps.append({"op": "add", "path": "/metadata/labels", "value": {"in": stated}})
        return service.patch(POD_GROUP, "default", "g", Patch(JSON, steps, version))

    assert apply("v1alpha3", "v1alpha3")["metadata"]["labels"] == {"in": "v1alpha3"}
    assert apply("v1beta1", "")["metadata"]["labels"] == {"in": "v1beta1"}
    assert refused(apply, "v1beta1", "v1alpha3").code == 422
    assert service.get(POD_GROUP, "default", "g")["apiVersion"] == "scheduling.k8s.io/v1beta1"


def test_a_patch_cannot_change_the_version(service, pod_group, refused):
    service.create(POD_GROUP, "default", pod_group())
    patch = Patch(MERGE, {"apiVersion": "scheduling.k8s.io/v1alpha3"}, "v1beta1")
    error = refused(service.patch, POD_GROUP, "default", "g", patch)
    assert error.code == 400
    assert "(scheduling.k8s.io/v1beta1)" in error.message
