"""Writes that belong together, and what the store keeps at most."""

import pytest

from posse.store.change_log import BYTES_AS_OBJECTS, CHANGES_AS_OBJECTS, History, Interest
from posse.store.errors import HistoryExpired, ObjectTooLarge, StoreFull
from posse.store.objects import Change, Conflict, Key, Stored
from posse.store.store import ABSENT, HISTORY_BYTES, MAX_OBJECT_BYTES, Put, Store


def new(name, text=""):
    return Put(Key("pods", "default", name), {"metadata": {"name": name}, "text": text}, ABSENT)


def test_objects_written_together_are_committed_together(tmp_path, monkeypatch):
    store = Store.open(tmp_path / "data")
    batches = []
    write = store._journal.write
    monkeypatch.setattr(
        store._journal, "write", lambda changes: (batches.append(len(changes)), write(changes))
    )
    # A commit that starts whenever something is pending takes all of them or none.
    store.on_pending(store.commit_pending)
    store.put_all([new(f"pod-{number}") for number in range(500)])
    assert batches == [500]
    store.close()


@pytest.mark.parametrize("obstacle", ["conflict", "size"])
def test_one_that_cannot_be_written_keeps_the_others_back(obstacle):
    store = Store()
    store.put_all([new("there")])
    version = store.version
    bad = new("there") if obstacle == "conflict" else new("large", "x" * MAX_OBJECT_BYTES)
    if obstacle == "conflict":
        assert isinstance(store.put_all([new("a"), bad]), Conflict)
    else:
        with pytest.raises(ObjectTooLarge):
            store.put_all([new("a"), bad])
    assert store.get(Key("pods", "default", "a")) is None
    assert store.version == version


def test_a_full_store_refuses_growth_and_nothing_else():
    store = Store(max_bytes=2000)
    store.put_all([new("a", "x" * 900)])
    with pytest.raises(StoreFull, match="take 2000 bytes"):
        store.put_all([new("b", "x" * 1200)])
    kept = store.get(Key("pods", "default", "a"))
    smaller = store.put(Key("pods", "default", "a"), {"metadata": {"name": "a"}}, kept.version)
    store.put_all([new("b", "x" * 1200)])
    store.delete(Key("pods", "default", "a"), smaller.version)
    store.delete(Key("pods", "default", "b"), store.get(Key("pods", "default", "b")).version)
    assert store.size_bytes == 0


def replace(store, resource, name, text):
    key = Key(resource, "default", name)
    known = store.get(key)
    store.put(key, {"metadata": {"name": name}, "text": text}, known.version if known else ABSENT)


def history_bytes(store, *resources):
    return sum(
        change.size_bytes for resource in resources for change in store._log.history(resource)._changes
    )


def test_histories_of_all_resources_together_are_bounded_and_the_largest_gives_way():
    store = Store(history_bytes=100_000)
    start = store.version
    resources = [f"kind-{number}" for number in range(20)]
    replace(store, "pods", "quiet", "x")
    for number in range(400):
        replace(store, resources[number % 20], "busy", "x" * 1000)
    assert 25_000 < history_bytes(store, "pods", *resources) <= 100_000
    assert [event.type for event in store.watch(Interest("pods"), start).drain()] == ["ADDED"]
    with pytest.raises(HistoryExpired):
        store.watch(Interest("kind-0"), start)


def test_old_changes_are_kept_as_text_and_read_as_before():
    store = Store()
    replace(store, "pods", "a", "0")
    first = store.version
    for number in range(1, 3 * CHANGES_AS_OBJECTS):
        replace(store, "pods", "a", str(number))
    store.delete(Key("pods", "default", "a"), store.get(Key("pods", "default", "a")).version)
    replace(store, "pods", "b", "")
    changes = store._log.history("pods")._changes
    assert sum(not change.before.is_text_only for change in changes if change.before) <= CHANGES_AS_OBJECTS
    events = store.watch(Interest("pods"), first - 1).drain()
    assert [event.obj.get("text") for event in events[:-2]] == list(map(str, range(3 * CHANGES_AS_OBJECTS)))
    assert [event.type for event in events[-2:]] == ["DELETED", "ADDED"]
    assert [stored.obj["text"] for stored in store.list_at("pods", first + 7)] == ["7"]


