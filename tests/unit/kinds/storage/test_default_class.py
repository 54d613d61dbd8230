"""Claims that name no storage class get the default one."""

import pytest

from posse.kinds.storage.default_class import IS_DEFAULT_CLASS, fill_default_class


def storage_class(name, created="2026-01-01T00:00:00Z", default="true"):
    annotations = {IS_DEFAULT_CLASS: default}
    return {"metadata": {"name": name, "creationTimestamp": created, "annotations": annotations}}


OLD, NEW = storage_class("old"), storage_class("new", "2026-02-01T00:00:00Z")
NOT_DEFAULT = storage_class("other", "2026-03-01T00:00:00Z", "false")


@pytest.mark.parametrize(
    ("classes", "spec", "expected"),
    [
        ([NEW, OLD, NOT_DEFAULT], {}, "new"),
        ([NOT_DEFAULT, {"metadata": {"name": "plain"}}], {}, None),
        ([NEW], {"storageClassName": ""}, ""),
        ([NEW], {"storageClassName": "mine"}, "mine"),
    ],
)
def test_the_newest_default_class_is_filled_in(classes, spec, expected):
    claim = {"metadata": {}, "spec": dict(spec)}
    fill_default_class(claim, classes)
    assert claim["spec"].get("storageClassName") == expected


def test_the_older_annotation_names_a_class_too():
    claim = {"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "x"}}, "spec": {}}
    fill_default_class(claim, [NEW])
    assert claim["spec"] == {}
