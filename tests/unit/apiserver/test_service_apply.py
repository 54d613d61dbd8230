"""Server-side apply: who owns which field, what conflicts, and what goes when it is applied no longer."""

import pytest

from posse.apiserver import service as service_module
from posse.apiserver.incoming import accept
from posse.apiserver.requests import WriteOptions
from posse.kinds.apply.applying import LAST_APPLIED
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import CONFIG_MAP, JOB_SET, POD, POD_GROUP, SERVICE
from posse.transport.patches import APPLY_PATCH, MERGE_PATCH, Patch


@pytest.fixture
def apply(service):
    def call(kind, config, manager="me", *, force=False, dry_run=False, subresource=""):
        options = WriteOptions(field_manager=manager, force=force, dry_run=dry_run)
        config = {"apiVersion": kind.api_version, "kind": kind.name} | config
        patch = Patch(APPLY_PATCH, config, kind.storage_version)
        name = config["metadata"]["name"]
        obj, _ = service.apply(kind, "default", name, patch, subresource=subresource, options=options)
        return obj

    return call


@pytest.fixture
def merge(service):
    def call(kind, name, change, manager):
        patch = Patch(MERGE_PATCH, change, kind.storage_version)
        return service.patch(kind, "default", name, patch, options=WriteOptions(field_manager=manager))

    return call


def settings(**data):
    return {"metadata": {"name": "settings"}, "data": data}


def owned(obj):
    return {
        (entry["manager"], entry["operation"]): entry["fieldsV1"]
        for entry in obj["metadata"]["managedFields"]
    }


def container(name, **fields):
    return {"name": name, "image": "x:1", **fields}


def pod(*containers, **metadata):
    return {"metadata": {"name": "p", **metadata}, "spec": {"containers": list(containers)}}


def test_what_is_applied_first_is_created_and_owned(apply, service):
    created = apply(CONFIG_MAP, settings(a="1"))
    assert owned(created) == {("me", "Apply"): {"f:data": {"f:a": {}}}}
    [entry] = created["metadata"]["managedFields"]
    assert (entry["apiVersion"], entry["fieldsType"], bool(entry["time"])) == ("v1", "FieldsV1", True)
    assert service.get(CONFIG_MAP, "default", "settings")["data"] == {"a": "1"}


def test_the_same_again_changes_nothing(apply, clock):
    first = apply(CONFIG_MAP, settings(a="1"))
    clock.now += 60
    assert apply(CONFIG_MAP, settings(a="1")) is first


def test_what_is_applied_no_longer_is_removed(apply):
    apply(CONFIG_MAP, settings(a="1", b="2"))
    assert apply(CONFIG_MAP, settings(b="2"))["data"] == {"b": "2"}


def test_the_last_label_can_go(apply):
    apply(CONFIG_MAP, {"metadata": {"name": "settings", "labels": {"x": "1"}}})
    left = apply(CONFIG_MAP, {"metadata": {"name": "settings"}})
    assert left["metadata"]["name"] == "settings"
    assert "labels" not in left["metadata"]


def test_what_another_applied_too_stays(apply):
    apply(CONFIG_MAP, settings(a="1"))
    both = apply(CONFIG_MAP, settings(a="1"), "you")
    assert owned(both) == {
        ("me", "Apply"): {"f:data": {"f:a": {}}},
        ("you", "Apply"): {"f:data": {"f:a": {}}},
    }
    left = apply(CONFIG_MAP, {"metadata": {"name": "settings"}})
    assert left["data"] == {"a": "1"}
    assert set(owned(left)) == {("you", "Apply")}


def test_another_value_conflicts_and_can_be_forced(apply):
    apply(CONFIG_MAP, settings(a="1"))
    with pytest.raises(ApiError) as refused:
        apply(CONFIG_MAP, settings(a="2"), "you")
    assert (refused.value.code, refused.value.reason) == (409, "Conflict")
    assert refused.value.message == 'Apply failed with 1 conflict: conflict with "me": .data.a'
    assert refused.value.details == {
        "causes": [{"reason": "FieldManagerConflict", "message": 'conflict with "me"', "field": ".data.a"}]
    }
    taken = apply(CONFIG_MAP, settings(a="2"), "you", force=True)
    assert (taken["data"], set(owned(taken))) == ({"a": "2"}, {("you", "Apply")})