def test_a_deletion_that_is_kept_as_text_reads_as_before():
    store = Store()
    replace(store, "pods", "a", "last")
    gone = store.delete(Key("pods", "default", "a"), store.version)
    for number in range(2 * CHANGES_AS_OBJECTS):
        replace(store, "pods", "b", str(number))
    change = store._log.history("pods")._changes[1]
    assert change.before.is_text_only
    assert (change.gone.obj, change.gone.version) == (gone.obj, gone.version)
    assert change.gone is not change.gone


def test_history_is_bounded_by_bytes():
    store = Store()
    store.put_all([new("a", "x" * 1_000_000)])
    first = store.version
    for _ in range(150):
        old = store.get(Key("pods", "default", "a"))
        store.put(
            old_key := Key("pods", "default", "a"),
            {"metadata": {"name": "a"}, "text": "y" * 1_000_000},
            old.version,
        )
    assert history_bytes(store, "pods") <= HISTORY_BYTES
    assert len(store.list_at("pods", store.version - 5)) == 1
    with pytest.raises(HistoryExpired):
        store.watch(Interest("pods"), first)
    assert old_key.name == "a"


def event(name):
    return Put(Key("events", "default", name), {"metadata": {"name": name}, "text": "x"}, ABSENT)


def test_objects_of_some_resources_are_kept_as_text_and_read_as_before(tmp_path):
    """There are ten thousand events, which take three times as much memory as objects."""
    events = Key("events", "default", "e")
    with_file = Store.open(tmp_path / "data", text_only=["events"])
    for store in (with_file, Store(text_only=["events"])):
        feed = store.watch(Interest("events"), store.version)
        store.put_all([event("e"), new("p")])
        store.commit_pending()
        store.publish_committed()
        assert store.get(events).is_text_only
        assert not store.get(Key("pods", "default", "p")).is_text_only
        assert store.get(events).obj["text"] == "x"
        assert [seen.obj["metadata"]["name"] for seen in feed.drain()] == ["e"]
    with_file.close()
    opened = Store.open(tmp_path / "data", text_only=["events"])
    assert opened.get(events).is_text_only
    assert opened.get(events).obj["text"] == "x"
    opened.close()


def test_large_changes_are_kept_as_text_sooner():
    """100 changes of 200 kB took their memory twice: as objects and as text."""
    history, stored = History(0, 1000), []
    for version in range(1, 101):
        obj = {"metadata": {"resourceVersion": str(version)}, "text": "x" * 200_000}
        stored.append(Stored(obj, version))
        history.append(Change(Key("maps", "default", "m"), version, ([None, *stored])[-2], stored[-1]))
    history.keep_text_only()
    as_objects = [each for each in stored if not each.is_text_only]
    assert 1 < len(as_objects) <= BYTES_AS_OBJECTS // 400_000 + 1
    assert history.halve()
    history.keep_text_only()
    assert [change.version for change in history.since(history.end - 40, 0)] == list(range(61, 101))
    assert len([each for each in stored if not each.is_text_only]) == len(as_objects)


def test_states_up_to_a_compacted_version_are_forgotten():
    store = Store()
    replace(store, "pods", "a", "1")
    replace(store, "configmaps", "b", "1")
    store.publish_committed()
    replace(store, "pods", "a", "2")
    version = store.version
    replace(store, "pods", "a", "3")
    store.commit_pending()
    store.publish_committed()
    assert store.compact(version)
    assert not store.compact(version)
    assert [event.obj["text"] for event in store.watch(Interest("pods"), version).drain()] == ["3"]
    with pytest.raises(HistoryExpired):
        store.watch(Interest("pods"), version - 1)
