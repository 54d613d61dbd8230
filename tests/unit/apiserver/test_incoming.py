"""Bodies in versions whose shape differs from what is stored: they are converted first and judged then."""

import pytest

from posse.apiserver import incoming
from posse.apiserver.incoming import accept
from posse.apiserver.requests import WriteOptions
from posse.kinds.errors import ApiError
from posse.kinds.registry import EVENT_VIEW, POD_GROUP


@pytest.fixture
def older_shape(monkeypatch):
    """Let v1alpha3 have a number where the stored version has an object."""

    def to_storage(kind, obj):
        minimum = obj["spec"].pop("gang")
        spec = obj["spec"] | {"schedulingPolicy": {"gang": {"minCount": minimum}}}
        return obj | {"apiVersion": kind.api_version, "spec": spec}

    monkeypatch.setattr(incoming, "to_storage", to_storage)


def body(**spec):
    return {"apiVersion": "scheduling.k8s.io/v1alpha3", "metadata": {"name": "g"}, "spec": spec}


def test_an_older_shape_is_judged_by_what_it_becomes(older_shape):
    options = WriteOptions(field_validation="Strict")
    accepted = accept(POD_GROUP, body(gang=3), options)
    assert accepted["spec"] == {"schedulingPolicy": {"gang": {"minCount": 3}}}
    assert accepted["apiVersion"] == "scheduling.k8s.io/v1beta1"


def test_what_is_wrong_with_it_is_told_in_the_version_that_was_sent(older_shape):
    with pytest.raises(ApiError, match=r'in version "v1alpha3" .*minCount: expected an integer'):
        accept(POD_GROUP, body(gang="three"), WriteOptions())
    options = WriteOptions()
    accept(POD_GROUP, body(gang=3, colour="red"), options)
    assert options.warnings == ['unknown field "spec.colour"']


def test_a_view_is_judged_by_its_own_names():
    options = WriteOptions()
    sent = {"metadata": {"name": "e"}, "note": "hello", "message": "not of this version"}
    accept(EVENT_VIEW, sent, options)
    assert options.warnings == ['unknown field "message"']
    with pytest.raises(ApiError, match="note: expected a string"):
        accept(EVENT_VIEW, {"metadata": {"name": "e"}, "note": 3}, options)