def test_several_conflicts_are_listed_by_owner(apply, merge):
    apply(CONFIG_MAP, settings(a="1", b="1"))
    merge(CONFIG_MAP, "settings", {"data": {"c": "1"}}, "editor")
    with pytest.raises(ApiError) as refused:
        apply(CONFIG_MAP, settings(a="2", b="2", c="2"), "you")
    assert refused.value.message == (
        'Apply failed with 3 conflicts: conflicts with "editor" using v1:\n- .data.c\n'
        'conflicts with "me":\n- .data.a\n- .data.b'
    )


def test_an_update_takes_over_what_it_changes(apply, merge):
    apply(CONFIG_MAP, settings(a="1", b="1"))
    changed = merge(CONFIG_MAP, "settings", {"data": {"a": "2"}}, "editor")
    assert owned(changed) == {
        ("me", "Apply"): {"f:data": {"f:b": {}}},
        ("editor", "Update"): {"f:data": {"f:a": {}}},
    }
    with pytest.raises(ApiError, match=r'conflict with "editor" using v1: \.data\.a'):
        apply(CONFIG_MAP, settings(a="1", b="1"))


def test_what_is_removed_belongs_to_nobody(apply, merge):
    apply(CONFIG_MAP, settings(a="1", b="1"))
    assert owned(merge(CONFIG_MAP, "settings", {"data": {"a": None}}, "editor")) == {
        ("me", "Apply"): {"f:data": {"f:b": {}}}
    }


def test_items_of_a_list_are_paired_by_key(apply):
    apply(POD, pod(container("a"), container("b", env=[{"name": "X", "value": "1"}])))
    two = apply(POD, pod(container("b", image="x:2")), "you", force=True)
    assert [each["image"] for each in two["spec"]["containers"]] == ["x:1", "x:2"]
    fields = owned(two)["me", "Apply"]["f:spec"]["f:containers"]
    assert set(fields) == {'k:{"name":"a"}', 'k:{"name":"b"}'}
    assert fields['k:{"name":"b"}']["f:env"] == {'k:{"name":"X"}': {".": {}, "f:name": {}, "f:value": {}}}


def test_ports_have_two_keys_and_a_default(apply):
    web = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80, "name": "http"}]}}
    udp = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80, "protocol": "UDP", "name": "quic"}]}}
    apply(SERVICE, web)
    both = apply(SERVICE, udp, "you")
    assert [(each["port"], each["protocol"]) for each in both["spec"]["ports"]] == [(80, "TCP"), (80, "UDP")]
    left = apply(SERVICE, {"metadata": {"name": "web"}}, "you")
    assert [each["name"] for each in left["spec"]["ports"]] == ["http"]
    assert list(owned(left)["me", "Apply"]["f:spec"]["f:ports"]) == ['k:{"port":80,"protocol":"TCP"}']


def test_finalizers_are_a_set_and_commands_are_whole(apply):
    apply(POD, pod(container("a", command=["x", "y"]), finalizers=["example.com/a"]))
    both = apply(POD, {"metadata": {"name": "p", "finalizers": ["example.com/b"]}}, "you")
    assert both["metadata"]["finalizers"] == ["example.com/a", "example.com/b"]
    assert owned(both)["you", "Apply"] == {"f:metadata": {"f:finalizers": {'v:"example.com/b"': {}}}}
    fields = owned(both)["me", "Apply"]["f:spec"]["f:containers"]['k:{"name":"a"}']
    assert fields["f:command"] == {}


def test_kinds_that_are_not_of_kubernetes(apply):
    template = {"spec": {"template": {"spec": {"containers": [container("a")], "restartPolicy": "Never"}}}}
    jobs = [{"name": "workers", "replicas": 1, "template": template}]
    made = apply(JOB_SET, {"metadata": {"name": "set"}, "spec": {"replicatedJobs": jobs}})
    fields = owned(made)["me", "Apply"]["f:spec"]["f:replicatedJobs"]
    assert list(fields) == ['k:{"name":"workers"}']


def test_objects_of_unknown_origin_belong_to_an_unknown_writer(apply, service):
    service.create(CONFIG_MAP, "default", settings(a="1"))
    with pytest.raises(ApiError, match=r'conflict with "before-first-apply" using v1: \.data\.a'):
        apply(CONFIG_MAP, settings(a="2"))
    assert set(owned(apply(CONFIG_MAP, settings(b="2")))) == {
        ("before-first-apply", "Update"),
        ("me", "Apply"),
    }


def test_writes_without_a_manager_leave_owners_as_they_are(apply, service):
    first = apply(CONFIG_MAP, settings(a="1"))
    changed = service.update(CONFIG_MAP, "default", "settings", settings(a="2"))
    assert changed["metadata"]["managedFields"] == first["metadata"]["managedFields"]
    plain = service.create(CONFIG_MAP, "default", {"metadata": {"name": "plain"}})
    assert "managedFields" not in plain["metadata"]


