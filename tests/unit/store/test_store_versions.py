"""Versions, conflicts and listing order of the store, without a journal."""

import pytest

from posse.store.objects import Conflict, Key, Stored
from posse.store.store import ABSENT, Store


def pod_key(name, namespace="default"):
    return Key("pods", namespace, name)


def pod(name, **extra):
    return {"metadata": {"name": name}, **extra}


def test_every_write_gets_a_higher_version_that_the_object_carries():
    store = Store()
    first = store.put(pod_key("a"), pod("a"), ABSENT)
    second = store.put(pod_key("b"), pod("b"), ABSENT)
    assert isinstance(first, Stored)
    assert isinstance(second, Stored)
    assert second.version == first.version + 1 == store.version
    assert second.obj["metadata"]["resourceVersion"] == str(second.version)


def test_creating_what_exists_is_a_conflict_that_shows_it():
    store = Store()
    first = store.put(pod_key("a"), pod("a"), ABSENT)
    assert store.put(pod_key("a"), pod("a", spec=1), ABSENT) == Conflict(first)
    assert store.get(pod_key("a")) is first


def test_replacing_needs_the_current_version():
    store = Store()
    first = store.put(pod_key("a"), pod("a"), ABSENT)
    second = store.put(pod_key("a"), pod("a", spec=1), first.version)
    assert store.put(pod_key("a"), pod("a", spec=2), first.version) == Conflict(second)
    assert store.get(pod_key("a")).obj["spec"] == 1


def test_deleting_needs_the_current_version_and_takes_one_itself():
    store = Store()
    first = store.put(pod_key("a"), pod("a"), ABSENT)
    assert store.delete(pod_key("a"), first.version + 1) == Conflict(first)
    gone = store.delete(pod_key("a"), first.version)
    assert gone.version == first.version + 1 == store.version
    assert gone.obj["metadata"]["resourceVersion"] == str(gone.version)
    assert store.get(pod_key("a")) is None
    assert store.delete(pod_key("a"), first.version) == Conflict(None)


def test_listing_is_sorted_by_namespace_then_name_and_kept_apart_by_resource():
    store = Store()
    for namespace, name in (("b", "1"), ("a", "2"), ("a", "10"), ("a-b", "0"), ("ab", "3")):
        store.put(Key("pods", namespace, name), pod(name), ABSENT)
    store.put(Key("nodes", "", "n"), pod("n"), ABSENT)
    assert names(store.list("pods")) == ["10", "2", "0", "3", "1"]
    assert names(store.list("pods", "a")) == ["10", "2"]
    assert names(store.list("pods", "nowhere")) == []
    assert names(store.list("nodes")) == ["n"]


def test_listing_can_go_on_after_a_place_that_no_longer_exists():
    store = Store()
    for name in ("a", "c", "e"):
        store.put(pod_key(name), pod(name), ABSENT)
    assert names(store.list("pods", None, ("default", "b"))) == ["c", "e"]
    assert names(store.list("pods", "default", ("default", "c"))) == ["e"]


def test_what_cannot_be_encoded_is_refused_and_changes_nothing():
    store = Store()
    before = store.version
    with pytest.raises(UnicodeEncodeError):
        store.put(pod_key("a"), pod("a", text="\ud800"), ABSENT)
    assert store.version == before
    assert store.get(pod_key("a")) is None
    assert isinstance(store.put(pod_key("a"), pod("a"), ABSENT), Stored)


def test_the_text_of_an_object_is_made_once():
    stored = Store().put(pod_key("a"), pod("a"), ABSENT)
    assert stored.encoded is stored.encoded


def names(listed):
    return [stored.obj["metadata"]["name"] for stored in listed]


def test_a_list_at_an_earlier_version(tmp_path):
    """Also while changes wait to be committed and published."""
    store = Store.open(tmp_path / "data", fsync=False)
    keys = {name: Key("pods", "ns", name) for name in "abc"}

    def put(name, expected=ABSENT, **content):
        return store.put(keys[name], {"metadata": {"name": name, "namespace": "ns"}, **content}, expected)

    def at(version, **place):
        return [
            (each.obj["metadata"]["name"], each.obj.get("x"))
            for each in store.list_at("pods", version, **place)
        ]

    before, old = store.version, put("a")
    put("b")
    both = store.version
    store.commit_pending()
    store.publish_committed()
    put("a", old.version, x=1)
    store.delete(keys["b"], store.get(keys["b"]).version)
    put("c")
    for _ in range(2):
        assert at(before) == []
        assert at(both) == [("a", None), ("b", None)]
        assert at(both, after=("ns", "a")) == [("b", None)]
        assert at(both, namespace="other") == []
        assert at(store.version) == [("a", 1), ("c", None)]
        store.commit_pending()
        store.publish_committed()
    store.close()
