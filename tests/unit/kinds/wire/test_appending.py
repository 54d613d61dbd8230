"""Items are added to a stored object; the rest of it stays byte for byte."""

import pytest

from posse.kinds.wire.appending import appended
from posse.kinds.wire.reading import read_object
from posse.kinds.wire.values import bytes_field
from posse.kinds.wire.writing import enveloped

OPAQUE = b'{ "b" : 1,\n"a":2}'
META = bytes_field(1, b"c") + bytes_field(5, b"u") + bytes_field(14, b"old")
# spec.devices.config[0].opaque.parameters, as a client sent it; and a field that no table knows.
PARAMETERS = bytes_field(
    2, bytes_field(1, bytes_field(1, b"d.example.com") + bytes_field(2, bytes_field(1, OPAQUE)))
)
SPEC = bytes_field(1, bytes_field(3, PARAMETERS)) + bytes_field(900, b"of a newer release")
STATUS = bytes_field(2, bytes_field(3, b"pods") + bytes_field(4, b"one") + bytes_field(5, b"u1"))
CONTENT = bytes_field(1, META) + bytes_field(2, SPEC) + bytes_field(3, STATUS)
STORED = enveloped("resource.k8s.io/v1", "ResourceClaim", CONTENT)


def test_what_is_stored_stays_byte_for_byte():
    body = appended(STORED, {"metadata": {"uid": "u", "finalizers": ["old", "new"]}})
    assert bytes_field(2, SPEC) + bytes_field(3, STATUS) in body
    assert read_object(body)["metadata"]["finalizers"] == ["old", "new"]
    assert read_object(body)["spec"] == read_object(STORED)["spec"]


def test_reservations_are_added():
    consumer = {"resource": "pods", "name": "two", "uid": "u2"}
    body = appended(STORED, {"status": {"reservedFor": [consumer]}})
    assert [one["name"] for one in read_object(body)["status"]["reservedFor"]] == ["one", "two"]
    assert bytes_field(1, META) + bytes_field(2, SPEC) in body


def test_a_status_that_is_not_there_is_made():
    stored = enveloped("resource.k8s.io/v1", "ResourceClaim", bytes_field(1, META) + bytes_field(3, b""))
    consumer = {"resource": "pods", "name": "one", "uid": "u1"}
    for body in (stored, enveloped("resource.k8s.io/v1", "ResourceClaim", bytes_field(1, META))):
        made = read_object(appended(body, {"status": {"reservedFor": [consumer]}}))
        assert made["status"] == {"reservedFor": [consumer]}
        assert made["metadata"]["finalizers"] == ["old"]


@pytest.mark.parametrize(
    "patch",
    [
        {"metadata": {"uid": "another", "finalizers": ["new"]}},
        {"status": {"allocation": None, "reservedFor": None}},
        {"status": {"reservedFor": [{"$patch": "delete", "uid": "u1"}]}},
        {"spec": {"devices": {"requests": "none"}}},
    ],
    ids=["another object", "cleared", "deleted", "changed"],
)
def test_patches_that_do_more_than_add_are_not_for_this(patch):
    assert appended(STORED, patch) is None