def test_creators_own_all_but_status(service):
    options = WriteOptions(field_manager="maker")
    body = {"apiVersion": "v1", "kind": "Pod"} | pod(container("a"), labels={"x": "y"})
    created = service.create(POD, "default", body, options)
    fields = owned(created)["maker", "Update"]
    assert set(fields) == {"f:metadata", "f:spec"}
    assert fields["f:metadata"] == {"f:labels": {".": {}, "f:x": {}}}
    assert fields["f:spec"]["f:restartPolicy"] == {}


@pytest.mark.parametrize("empty", [[], [{}]])
def test_an_empty_list_clears_all_owners(apply, merge, empty):
    apply(CONFIG_MAP, settings(a="1"))
    cleared = merge(CONFIG_MAP, "settings", {"metadata": {"managedFields": empty}}, "editor")
    assert "managedFields" not in cleared["metadata"]


def test_clients_can_write_the_entries(apply, merge):
    entries = apply(CONFIG_MAP, settings(a="1"))["metadata"]["managedFields"]
    renamed = [{**entries[0], "manager": "kubectl"}]
    assert owned(merge(CONFIG_MAP, "settings", {"metadata": {"managedFields": renamed}}, "editor")) == {
        ("kubectl", "Apply"): {"f:data": {"f:a": {}}}
    }
    broken = [{"manager": 7, "operation": "Guess"}]
    kept = merge(CONFIG_MAP, "settings", {"metadata": {"managedFields": broken}}, "editor")
    assert set(owned(kept)) == {("kubectl", "Apply")}


def test_kubectl_takes_over_what_it_applied_by_itself(service, apply, merge):
    last = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"a":"1"}}'
    body = settings(a="1", b="1")
    body["metadata"]["annotations"] = {LAST_APPLIED: last}
    service.create(CONFIG_MAP, "default", body, WriteOptions(field_manager="kubectl-client-side-apply"))
    with pytest.raises(ApiError, match="1 conflict"):
        apply(CONFIG_MAP, settings(a="2"))
    taken = apply(CONFIG_MAP, settings(a="2"), "kubectl")
    assert taken["data"] == {"a": "2", "b": "1"}
    # In the order of kubectl, which compares the text.
    noted = taken["metadata"]["annotations"][LAST_APPLIED]
    assert noted == (
        '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"settings"}}\n'
    )
    with pytest.raises(ApiError, match=r"1 conflict.*\.data\.b"):
        apply(CONFIG_MAP, settings(a="2", b="2"), "kubectl")


def test_status_is_applied_by_its_subresource(apply):
    apply(POD, pod(container("a")))
    config = {"metadata": {"name": "p"}, "status": {"phase": "Running", "message": "fine"}}
    changed = apply(POD, config, subresource="status")
    entry = next(each for each in changed["metadata"]["managedFields"] if each.get("subresource"))
    assert (changed["status"]["phase"], entry["subresource"]) == ("Running", "status")
    assert entry["fieldsV1"] == {"f:status": {"f:phase": {}, "f:message": {}}}
    assert apply(POD, config | pod(container("a")))["status"]["phase"] == "Running"


def test_many_writers_are_joined(apply, merge):
    apply(CONFIG_MAP, settings(a="1"))
    for number in range(12):
        changed = merge(CONFIG_MAP, "settings", {"data": {f"k{number}": "1"}}, f"writer-{number}")
    managers = {entry["manager"] for entry in changed["metadata"]["managedFields"]}
    assert ("ancient-changes" in managers, len(managers)) == (True, 11)


@pytest.mark.parametrize(
    ("config", "manager", "code", "text"),
    [
        (settings(a="1"), "", 422, "fieldManager: Required value: is required for apply patch"),
        (settings(a="1"), "x" * 129, 422, "fieldManager: Too long"),
        ({"metadata": {"name": "settings", "managedFields": [{}]}}, "me", 400, "managedFields must be nil"),
        ({"apiVersion": "v2", "metadata": {"name": "settings"}}, "me", 400, "does not match the expected"),
        ({"apiVersion": "", "metadata": {"name": "settings"}}, "me", 400, "must say its apiVersion"),
    ],
)
def test_what_cannot_be_applied(apply, config, manager, code, text):
    with pytest.raises(ApiError, match=text) as refused:
        apply(CONFIG_MAP, config, manager)
    assert refused.value.code == code


