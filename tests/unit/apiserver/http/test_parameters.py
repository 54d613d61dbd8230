"""Query parameters and DeleteOptions become values, or an error that names the parameter."""

import pytest

from posse.apiserver.http import parameters
from posse.apiserver.requests import DeleteOptions, Selection, WriteOptions
from posse.kinds.machinery.errors import ApiError


def refusal(call, *args) -> str:
    with pytest.raises(ApiError) as caught:
        call(*args)
    assert caught.value.code == 400
    return caught.value.message


def test_no_query_means_the_defaults():
    assert parameters.selection({}) == Selection()
    assert parameters.write_options({}) == WriteOptions(field_manager="unknown")
    assert parameters.write_options({}, "kubectl/v1.37.1 (linux)").field_manager == "kubectl"
    assert parameters.write_options({"fieldManager": "me"}, "kubectl/v1.37.1").field_manager == "me"
    assert parameters.delete_options({}, {}) == DeleteOptions()
    assert not parameters.wants_watch({})
    assert not parameters.wants_pretty({})


def test_a_selection_is_read_whole():
    query = {
        "labelSelector": "a=b",
        "fieldSelector": "metadata.name=x",
        "limit": "5",
        "continue": "token",
        "resourceVersion": "12",
        "resourceVersionMatch": "Exact",
    }
    assert parameters.selection(query) == Selection("a=b", "metadata.name=x", 5, "token", "12", "Exact")


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"limit": "many"}, "limit"),
        ({"limit": "-1"}, "limit"),
        ({"limit": "٣"}, "limit"),
        ({"resourceVersion": "abc"}, "resourceVersion"),
        ({"resourceVersion": "1.5"}, "resourceVersion"),
        ({"resourceVersionMatch": "Nearly"}, "resourceVersionMatch"),
    ],
)
def test_a_selection_that_cannot_be_read_names_the_parameter(query, named):
    assert named in refusal(parameters.selection, query)


def test_write_options():
    query = {"dryRun": "All", "fieldValidation": "Strict", "fieldManager": "kubectl"}
    assert parameters.write_options(query) == WriteOptions(True, "Strict", "kubectl")
    assert "dryRun" in refusal(parameters.write_options, {"dryRun": "Some"})
    assert "fieldValidation" in refusal(parameters.write_options, {"fieldValidation": "Loose"})


@pytest.mark.parametrize(
    ("text", "value"), [("true", True), ("1", True), ("", True), ("false", False), ("0", False)]
)
def test_flags_are_read_as_kubernetes_clients_write_them(text, value):
    assert parameters.wants_watch({"watch": text}) is value


def test_a_flag_that_is_neither_is_refused():
    assert "watch" in refusal(parameters.wants_watch, {"watch": "maybe"})


def test_a_watch_request():
    query = {"allowWatchBookmarks": "true", "timeoutSeconds": "30"}
    assert parameters.watch_request(query) == parameters.WatchRequest(True, None, 30.0)
    listing = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    assert parameters.watch_request(listing).initial_events is True
    assert "resourceVersionMatch" in refusal(parameters.watch_request, {"sendInitialEvents": "true"})
    assert "timeoutSeconds" in refusal(parameters.watch_request, {"timeoutSeconds": "soon"})


def test_delete_options_stand_in_the_query_or_in_the_body():
    assert parameters.delete_options(
        {"gracePeriodSeconds": "0", "propagationPolicy": "Orphan"}, {}
    ) == DeleteOptions(grace_seconds=0, propagation="Orphan")
    body = {
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 7,
        "propagationPolicy": "Background",
        "preconditions": {"uid": "u", "resourceVersion": "3"},
        "dryRun": ["All"],
    }
    expected = DeleteOptions(7, "u", "3", "Background", dry_run=True)
    assert parameters.delete_options({"gracePeriodSeconds": "1"}, body) == expected


@pytest.mark.parametrize(
    ("query", "body", "named"),
    [
        ({}, {"gracePeriodSeconds": "7"}, "gracePeriodSeconds"),
        ({}, {"gracePeriodSeconds": True}, "gracePeriodSeconds"),
        ({"gracePeriodSeconds": "-1"}, {}, "gracePeriodSeconds"),
        ({}, {"propagationPolicy": "Sideways"}, "propagationPolicy"),
        ({}, {"preconditions": ["uid"]}, "preconditions"),
        ({}, {"preconditions": {"uid": 7}}, "uid"),
        ({}, {"dryRun": "All"}, "dryRun"),
        ({}, {"dryRun": ["None"]}, "dryRun"),
    ],
)
def test_delete_options_that_cannot_be_read_name_the_field(query, body, named):
    assert named in refusal(parameters.delete_options, query, body)


@pytest.mark.parametrize("name", ["limit", "resourceVersion"])
def test_numbers_beyond_64_bits_are_refused_without_being_read(name):
    with pytest.raises(ApiError, match=f"{name}.* 18 digits") as caught:
        parameters.selection({name: "1" * 5000})
    assert caught.value.code == 400
    assert len(caught.value.message) < 200
