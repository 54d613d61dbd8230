"""kubectl apply --server-side: owners, conflicts, force, and coming from client-side apply."""

import json

import pytest

pytestmark = pytest.mark.kubectl

SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: '1', b: '1'}\n"


def owners(kubectl):
    obj = json.loads(kubectl("get configmap settings -o json --show-managed-fields"))
    return {(each["manager"], each["operation"]) for each in obj["metadata"]["managedFields"]}


def data(kubectl):
    return json.loads(kubectl("get configmap settings -o json"))["data"]


def test_apply_conflict_and_force(kubectl):
    assert "serverside-applied" in kubectl("apply --server-side -f -", manifest=SETTINGS)
    assert owners(kubectl) == {("kubectl", "Apply")}
    kubectl("patch configmap settings --type=merge -p", '{"data":{"a":"2"}}')
    assert owners(kubectl) == {("kubectl", "Apply"), ("kubectl-patch", "Update")}
    refusal = kubectl.refused("apply --server-side -f -", manifest=SETTINGS)
    assert 'conflict with "kubectl-patch" using v1: .data.a' in refusal
    kubectl("apply --server-side --force-conflicts -f -", manifest=SETTINGS)
    assert data(kubectl) == {"a": "1", "b": "1"}
    kubectl("apply --server-side -f -", manifest=SETTINGS.replace(", b: '1'", ""))
    assert data(kubectl) == {"a": "1"}


def test_a_dry_run_changes_nothing(kubectl):
    kubectl("apply --server-side -f -", manifest=SETTINGS)
    changed = SETTINGS.replace("b: '1'", "b: '2'")
    kubectl("apply --server-side --dry-run=server -f -", manifest=changed)
    assert data(kubectl)["b"] == "1"


def test_from_client_side_apply(kubectl):
    kubectl("apply -f -", manifest=SETTINGS)
    assert owners(kubectl) == {("kubectl-client-side-apply", "Update")}
    kubectl("apply --server-side -f -", manifest=SETTINGS.replace("a: '1', b: '1'", "a: '3'"))
    # kubectl keeps the annotation by a manager of its own.
    assert owners(kubectl) == {("kubectl", "Apply"), ("kubectl-last-applied", "Apply")}
    assert data(kubectl) == {"a": "3"}


def test_a_field_can_be_removed_after_the_move(kubectl):
    kubectl("apply -f -", manifest=SETTINGS)
    kubectl("apply --server-side -f -", manifest=SETTINGS)
    kubectl("apply --server-side -f -", manifest=SETTINGS.replace(", b: '1'", ""))
    assert data(kubectl) == {"a": "1"}
