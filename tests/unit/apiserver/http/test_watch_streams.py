"""Watch streams over real HTTPS: events in order, bookmarks, expiry, time limits, and clean endings."""

import json
import threading
import time
from contextlib import closing, contextmanager

import pytest

from posse.apiserver.http import streams
from posse.kinds.registry import POD

PODS = "/api/v1/namespaces/default/pods"
ALPHA_GROUPS = "/apis/scheduling.k8s.io/v1alpha3/namespaces/default/podgroups"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def pod(name: str, **metadata) -> dict:
    return {
        "metadata": {"name": name, **metadata},
        "spec": {"containers": [{"name": "main", "image": "img"}]},
    }


@contextmanager
def watching(http, query: str = "", path: str = PODS, **headers):
    """Open a watch and yield an iterator over its decoded events."""
    with closing(http("GET", f"{path}?watch=true&{query}", stream=True, **headers)) as response:
        assert response.status_code == 200, response.text
        yield (json.loads(line) for line in response.iter_lines(chunk_size=None))


def summary(event: dict) -> tuple[str, str]:
    return event["type"], event["object"]["metadata"].get("name", "")


def current_version(http) -> str:
    return http("GET", PODS).json()["metadata"]["resourceVersion"]


def test_a_watch_without_a_version_starts_with_what_is_there(http):
    http("POST", PODS, pod("a"))
    with watching(http) as events:
        assert summary(next(events)) == ("ADDED", "a")
        http("POST", PODS, pod("b"))
        assert summary(next(events)) == ("ADDED", "b")


def test_a_watch_from_a_version_sees_each_later_change_once_and_in_order(http):
    http("POST", PODS, pod("before"))
    version = current_version(http)
    http("POST", PODS, pod("a"))
    http(
        "PATCH",
        f"{PODS}/a",
        {"metadata": {"labels": {"x": "y"}}},
        Content_Type="application/merge-patch+json",
    )
    with watching(http, f"resourceVersion={version}") as events:
        http("DELETE", f"{PODS}/a")
        seen = [next(events) for _ in range(3)]
    assert [summary(event) for event in seen] == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in seen]
    assert versions == sorted(set(versions))
    assert seen[1]["object"]["kind"] == "Pod"


def test_an_object_that_leaves_the_selection_is_deleted_to_the_watcher(http):
    http("POST", PODS, pod("a", labels={"app": "x"}))
    with watching(http, "labelSelector=app%3Dx") as events:
        assert summary(next(events)) == ("ADDED", "a")
        patch = {"metadata": {"labels": {"app": "y"}}}
        http("PATCH", f"{PODS}/a", patch, Content_Type="application/merge-patch+json")
        assert summary(next(events)) == ("DELETED", "a")


def test_objects_come_in_the_version_of_the_path(http):
    http("POST", ALPHA_GROUPS, {"metadata": {"name": "g"}, "spec": {"schedulingPolicy": {"basic": {}}}})
    with watching(http, path=ALPHA_GROUPS) as events:
        assert next(events)["object"]["apiVersion"] == "scheduling.k8s.io/v1alpha3"


