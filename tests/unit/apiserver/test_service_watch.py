"""Watching through the service: starting points, selection, bookmarks, expiry."""

import pytest

from posse.apiserver.requests import Selection
from posse.kinds.registry import EVENT, EVENT_VIEW, POD
from posse.transport.patches import Patch

MERGE = "application/merge-patch+json"


def label(service, name, value):
    service.patch(POD, "default", name, Patch(MERGE, {"metadata": {"labels": {"l": value}}}))


def seen(subscription):
    return [(event.type, event.obj["metadata"].get("name")) for event in subscription.drain()]


@pytest.mark.parametrize("start", [None, 0])
def test_without_a_version_a_watch_begins_with_what_there_is(service, pod, start):
    service.create(POD, "default", pod("a"))
    subscription = service.watch(POD, None, resource_version=start)
    service.create(POD, "default", pod("b"))
    assert seen(subscription) == [("ADDED", "a"), ("ADDED", "b")]


def test_a_watch_from_a_version_tells_what_came_after(service, pod):
    service.create(POD, "default", pod("a"))
    start = service.store.version
    label(service, "a", "1")
    subscription = service.watch(POD, "default", resource_version=start)
    service.delete(POD, "default", "a")
    assert seen(subscription) == [("MODIFIED", "a"), ("DELETED", "a")]


def test_selected_objects_come_and_go(service, pod):
    service.create(POD, "default", pod("a"))
    subscription = service.watch(POD, None, Selection(labels="l=1"))
    for value in ("1", "2"):
        label(service, "a", value)
    service.bind("default", "a", {"target": {"name": "n"}})
    assert seen(subscription) == [("ADDED", "a"), ("DELETED", "a")]


def test_pods_that_get_a_node_leave_the_selection_of_those_without(service, pod):
    service.create(POD, "default", pod("a"))
    subscription = service.watch(POD, None, Selection(fields="spec.nodeName="))
    service.bind("default", "a", {"target": {"name": "n"}})
    assert seen(subscription) == [("ADDED", "a"), ("DELETED", "a")]


def test_versions_out_of_reach_are_expired(service, refused):
    present = service.store.version
    error = refused(service.watch, POD, None, resource_version=present + 1)
    assert (error.code, error.reason) == (410, "Expired")
    assert error.message == f"too old resource version: {present + 1} ({present})"


def test_a_slow_reader_is_told_to_list_again(service, pod, refused):
    service.create(POD, "default", pod("a"))
    subscription = service.watch(POD, None)
    for number in range(300):
        label(service, "a", str(number))
    assert refused(subscription.drain).code == 410


def test_a_selector_that_makes_no_sense_is_refused(service, refused):
    assert refused(service.watch, POD, None, Selection(fields="a=b")).code == 400


def test_the_end_of_the_initial_events_is_marked_when_bookmarks_are_wanted(service, pod):
    service.create(POD, "default", pod("a"))
    events = service.watch(POD, None, bookmarks=True).drain()
    assert [event.type for event in events] == ["ADDED", "BOOKMARK"]
    mark = events[-1].obj
    assert (mark["kind"], mark["apiVersion"]) == ("Pod", "v1")
    assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert mark["metadata"]["resourceVersion"] == events[-1].resource_version == str(service.store.version)


def test_an_empty_cluster_marks_the_end_at_once(service):
    calls = []
    subscription = service.watch(POD, None, bookmarks=True)
    subscription.on_ready(lambda: calls.append(1))
    assert calls == [1]
    assert [event.type for event in subscription.drain()] == ["BOOKMARK"]
    assert subscription.drain() == []


def test_bookmarks_move_on_with_changes_of_no_interest(service, pod):
    subscription = service.watch(POD, "other", resource_version=service.store.version)
    service.create(POD, "default", pod("a"))
    assert subscription.drain() == []
    bookmark = subscription.bookmark()
    assert bookmark.resource_version == str(service.store.version)
    assert "annotations" not in bookmark.obj["metadata"]


def test_a_closed_subscription_is_silent(service, pod):
    calls = []
    subscription = service.watch(POD, None)
    subscription.on_ready(lambda: calls.append(1))
    service.create(POD, "default", pod("a"))
    subscription.close()
    service.create(POD, "default", pod("b"))
    assert calls == [1]


def test_a_view_sees_the_objects_of_the_kind_behind_it(service):
    subscription = service.watch(EVENT_VIEW, None)
    involved = {"kind": "Pod", "name": "p", "namespace": "default"}
    service.create(EVENT, "default", {"metadata": {"name": "e"}, "involvedObject": involved})
    assert seen(subscription) == [("ADDED", "e")]
