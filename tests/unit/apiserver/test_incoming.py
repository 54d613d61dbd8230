"""Bodies in versions whose shape differs from what is stored: judged in the shape they are sent in, then converted."""

import pytest

from posse.apiserver.incoming import accept
from posse.apiserver.requests import WriteOptions
from posse.kinds.machinery.errors import ApiError
from posse.kinds.registry import EVENT_VIEW, WORKLOAD


def body(**group):
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha1",
        "metadata": {"name": "w"},
        "spec": {"podGroups": [{"name": "g", **group}]},
    }


def test_an_older_shape_is_taken_without_complaint():
    options = WriteOptions(field_validation="Strict")
    accepted = accept(WORKLOAD, body(policy={"gang": {"minCount": 3}}), options)
    template = {"name": "g", "schedulingPolicy": {"gang": {"minCount": 3}}}
    assert accepted["spec"] == {"podGroupTemplates": [template]}
    assert accepted["apiVersion"] == "scheduling.k8s.io/v1beta1"


def test_what_is_wrong_with_it_is_told_in_the_version_that_was_sent():
    malformed = body(policy={"gang": {"minCount": "three"}})
    with pytest.raises(
        ApiError, match=r'in version "v1alpha1" .*spec.podGroups\[0\].policy.gang.minCount: expected'
    ):
        accept(WORKLOAD, malformed, WriteOptions())


def test_what_the_version_does_not_know_is_told_and_left_out():
    options = WriteOptions()
    accepted = accept(WORKLOAD, body(policy={"basic": {}}, priority=5), options)
    assert options.warnings == ['unknown field "spec.podGroups[0].priority"']
    assert accepted["spec"]["podGroupTemplates"] == [{"name": "g", "schedulingPolicy": {"basic": {}}}]


def test_a_view_is_judged_by_its_own_names():
    options = WriteOptions()
    sent = {"metadata": {"name": "e"}, "note": "hello", "message": "not of this version"}
    accept(EVENT_VIEW, sent, options)
    assert options.warnings == ['unknown field "message"']
    with pytest.raises(ApiError, match="note: expected a string"):
        accept(EVENT_VIEW, {"metadata": {"name": "e"}, "note": 3}, options)