def test_objects_come_in_the_shape_of_an_older_version(http):
    path = "/apis/scheduling.k8s.io/v1alpha1/namespaces/default/workloads"
    groups = [{"name": "pg1", "policy": {"gang": {"minCount": 3}}}]
    answer = http("POST", path, {"metadata": {"name": "w"}, "spec": {"podGroups": groups}})
    assert (answer.status_code, answer.json()["spec"]) == (201, {"podGroups": groups})
    with watching(http, path=path) as events:
        seen = next(events)["object"]
    assert (seen["apiVersion"], seen["spec"]) == ("scheduling.k8s.io/v1alpha1", {"podGroups": groups})
    [listed] = http("GET", path).json()["items"]
    assert {"apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "Workload", **listed} == seen
    [row] = http("GET", path, Accept=TABLE).json()["rows"]
    assert row["cells"][0] == "w"


def test_a_watch_as_table_has_one_row_per_event_and_headers_once(http):
    http("POST", PODS, pod("a"))
    http("POST", PODS, pod("b"))
    with watching(http, Accept=TABLE) as events:
        first, second = next(events)["object"], next(events)["object"]
    assert first["kind"] == second["kind"] == "Table"
    assert first["columnDefinitions"]
    assert not second["columnDefinitions"]
    assert [first["rows"][0]["cells"][0], second["rows"][0]["cells"][0]] == ["a", "b"]


def test_a_watch_ends_when_its_time_is_up_without_bookmarks_nobody_asked_for(http, monkeypatch):
    monkeypatch.setattr(streams, "BOOKMARK_SECONDS", 0.05)
    begun = time.monotonic()
    with watching(http, "timeoutSeconds=1") as events:
        assert list(events) == []
    assert 0.9 < time.monotonic() - begun < 5


def test_a_bookmark_closes_a_watch_that_asked_for_bookmarks(http):
    version = current_version(http)
    http("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "elsewhere"}})
    query = f"timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion={version}"
    with watching(http, query) as events:
        [bookmark] = list(events)
    assert bookmark["type"] == "BOOKMARK"
    assert bookmark["object"]["kind"] == "Pod"
    assert int(bookmark["object"]["metadata"]["resourceVersion"]) > int(version)


def test_bookmarks_come_again_and_again(http, monkeypatch):
    monkeypatch.setattr(streams, "BOOKMARK_SECONDS", 0.05)
    version = current_version(http)
    with watching(http, f"allowWatchBookmarks=true&resourceVersion={version}") as events:
        assert [next(events)["type"] for _ in range(3)] == ["BOOKMARK"] * 3


def test_initial_events_end_with_a_bookmark_that_says_so(http):
    http("POST", PODS, pod("a"))
    query = (
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=1"
    )
    with watching(http, query) as events:
        assert summary(next(events)) == ("ADDED", "a")
        bookmark = next(events)
    assert bookmark["type"] == "BOOKMARK"
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_watch_that_wants_no_initial_events_starts_now(http):
    http("POST", PODS, pod("a"))
    with watching(http, "sendInitialEvents=false&resourceVersionMatch=NotOlderThan") as events:
        http("POST", PODS, pod("b"))
        assert summary(next(events)) == ("ADDED", "b")


def test_a_version_that_is_no_longer_kept_is_an_error_event(http):
    with watching(http, "resourceVersion=99999999") as events:
        [error] = list(events)
    assert error["type"] == "ERROR"
    assert (error["object"]["code"], error["object"]["reason"]) == (410, "Expired")


def test_a_bad_selector_is_refused_before_the_stream_starts(http):
    assert http("GET", f"{PODS}?watch=true&labelSelector=%3D%3D").status_code == 400
    assert http("GET", f"{PODS}?watch=true&timeoutSeconds=soon").status_code == 400
    assert http("GET", f"{PODS}?watch=perhaps").status_code == 400


def test_many_events_at_once_all_arrive(http, live_server):
    version = current_version(http)

    def create_many() -> None:
        for number in range(1200):
            live_server.service.create(POD, "default", pod(f"p{number:04}"))

    with watching(http, f"resourceVersion={version}") as events:
        live_server.call(create_many)
        http("POST", PODS, pod("last"))
        seen = [next(events) for _ in range(1201)]
    assert [event["object"]["metadata"]["name"] for event in seen[:3]] == ["p0000", "p0001", "p0002"]
    assert summary(seen[-1]) == ("ADDED", "last")


def test_a_client_that_leaves_frees_its_subscription(http, live_server):
    with watching(http) as _events:
        assert wait_for(lambda: live_server.call(open_feeds, live_server) == 1)
    assert wait_for(lambda: live_server.call(open_feeds, live_server) == 0)


def test_stopping_the_server_ends_streams_at_once(http, live_server):
    with watching(http, "allowWatchBookmarks=true&resourceVersion=" + current_version(http)) as events:
        stopper = threading.Thread(target=live_server.stop)
        begun = time.monotonic()
        stopper.start()
        assert [event["type"] for event in events] == ["BOOKMARK"]
        stopper.join()
    assert time.monotonic() - begun < 2


def test_a_fault_in_a_running_stream_ends_it_with_an_error_event(http, live_server, monkeypatch, caplog):
    with watching(http) as events:
        assert wait_for(lambda: live_server.call(open_feeds, live_server) == 1)

        def fail(*_args, **_named):
            raise ZeroDivisionError("nobody thought of it")

        monkeypatch.setattr(streams.View, "event", fail)
        http("POST", PODS, pod("a"))
        [error] = list(events)
    assert (error["type"], error["object"]["code"]) == ("ERROR", 500)
    assert "nobody thought of it" in caplog.text
    assert "watch of pods failed" in caplog.text


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_only_get_can_watch(http, method):
    answer = http(method, f"{PODS}?watch=true", {} if method == "POST" else None)
    assert answer.headers["Content-Type"] == "application/json"
    assert "Transfer-Encoding" not in answer.headers


def open_feeds(server) -> int:
    feeds = server.service.store._log._feeds
    return sum(len(entries) for entries in feeds.values())


def wait_for(condition, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()
