"""Protobuf bodies become the JSON they stand for, or are refused; no bytes make the reader fail otherwise."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posse.apiserver.http.bodies import decode
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import KINDS
from posse.kinds.wire.messages import find_message
from posse.kinds.wire.reading import MAGIC, read_object
from posse.kinds.wire.values import ProtobufError

NAMED = sorted(
    (kind.api_version_of(version), kind.name)
    for kind in KINDS
    for version in kind.versions
    if find_message(kind.api_version_of(version), kind.name)
)

# What kubectl sends for `create namespace x`, byte by byte.
NAMESPACE_X = bytes.fromhex(
    "6b3873000a0f0a02763112094e616d65737061636512190a110a017812001a0022002a0032003800420012001a020a001a002200"
)


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def wrapped(api_version: str, kind: str, content: bytes, encoding: str = "") -> bytes:
    type_meta = field(1, api_version) + field(2, kind)
    return MAGIC + field(1, type_meta) + field(2, content) + field(3, encoding) + field(4, "")


def test_a_namespace_as_kubectl_sends_it():
    assert read_object(NAMESPACE_X) == {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "x"},
        "spec": {},
        "status": {},
    }


def test_every_served_kind_of_kubernetes_has_its_table():
    older = {"scheduling.k8s.io/v1alpha2", "scheduling.k8s.io/v1alpha1"}
    for kind in KINDS:
        for version in kind.versions:
            api_version = kind.api_version_of(version)
            is_of_kubernetes = "." not in kind.group or kind.group.endswith(".k8s.io")
            expected = is_of_kubernetes and api_version not in older
            assert bool(find_message(api_version, kind.name)) == expected, (api_version, kind.name)


def test_metadata_in_full():
    owner = field(1, "Job") + field(3, "j") + field(4, "u") + field(5, "batch/v1") + field(6, 1) + field(7, 0)
    metadata = (
        field(1, "a")
        + field(3, "ns")
        + field(7, 3)
        + field(8, field(1, 1_767_323_045) + field(2, 0))
        + field(11, field(1, "app") + field(2, "x"))
        + field(11, field(1, "empty") + field(2, ""))
        + field(13, owner)
        + field(14, "example.com/hold")
        + field(17, field(1, "me") + field(7, field(1, '{"f:spec":{}}')))
    )
    assert read_object(wrapped("v1", "ServiceAccount", field(1, metadata)))["metadata"] == {
        "name": "a",
        "namespace": "ns",
        "generation": 3,
        "creationTimestamp": "2026-01-02T03:04:05Z",
        "labels": {"app": "x", "empty": ""},
        "ownerReferences": [
            {"kind": "Job", "name": "j", "uid": "u", "apiVersion": "batch/v1", "controller": True}
            | {"blockOwnerDeletion": False}
        ],
        "finalizers": ["example.com/hold"],
        "managedFields": [{"manager": "me", "fieldsV1": {"f:spec": {}}}],
    }


def test_negative_numbers_and_zeros_that_matter():
    content = field(1, field(1, "low")) + field(2, -7) + field(3, 0)
    low = read_object(wrapped("scheduling.k8s.io/v1", "PriorityClass", content))
    assert (low["value"], "globalDefault" in low) == (-7, False)
    zero = read_object(wrapped("scheduling.k8s.io/v1", "PriorityClass", field(2, 0)))
    assert zero["value"] == 0


@pytest.mark.parametrize(
    ("amount", "expected"),
    [(field(1, 0) + field(2, 3) + field(3, ""), 3), (field(1, 1) + field(3, "50%"), "50%")],
)
def test_amounts_that_are_numbers_or_texts(amount, expected):
    body = wrapped("policy/v1", "PodDisruptionBudget", field(2, field(1, amount) + field(2, b"")))
    assert read_object(body)["spec"] == {"minAvailable": expected, "selector": {}}


def test_bytes_become_base64():
    data = field(2, field(1, "k") + field(2, b"\x00\xff"))
    assert read_object(wrapped("v1", "Secret", data))["data"] == {"k": "AP8="}


def test_a_job_as_kubectl_makes_it():
    container = field(1, "main") + field(2, "app:1") + field(3, "date") + field(5, "") + field(8, b"")
    pod = field(2, container) + field(3, "Never") + field(6, "") + field(11, 0)
    template = field(1, field(1, "")) + field(2, pod)
    job = read_object(wrapped("batch/v1", "Job", field(1, field(1, "j")) + field(2, field(6, template))))
    assert job["spec"]["template"]["spec"] == {
        "containers": [{"name": "main", "image": "app:1", "command": ["date"], "resources": {}}],
        "restartPolicy": "Never",
    }


def test_delete_options_in_any_group():
    content = field(1, 0) + field(2, field(1, "u")) + field(4, "Background") + field(5, "All")
    assert read_object(wrapped("policy/v1", "DeleteOptions", content)) == {
        "apiVersion": "policy/v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u"},
        "propagationPolicy": "Background",
        "dryRun": ["All"],
    }


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{}", "does not start with"),
        (NAMESPACE_X[:-3], "ends within"),
        (wrapped("v1", "Namespace", b"\x0b"), "wire type 3"),
        (wrapped("v1", "Namespace", field(1, 7)), "a number stands where"),
        (wrapped("v1", "Namespace", field(1, field(1, b"\xff"))), "not UTF-8"),
        (wrapped("v1", "Namespace", b"\xff" * 11), "too long"),
        (wrapped("v1", "Namespace", b"", "gzip"), "encoded once more"),
        (wrapped("jobset.x-k8s.io/v1alpha2", "JobSet", b""), "JobSet of jobset.x-k8s.io/v1alpha2 has no"),
        (wrapped("v1", "Namespace", field(1, field(11, field(1, 7)))), "key of a map"),
        (wrapped("apps/v1", "ControllerRevision", field(2, field(1, "{"))), "should be JSON"),
        (wrapped("scheduling.k8s.io/v1", "PriorityClass", field(2, "7")), "not a number"),
    ],
)
def test_what_cannot_be_read_is_refused(body, reason):
    with pytest.raises(ProtobufError, match=reason):
        read_object(body)
    with pytest.raises(ApiError) as refused:
        decode(body, "application/vnd.kubernetes.protobuf")
    assert refused.value.code == 415
    assert "send it as application/json" in refused.value.message


def test_fields_of_a_newer_release_are_skipped():
    newer = field(1, field(1, "x")) + field(99, "x") + field(98, 7) + b"\xb9\x06" + b"12345678"
    assert read_object(wrapped("v1", "Namespace", newer))["metadata"] == {"name": "x"}


def test_a_pod_with_inlined_volumes_quantities_and_probes():
    volume = field(1, "scratch") + field(2, field(2, field(1, "Memory") + field(2, field(1, "1Gi"))))
    requests = field(2, field(1, "cpu") + field(2, field(1, "500m")))
    probe = field(1, field(2, field(1, "/healthz") + field(2, field(1, 1) + field(3, "web")))) + field(4, 5)
    container = field(1, "main") + field(8, requests) + field(11, probe)
    pod = read_object(wrapped("v1", "Pod", field(2, field(1, volume) + field(2, container))))
    assert pod["spec"] == {
        "volumes": [{"name": "scratch", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}],
        "containers": [
            {
                "name": "main",
                "resources": {"requests": {"cpu": "500m"}},
                "readinessProbe": {"httpGet": {"path": "/healthz", "port": "web"}, "periodSeconds": 5},
            }
        ],
    }


def test_times_of_a_lease_have_microseconds():
    content = field(2, field(1, "me") + field(4, field(1, 1_767_323_045) + field(2, 250_000_999)))
    lease = read_object(wrapped("coordination.k8s.io/v1", "Lease", content))
    assert lease["spec"] == {"holderIdentity": "me", "renewTime": "2026-01-02T03:04:05.250000Z"}


@given(st.sampled_from(NAMED), st.binary(max_size=60))
def test_arbitrary_bytes_are_read_or_refused(named, content):
    with contextlib.suppress(ProtobufError):
        read_object(wrapped(*named, content))
    with contextlib.suppress(ProtobufError):
        read_object(wrapped(*named, field(1, content)))
    with contextlib.suppress(ProtobufError):
        read_object(MAGIC + content)


@given(st.integers(min_value=-(2**63), max_value=2**63 - 1))
def test_any_time_is_read_or_refused(seconds):
    body = wrapped("v1", "Namespace", field(1, field(8, field(1, seconds))))
    with contextlib.suppress(ProtobufError):
        read_object(body)


def test_the_number_of_fields_is_limited():
    names = field(1, field(1, "v1") + field(2, "Pod"))
    container = field(2, field(2, field(4, "") * 100_000))
    for body in (field(99, 1) * 300_001, field(2, field(2, b"") * 300_001), container * 4):
        with pytest.raises(ProtobufError, match="more than 300000 fields"):
            read_object(MAGIC + names + field(2, body))