def test_a_list_that_names_an_item_twice(apply):
    with pytest.raises(ApiError, match="duplicate entries for key"):
        apply(POD, pod(container("a"), container("a")))


def test_the_stored_object_is_never_edited(apply, service):
    apply(POD, pod(container("a")))
    before = repr(service.get(POD, "default", "p"))
    with pytest.raises(ApiError):
        apply(POD, pod(container("a", image="")), force=True)
    assert repr(service.get(POD, "default", "p")) == before


def test_owned_fields_are_sorted_since_clients_compare_the_text(service):
    data = {f"key-{number}": "x" for number in range(20)}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", **settings(**data)}
    created = service.create(CONFIG_MAP, "default", obj, options=WriteOptions(field_manager="me"))
    owned_data = owned(created)["me", "Update"]["f:data"]
    assert [element for element in owned_data if element != "."] == sorted(f"f:{key}" for key in data)
    later = dict.fromkeys(data, "y")
    patch = Patch(MERGE_PATCH, {"data": later}, CONFIG_MAP.storage_version)
    changed = service.patch(
        CONFIG_MAP, "default", "settings", patch, options=WriteOptions(field_manager="other")
    )
    assert list(owned(changed)["other", "Update"]["f:data"]) == sorted(f"f:{key}" for key in data)


def test_a_configuration_that_is_nested_without_end_is_refused(apply):
    deep = {}
    for _ in range(900):
        deep = {"x": deep}
    with pytest.raises(ApiError, match="nested more than 100 levels deep"):
        apply(CONFIG_MAP, settings(a="1") | {"deep": deep})


def test_of_many_conflicts_the_first_are_named(apply):
    names = [f"k{number:03}" for number in range(130)]
    apply(CONFIG_MAP, settings(**dict.fromkeys(names, "1")), "me")
    with pytest.raises(ApiError) as raised:
        apply(CONFIG_MAP, settings(**dict.fromkeys(names, "2")), "you")
    assert raised.value.message.startswith("Apply failed with 130 conflicts: conflicts with")
    assert raised.value.message.endswith("\nand 30 more")
    assert len(raised.value.status["details"]["causes"]) == 100


def test_the_number_of_owners_is_limited(apply, monkeypatch):
    monkeypatch.setattr("posse.apiserver.patches.MAX_OWNERS", 3)
    for manager in "abc":
        apply(CONFIG_MAP, settings(a="1"), manager)
    with pytest.raises(ApiError, match="more than 3 owners"):
        apply(CONFIG_MAP, settings(a="1"), "d")
    assert apply(CONFIG_MAP, settings(a="1", b="2"), "c")["data"] == {"a": "1", "b": "2"}


def test_a_configuration_of_too_many_values_is_refused_before_it_is_merged(apply, monkeypatch):
    monkeypatch.setattr("posse.apiserver.patches.applied", lambda *_: pytest.fail("it was merged"))
    apply(CONFIG_MAP, settings(a="1"))
    with pytest.raises(ApiError, match="Posse takes at most 100000"):
        apply(CONFIG_MAP, settings(a="2") | {"x": [0] * 100_000})


def test_entries_of_other_managers_are_not_read_again(apply, monkeypatch):
    """They may be far larger than the object: each apply would cost all that were made before."""
    for number in range(20):
        before = apply(CONFIG_MAP, settings(a="1"), manager=f"m{number:02}")
    read = []
    monkeypatch.setattr(
        service_module, "accept", lambda kind, body, *rest: read.append(body) or accept(kind, body, *rest)
    )
    after = apply(CONFIG_MAP, settings(a="1", b="2"), manager="m00")
    assert ["managedFields" in body["metadata"] for body in read] == [False]
    kept = {id(entry) for entry in before["metadata"]["managedFields"]}
    assert sum(id(entry) in kept for entry in after["metadata"]["managedFields"]) == 19


def test_a_field_of_the_wrong_shape_in_an_older_version_is_refused(service):
    """It is converted to be compared with what is stored, so it must be judged before."""
    group = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup", "metadata": {"name": "g"}}
    group["spec"] = {"schedulingPolicy": {"gang": {"minCount": 3}}}
    options = WriteOptions(field_manager="me")
    service.apply(POD_GROUP, "default", "g", Patch(APPLY_PATCH, group, "v1alpha2"), options=options)
    group["spec"] |= {"disruptionMode": {"all": {}}}
    with pytest.raises(ApiError, match="cannot be handled as a PodGroup"):
        service.apply(POD_GROUP, "default", "g", Patch(APPLY_PATCH, group, "v1alpha2"), options=options)
