"""What watchers are told, from where, and when they are cut off."""

import pytest

from posse.store.change_log import Interest
from posse.store.errors import HistoryExpired
from posse.store.objects import Key
from posse.store.store import ABSENT, Store

PODS = Interest("pods")


def put(store, name, *, namespace="default", **content):
    key = Key("pods", namespace, name)
    old = store.get(key)
    obj = {"metadata": {"name": name, "namespace": namespace}, **content}
    return store.put(key, obj, old.version if old else ABSENT)


def delete(store, name, namespace="default"):
    key = Key("pods", namespace, name)
    return store.delete(key, store.get(key).version)


def seen(feed):
    return [(event.type, event.obj["metadata"]["name"]) for event in feed.drain()]


def test_a_feed_without_a_version_begins_with_all_there_is():
    store = Store()
    put(store, "b")
    put(store, "a")
    feed = store.watch(PODS)
    put(store, "c")
    assert seen(feed) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]
    assert seen(feed) == []


def test_a_feed_from_the_past_tells_what_happened_since():
    store = Store()
    start = put(store, "a").version
    put(store, "a", x=1)
    put(store, "b")
    gone = delete(store, "a")
    feed = store.watch(PODS, start)
    events = feed.drain()
    assert [event.type for event in events] == ["MODIFIED", "ADDED", "DELETED"]
    assert events[-1].obj["x"] == 1
    assert events[-1].resource_version == events[-1].obj["metadata"]["resourceVersion"] == str(gone.version)


def test_changes_of_other_resources_and_namespaces_are_left_out():
    store = Store()
    feed = store.watch(Interest("pods", "mine"))
    put(store, "a", namespace="other")
    store.put(Key("nodes", "", "n"), {"metadata": {"name": "n"}}, ABSENT)
    put(store, "b", namespace="mine")
    assert seen(feed) == [("ADDED", "b")]


def test_an_object_entering_or_leaving_the_selection_is_added_or_deleted():
    store = Store()
    feed = store.watch(Interest("pods", None, lambda obj: obj.get("x") == 1))
    put(store, "a", x=0)
    put(store, "a", x=1)
    put(store, "a", x=1, y=1)
    left = put(store, "a", x=2)
    delete(store, "a")
    events = feed.drain()
    assert [event.type for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert events[2].obj["y"] == 1, "the content is the last that was selected"
    assert events[2].resource_version == str(left.version)


def test_the_deletion_of_an_object_is_encoded_once_for_all_feeds():
    store = Store()
    put(store, "a")
    feeds = [store.watch(PODS, store.version) for _ in range(2)]
    delete(store, "a")
    first, second = (feed.drain()[0].stored for feed in feeds)
    assert first is second


def test_a_version_that_was_never_given_out_cannot_be_watched_from():
    store = Store()
    with pytest.raises(HistoryExpired, match=r"too old resource version: 99 \(1\)"):
        store.watch(PODS, 99)


def test_history_is_bounded_and_older_versions_expire():
    store = Store(history_limit=10)
    first = put(store, "a").version
    for number in range(40):
        put(store, "a", x=number)
    with pytest.raises(HistoryExpired, match=f"too old resource version: {first}"):
        store.watch(PODS, first)
    with pytest.raises(HistoryExpired):
        store.list_at("pods", first)
    recent = store.version - 10
    assert [stored.obj["x"] for stored in store.list_at("pods", recent)] == [29]
    assert [event.obj["x"] for event in store.watch(PODS, recent).drain()] == list(range(30, 40))


def test_busy_resources_do_not_shorten_the_history_of_quiet_ones():
    store = Store(history_limit=2)
    start = store.version
    store.put(Key("nodes", "", "n"), {"metadata": {"name": "n"}}, ABSENT)
    for number in range(20):
        put(store, "a", x=number)
    assert [event.type for event in store.watch(Interest("nodes"), start).drain()] == ["ADDED"]


def test_a_reader_that_is_too_slow_is_cut_off():
    store = Store(history_limit=5)
    feed = store.watch(PODS)
    for number in range(20):
        put(store, "a", x=number)
    with pytest.raises(HistoryExpired):
        feed.drain()


def test_a_feed_wakes_its_reader_and_no_longer_after_it_is_closed():
    store = Store()
    calls = []
    feed = store.watch(PODS)
    feed.on_ready(lambda: calls.append(1))
    assert calls == []
    put(store, "a")
    assert calls == [1]
    feed.close()
    feed.close()
    put(store, "b")
    assert calls == [1]


def test_a_reader_is_called_at_once_when_something_is_waiting_already():
    store = Store()
    put(store, "a")
    calls = []
    initial = store.watch(PODS)
    initial.on_ready(lambda: calls.append("initial"))
    initial.close()
    late = store.watch(PODS, store.version)
    put(store, "b")
    late.on_ready(lambda: calls.append("change"))
    assert calls == ["initial", "change"]


def test_a_feed_knows_how_far_it_has_read():
    store = Store()
    feed = store.watch(Interest("pods", "mine"))
    put(store, "a", namespace="other")
    feed.drain()
    assert feed.version == store.version
