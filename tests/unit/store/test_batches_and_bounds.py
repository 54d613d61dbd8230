"""Writes that belong together, and what the store keeps at most."""

import pytest

from posse.store.change_log import Interest
from posse.store.errors import HistoryExpired, ObjectTooLarge, StoreFull
from posse.store.objects import Conflict, Key
from posse.store.store import ABSENT, MAX_OBJECT_BYTES, Put, Store


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
    history = store._log.history("pods")
    assert sum(change.size_bytes for change in history._changes) <= 64 * 1024 * 1024
    assert store.remembers("pods", store.version - 5)
    with pytest.raises(HistoryExpired):
        store.watch(Interest("pods"), first)
    assert old_key.name == "a"
