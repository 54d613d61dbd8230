"""What is written as protobuf is read back as what it was."""

import pytest

from posse.kinds.wire.reading import read_object
from posse.kinds.wire.values import ProtobufError
from posse.kinds.wire.writing import write_object

OBJECTS = [
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "labels": {"b": "1", "a": "2"},
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {"f:nodeName": {}}}}],
        },
        "spec": {
            "containers": [{"name": "c", "ports": [{"containerPort": 80}], "resources": {}}],
            "volumes": [{"name": "v", "emptyDir": {}}],
            "priority": -5,
            "hostNetwork": True,
        },
        "status": {},
    },
    {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "l"},
        "spec": {"renewTime": "2026-01-02T03:04:05.250000Z", "leaseTransitions": 0},
    },
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 0, "maxUnavailable": "50%", "selector": {}},
    },
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"k": "AP8="}},
    {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "code": 404},
    {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "s"}, "spec": {"replicas": 3}},
]


@pytest.mark.parametrize("obj", OBJECTS, ids=lambda obj: obj["kind"])
def test_objects_come_back_as_they_were(obj):
    assert read_object(write_object(obj)) == obj


def test_amounts_may_be_numbers():
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {}, "status": {"capacity": {"cpu": 4, "x": 1.5}}}
    assert read_object(write_object(node))["status"]["capacity"] == {"cpu": "4", "x": "1.5"}


def test_a_kind_without_a_message_cannot_be_written():
    with pytest.raises(ProtobufError):
        write_object({"apiVersion": "example.com/v1", "kind": "Gadget"})


@pytest.mark.parametrize(
    "status",
    [
        {"images": "text"},
        {"images": ["text"]},
        {"images": [None]},
        {"images": [{"names": {}}]},
        {"allocatable": ["text"]},
        {"nodeInfo": "text"},
        {"daemonEndpoints": {"kubeletEndpoint": {"Port": "text"}}},
        {"conditions": [{"lastHeartbeatTime": "yesterday"}]},
    ],
    ids=str,
)
def test_values_that_do_not_fit_are_left_out_and_the_others_written(status):
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {**status, "phase": "Running"},
    }
    read = read_object(write_object(node))
    assert read["metadata"] == {"name": "n"}
    assert read["status"]["phase"] == "Running"
    assert "text" not in str(read)
    assert "yesterday" not in str(read)
