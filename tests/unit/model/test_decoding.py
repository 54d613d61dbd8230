import msgspec
import pytest

from posse.model.decoding import ShapeError, decode, drop_nulls, known_part, unknown_fields
from posse.model.meta import OwnerReference, Shape
from posse.model.pod import Pod
from posse.model.workload import PodGroup, Workload


class Ledger(Shape):
    pages: dict[str, OwnerReference] = msgspec.field(default_factory=dict)


GANG = {
    "apiVersion": "scheduling.k8s.io/v1beta1",
    "kind": "PodGroup",
    "metadata": {"name": "trio", "namespace": "default"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": {"single": {}}},
}


def test_an_object_decodes_into_nested_structs():
    group = decode(PodGroup, GANG)
    assert group.metadata.name == "trio"
    assert group.spec.scheduling_policy.gang is not None
    assert group.spec.scheduling_policy.gang.min_count == 3
    assert group.spec.scheduling_policy.basic is None
    assert group.spec.disruption_mode is not None
    assert group.spec.disruption_mode.single is not None


def test_encoding_gives_back_what_was_decoded():
    assert msgspec.to_builtins(decode(PodGroup, GANG)) == GANG


def test_bytes_and_dicts_decode_alike():
    assert msgspec.json.decode(msgspec.json.encode(GANG), type=PodGroup) == decode(PodGroup, GANG)


def test_names_that_camel_case_cannot_make_are_read_too():
    pod = decode(
        Pod,
        {"spec": {"hostPID": True, "setHostnameAsFQDN": False}, "status": {"podIPs": [{"ip": "10.0.0.1"}]}},
    )
    assert pod.spec.host_pid
    assert pod.spec.set_hostname_as_fqdn is False
    assert pod.status.pod_ips[0].ip == "10.0.0.1"


def test_nulls_count_as_absent_at_every_depth():
    data = {"metadata": {"creationTimestamp": None, "labels": None}, "spec": {"podGroupTemplates": None}}
    assert decode(Workload, data) == Workload()


def test_dropping_nulls_keeps_list_positions_and_the_input():
    data = {"a": [1, None, {"b": None}], "c": None}
    assert drop_nulls(data) == {"a": [1, None, {}]}
    assert data == {"a": [1, None, {"b": None}], "c": None}


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        (
            {"spec": {"containers": [{"ports": [{}, {"hostPort": "80"}]}]}},
            "spec.containers[0].ports[1].hostPort",
            "expected an integer, got a string",
        ),
        ({"spec": {"priority": 1.5}}, "spec.priority", "expected an integer, got a number"),
        ({"spec": {"priority": 2**31}}, "spec.priority", "must be at most 2147483647"),
        ({"spec": {"priority": -(2**31) - 1}}, "spec.priority", "must be at least -2147483648"),
        ({"spec": {"hostNetwork": "yes"}}, "spec.hostNetwork", "expected a boolean, got a string"),
        ({"spec": {"affinity": []}}, "spec.affinity", "expected an object, got a list"),
        ({"spec": {"tolerations": {}}}, "spec.tolerations", "expected a list, got an object"),
        ({"spec": []}, "spec", "expected an object, got a list"),
        (
            {"metadata": {"labels": {"ok": "x", "version": 1}}},
            "metadata.labels.version",
            "expected a string, got an integer",
        ),
        ({"metadata": {"labels": {"on": True}}}, "metadata.labels.on", "expected a string, got a boolean"),
        (
            {"spec": {"overhead": {"cpu": 1, "memory": []}}},
            "spec.overhead.memory",
            "expected an integer or a number or a string, got a list",
        ),
        ({"spec": {"containers": [None]}}, "spec.containers[0]", "expected an object, got null"),
        ([], "", "expected an object, got a list"),
        ("text", "", "expected an object, got a string"),
    ],
)
def test_errors_name_the_field_and_speak_plainly(data, path, message):
    with pytest.raises(ShapeError) as caught:
        decode(Pod, data)
    assert (caught.value.path, caught.value.message) == (path, message)


def test_the_error_reads_as_one_sentence():
    with pytest.raises(ShapeError, match=r"^spec: expected an object, got a list$"):
        decode(Pod, {"spec": []})


def test_pods_as_servers_write_them_decode_straight_from_bytes():
    condition = {
        "type": "Ready",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": "2026-01-31T12:00:00Z",
    }
    pod = msgspec.json.decode(msgspec.json.encode({"status": {"conditions": [condition]}}), type=Pod)
    assert pod.status.conditions[0].last_probe_time is None


def test_unknown_fields_are_found_at_every_depth_in_order():
    data = {
        "kind": "Pod",
        "extra": 1,
        "spec": {
            "containers": [{"name": "a"}, {"imge": "x", "lifecycle": {"opaque": 1}}],
            "volumes": [{"name": "v", "persistentVolumeClaim": {"claim": "c"}, "emptyDir": {"anything": 1}}],
            "affinity": {"nodeAffinity": {"require": []}},
            "nodeSelector": {"free": "form"},
        },
    }
    assert unknown_fields(Pod, data) == [
        "extra",
        "spec.containers[1].imge",
        "spec.volumes[0].persistentVolumeClaim.claim",
        "spec.affinity.nodeAffinity.require",
    ]


def test_unknown_fields_of_wrongly_typed_data_are_left_to_decoding():
    assert unknown_fields(Pod, {"spec": {"containers": "none", "affinity": 3}}) == []
    assert unknown_fields(Pod, []) == []


def test_templates_nest_without_end():
    tree = {
        "compositePodGroupTemplates": [
            {"compositePodGroupTemplates": [{"podGroupTemplates": [{"nam": "x"}]}]}
        ]
    }
    path = "spec.compositePodGroupTemplates[0].compositePodGroupTemplates[0].podGroupTemplates[0].nam"
    assert unknown_fields(Workload, {"spec": tree}) == [path]


def test_unknown_fields_within_maps_are_named_by_key():
    assert unknown_fields(Ledger, {"pages": {"first": {"nam": "x"}}}) == ["pages[first].nam"]


def test_the_known_part_leaves_out_what_the_struct_does_not_have_and_nothing_else():
    pod = {
        "metadata": {"labels": {"any": "key"}, "colour": "red"},
        "spec": {
            "containers": [{"name": "c", "colour": "red"}, "not a container"],
            "securityContext": {"whatever": 1},
            "affinity": "not an affinity",
        },
        "colour": "red",
    }
    assert known_part(Pod, pod) == {
        "metadata": {"labels": {"any": "key"}},
        "spec": {
            "containers": [{"name": "c"}, "not a container"],
            "securityContext": {"whatever": 1},
            "affinity": "not an affinity",
        },
    }


def test_the_known_part_looks_into_maps_of_structs():
    pages = {"one": {"name": "a", "colour": "red"}, "two": 2}
    assert known_part(Ledger, {"pages": pages}) == {"pages": {"one": {"name": "a"}, "two": 2}}
    assert known_part(Ledger, {"pages": "none"}) == {"pages": "none"}


def test_an_error_within_a_list_within_a_map_names_the_key_that_has_the_list():
    """Found by `make fuzz`: the first key of the map has no such list."""

    class Inner(Shape):
        numbers: tuple[int, ...] | None = None

    class Outer(Shape):
        by_name: dict[str, Inner] = msgspec.field(default_factory=dict, name="byName")

    with pytest.raises(ShapeError) as error:
        decode(Outer, {"byName": {"first": {}, "second": {"numbers": [1, "x"]}}})
    assert error.value.path == "byName.second.numbers[1]"
