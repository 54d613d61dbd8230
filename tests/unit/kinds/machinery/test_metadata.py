"""Metadata rules, which all kinds share; shown on ConfigMap (namespaced) and Node (not)."""

import pytest

from posse.kinds.registry import CONFIG_MAP, KINDS, NAMESPACE, NODE
from posse.model.decoding import decode

OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "u"}
GOOD = {
    "metadata": {
        "name": "a.b-c",
        "generateName": "a.b-",
        "namespace": "ns",
        "labels": {"example.com/app": "x_1", "empty": ""},
        "annotations": {"example.com/Note": "anything at all"},
        "ownerReferences": [OWNER],
        "finalizers": ["example.com/guard", "foregroundDeletion"],
    }
}


def test_good(problems):
    assert problems(CONFIG_MAP, GOOD) == []


CASES = {
    "no name": (
        {"name": None, "generateName": None},
        "name: Required value: name or generateName is required",
    ),
    "no namespace": ({"namespace": None}, "namespace: Required value"),
    "namespace with dots": ({"namespace": "a.b"}, 'namespace: Invalid value: "a.b": must not contain dots'),
    "empty label prefix": (
        {"labels": {"/a": "x"}},
        'labels: Invalid value: "/a": prefix part must be non-empty',
    ),
    "long label": (
        {"labels": {"a": "x" * 64}},
        f'labels: Invalid value: "{"x" * 64}": must be no more than 63 bytes',
    ),
    "annotation key": (
        {"annotations": {"/A": "x"}},
        'annotations: Invalid value: "/A": prefix part must be non-empty',
    ),
    "large annotations": (
        {"annotations": {"a": "x" * 262144}},
        "annotations: Too long: may not be more than 262144 bytes",
    ),
    "owner without uid": (
        {"ownerReferences": [OWNER | {"uid": ""}]},
        'ownerReferences[0].uid: Invalid value: "": must not be empty',
    ),
    "owner without version": (
        {"ownerReferences": [OWNER | {"apiVersion": ""}]},
        'ownerReferences[0].apiVersion: Invalid value: "": version must not be empty',
    ),
    "unqualified finalizer": (
        {"finalizers": ["guard"]},
        'finalizers[0]: Invalid value: "guard": name is neither a standard finalizer name nor is it fully qualified',
    ),
    "contradicting finalizers": (
        {"finalizers": ["orphan", "foregroundDeletion"]},
        (
            'finalizers: Invalid value: ["orphan","foregroundDeletion"]: '
            "finalizer orphan and foregroundDeletion cannot be both set"
        ),
    ),
}


@pytest.mark.parametrize(("metadata", "problem"), CASES.values(), ids=CASES.keys())
def test_refused(problems, metadata, problem):
    assert problems(CONFIG_MAP, GOOD, {"metadata": metadata}) == [f"metadata.{problem}"]


def test_bad_name_prefix(problems):
    found = problems(CONFIG_MAP, GOOD, {"metadata": {"generateName": "A-"}})
    assert [text.split(": a lowercase")[0] for text in found] == [
        'metadata.generateName: Invalid value: "A-"'
    ]


def test_two_controllers(problems):
    owners = [OWNER | {"controller": True}, OWNER | {"controller": True, "name": "k"}]
    found = problems(CONFIG_MAP, GOOD, {"metadata": {"ownerReferences": owners}})
    assert found[0].startswith("metadata.ownerReferences: Invalid value: [")
    assert found[0].endswith(
        'Only one reference can have Controller set to true. Found "true" in references for j and k'
    )


def test_cluster_wide_objects_have_no_namespace(problems):
    found = problems(NODE, {"metadata": {"name": "n", "namespace": "ns"}})
    assert found == ["metadata.namespace: Forbidden: not allowed on this type"]


def test_namespaces_are_labels(problems):
    assert problems(NAMESPACE, {"metadata": {"name": "a.b"}}) == [
        'metadata.name: Invalid value: "a.b": must not contain dots'
    ]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.group_resource)
def test_every_kind_asks_for_a_name(kind):
    found = [str(error) for error in kind.rules.validate(decode(kind.stored.struct, {}))]
    assert "metadata.name: Required value: name or generateName is required" in found
    assert ("metadata.namespace: Required value" in found) == kind.namespaced


SERVER_FIELDS = {
    "name": "other",
    "namespace": "other",
    "uid": "other",
    "creationTimestamp": "2027-01-01T00:00:00Z",
}


@pytest.mark.parametrize("field", SERVER_FIELDS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.group_resource)
def test_identity_never_changes(kind, field):
    metadata = {"name": "a", "namespace": "ns", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
    old = decode(kind.stored.struct, {"metadata": metadata})
    new = decode(kind.stored.struct, {"metadata": metadata | {field: SERVER_FIELDS[field]}})
    found = [str(error) for error in kind.rules.validate_update(new, old)]
    value = SERVER_FIELDS[field]
    assert f'metadata.{field}: Invalid value: "{value}": field is immutable' in found


def test_labels_are_checked_when_they_change(update_problems):
    found = update_problems(CONFIG_MAP, GOOD, {"metadata": {"labels": {"/a": "x"}}})
    assert found == ['metadata.labels: Invalid value: "/a": prefix part must be non-empty']


def test_no_new_finalizers_on_the_way_out(update_problems):
    going = {"metadata": {"name": "a", "namespace": "ns", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    found = update_problems(CONFIG_MAP, going, {"metadata": {"finalizers": ["a.com/b"]}})
    assert found == [
        (
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, "
            "found new finalizers ['a.com/b']"
        )
    ]
