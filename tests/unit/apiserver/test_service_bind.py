"""Binding a pod to a node: effects and refusals."""

import copy

import pytest

from posse.kinds.registry import POD
from posse.transport.patches import Patch

MERGE = "application/merge-patch+json"


def binding(node="n1", **metadata):
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    return {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}


def set_status(service, status):
    service.patch(POD, "default", "p", Patch(MERGE, {"status": status}), subresource="status")


def test_binding_names_the_node_and_says_the_pod_is_scheduled(service, pod, clock):
    service.create(POD, "default", pod())
    waiting = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "lastTransitionTime": "2026-01-01T11:00:00Z",
    }
    other = {"type": "Other", "status": "True"}
    set_status(service, {"nominatedNodeName": "n9", "conditions": [waiting, other]})
    before = service.get(POD, "default", "p")
    unbound = copy.deepcopy(before)
    clock.now += 5
    bound = service.bind("default", "p", binding(name="p", uid=before["metadata"]["uid"]))
    assert bound["spec"]["nodeName"] == "n1"
    assert "nominatedNodeName" not in bound["status"]
    assert bound["status"]["conditions"] == [
        other,
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T12:00:05Z"},
    ]
    assert bound["metadata"]["generation"] == before["metadata"]["generation"]
    assert before == unbound, "the stored version was not edited"


def test_labels_and_annotations_of_the_binding_go_to_the_pod(service, pod):
    service.create(POD, "default", pod(metadata={"labels": {"a": "1"}}))
    bound = service.bind("default", "p", binding(labels={"b": "2"}, annotations={"c": "3"}))
    assert bound["metadata"]["labels"] == {"a": "1", "b": "2"}
    assert bound["metadata"]["annotations"] == {"c": "3"}


def test_a_pod_is_bound_once(service, pod, refused):
    service.create(POD, "default", pod())
    service.bind("default", "p", binding())
    error = refused(service.bind, "default", "p", binding("n2"))
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"'
    )


def test_a_pod_being_deleted_is_not_bound(service, pod, refused):
    service.create(POD, "default", pod(metadata={"finalizers": ["example.com/hold"]}))
    service.delete(POD, "default", "p")
    error = refused(service.bind, "default", "p", binding())
    assert error.message.endswith("pod p is being deleted, cannot be assigned to a host")


def test_a_gated_pod_is_not_bound(service, pod, refused):
    service.create(POD, "default", pod(schedulingGates=[{"name": "example.com/wait"}]))
    error = refused(service.bind, "default", "p", binding())
    assert error.code == 409
    assert error.message.endswith("pod p has non-empty .spec.schedulingGates")


def test_another_pod_of_the_same_name_is_not_bound(service, pod, refused):
    service.create(POD, "default", pod())
    error = refused(service.bind, "default", "p", binding(uid="earlier"))
    assert error.code == 409
    assert "Precondition failed: UID in precondition: earlier" in error.message


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"target": {"kind": "Node"}}, 422),
        ({"target": {"kind": "Pod", "name": "x"}}, 422),
        ({"target": "n1"}, 400),
        ({"metadata": {"name": "other"}, "target": {"name": "n1"}}, 400),
        ({}, 422),
    ],
)
def test_a_malformed_binding_is_refused(service, pod, refused, body, code):
    service.create(POD, "default", pod())
    assert refused(service.bind, "default", "p", body).code == code
    assert "nodeName" not in service.get(POD, "default", "p")["spec"]


def test_an_absent_pod_is_not_found(service, refused):
    error = refused(service.bind, "default", "p", binding())
    assert (error.code, error.message) == (404, 'pods "p" not found')
