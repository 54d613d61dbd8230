"""All fields of a new object are found in one walk; comparing it with an empty one finds the same."""

import msgspec
import pytest

from posse.kinds.apply.field_sets import in_order
from posse.kinds.apply.field_types import type_of
from posse.kinds.apply.fields import differences, everything, ownable
from posse.kinds.registry import CONFIG_MAP, JOB, POD, POD_GROUP, SERVICE

CONTAINER = {
    "name": "main",
    "image": "app:1",
    "ports": [{"containerPort": 443, "protocol": "TCP"}, {"containerPort": 80, "protocol": "TCP"}],
    "env": [{"name": "B", "value": "1"}, {"name": "A"}],
    "resources": {"requests": {"memory": "1Gi", "cpu": "1"}, "limits": {}},
    "args": ["z", "a"],
}
POD_SPEC = {
    "tolerations": [{"key": "b", "operator": "Exists"}],
    "containers": [CONTAINER | {"name": "second"}, CONTAINER],
    "securityContext": {},
    "volumes": [],
    "affinity": {"nodeAffinity": {}},
}
METADATA = {
    "name": "x",
    "uid": "u",
    "labels": {"b": "2", "a": "1"},
    "annotations": {},
    "finalizers": ["z", "a"],
}
OBJECTS = [
    (POD, {"metadata": METADATA, "spec": POD_SPEC, "status": {"phase": "Pending"}}),
    (POD, {"metadata": {"name": "x"}, "spec": {"containers": "none"}, "extra": {"of": ["nowhere"]}}),
    (CONFIG_MAP, {"metadata": {}, "data": {"b": "1", "a": ""}, "binaryData": {}, "immutable": False}),
    (SERVICE, {"metadata": METADATA, "spec": {"ports": [{"port": 80}, {"port": 79, "protocol": "UDP"}]}}),
    (JOB, {"metadata": METADATA, "spec": {"template": {"spec": POD_SPEC}, "completions": 0}}),
    (POD_GROUP, {"metadata": METADATA, "spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}),
]


@pytest.mark.parametrize(("kind", "obj"), OBJECTS)
def test_all_fields_are_those_by_which_it_differs_from_an_empty_object(kind, obj):
    field_type = type_of(kind, kind.storage_version)
    compared = differences(field_type, {"metadata": {}}, ownable(obj)).changed
    # The order counts, since clients compare the text.
    assert msgspec.json.encode(everything(field_type, obj)) == msgspec.json.encode(in_order(compared))
