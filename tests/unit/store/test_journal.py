"""Durability: what is committed comes back, what is wrong with a data directory is said precisely."""

import os
import sqlite3
import subprocess
import sys

import pytest

from posse.store import journal
from posse.store.change_log import Interest
from posse.store.errors import (
    CommitFailed,
    DataDirCorrupt,
    DataDirForeign,
    DataDirLocked,
    DataDirUnusable,
    HistoryExpired,
)
from posse.store.journal import FILE_NAME
from posse.store.objects import Key
from posse.store.store import ABSENT, Store


@pytest.fixture
def data_dir(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def opened():
    """Open stores that are closed at the end of the test."""
    stores = []

    def open_store(path):
        stores.append(Store.open(path))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


def key(name):
    return Key("pods", "default", name)


def put(store, name, **content):
    old = store.get(key(name))
    return store.put(key(name), {"metadata": {"name": name}, **content}, old.version if old else ABSENT)


def filled(path, count):
    store = Store.open(path)
    for number in range(count):
        put(store, f"pod-{number:05}", spec={"text": "x" * 100})
    store.commit_pending()
    version = store.version
    store.close()
    return version


def content(store):
    return {stored.obj["metadata"]["name"]: stored.obj for stored in store.list("pods")}


def test_committed_objects_come_back_as_they_were(data_dir, opened):
    store = Store.open(data_dir)
    put(store, "a", spec={"n": [1, None, "ü"]})
    put(store, "b")
    put(store, "a", spec=2)
    put(store, "c")
    store.delete(key("b"), store.get(key("b")).version)
    store.commit_pending()
    before = content(store)
    store.close()
    again = opened(data_dir)
    assert content(again) == before
    assert set(before) == {"a", "c"}
    assert [stored.version for stored in again.list("pods")] == [
        int(stored.obj["metadata"]["resourceVersion"]) for stored in again.list("pods")
    ]


def test_an_object_deleted_and_made_anew_between_commits_is_the_new_one(data_dir, opened):
    store = Store.open(data_dir)
    put(store, "a", spec=1)
    store.commit_pending()
    store.delete(key("a"), store.get(key("a")).version)
    put(store, "a", spec=2)
    store.commit_pending()
    store.close()
    assert content(opened(data_dir))["a"]["spec"] == 2


def test_what_was_not_committed_is_lost_and_its_version_never_given_out_again(data_dir, opened):
    store = Store.open(data_dir)
    put(store, "a")
    store.commit_pending()
    lost = put(store, "b").version
    store.close()
    again = opened(data_dir)
    assert set(content(again)) == {"a"}
    assert again.version > lost
    for version in (lost, lost - 1):
        with pytest.raises(HistoryExpired):
            again.watch(Interest("pods"), version)


def test_versions_grow_over_restarts_without_any_write(data_dir):
    versions = [filled(data_dir, 0) for _ in range(3)]
    put_version = filled(data_dir, 1)
    assert versions == sorted(versions)
    assert filled(data_dir, 0) > put_version > versions[-1]


def test_watchers_hear_of_a_write_only_once_it_is_durable(data_dir, opened):
    store = opened(data_dir)
    calls = []
    feed = store.watch(Interest("pods"))
    feed.on_ready(lambda: calls.append(1))
    written = put(store, "a")
    assert (feed.drain(), calls) == ([], [])
    assert store.durable_version < written.version
    store.commit_pending()
    assert store.durable_version == written.version
    assert feed.drain() == []
    store.publish_committed()
    assert calls == [1]
    assert [event.type for event in feed.drain()] == ["ADDED"]


def test_a_feed_that_saw_an_unpublished_write_in_its_listing_is_not_told_twice(data_dir, opened):
    store = opened(data_dir)
    put(store, "a")
    from_listing = store.watch(Interest("pods"))
    from_version = store.watch(Interest("pods"), store.version)
    store.commit_pending()
    store.publish_committed()
    assert [event.type for event in from_listing.drain()] == ["ADDED"]
    assert from_version.drain() == []


def test_a_second_process_is_refused_and_told_who_has_it(data_dir, opened):
    opened(data_dir)
    with pytest.raises(DataDirLocked, match=f"in use by process {os.getpid()}") as caught:
        Store.open(data_dir)
    assert caught.value.pid == os.getpid()


def test_the_lock_goes_with_the_store(data_dir, opened):
    Store.open(data_dir).close()
    opened(data_dir)


def test_a_file_that_is_no_database_is_named_and_left_alone(data_dir):
    filled(data_dir, 1)
    for leftover in data_dir.glob(FILE_NAME + "*"):
        leftover.unlink()
    (data_dir / FILE_NAME).write_text("apiVersion: v1\nkind: List\n" * 100)
    with pytest.raises(DataDirCorrupt, match=f"{FILE_NAME} is damaged.*not a database.*move it away"):
        Store.open(data_dir)
    assert (data_dir / FILE_NAME).read_text().startswith("apiVersion")


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_a_truncated_file_is_found_out(data_dir, kept):
    filled(data_dir, 500)
    file = data_dir / FILE_NAME
    os.truncate(file, int(file.stat().st_size * kept))
    with pytest.raises(DataDirCorrupt, match="malformed"):
        Store.open(data_dir)


def test_damaged_content_is_found_out(data_dir):
    filled(data_dir, 500)
    file = data_dir / FILE_NAME
    body = bytearray(file.read_bytes())
    middle = len(body) // 2
    body[middle : middle + 8192] = os.urandom(8192)
    file.write_bytes(body)
    with pytest.raises(DataDirCorrupt):
        Store.open(data_dir)


def test_a_body_that_is_no_json_is_named(data_dir):
    filled(data_dir, 2)
    with sqlite3.connect(data_dir / FILE_NAME) as connection:
        connection.execute("UPDATE objects SET body = x'7b' WHERE name = 'pod-00001'")
    connection.close()
    with pytest.raises(DataDirCorrupt, match="pods/default/pod-00001"):
        Store.open(data_dir)


def test_a_missing_version_is_damage(data_dir):
    filled(data_dir, 1)
    with sqlite3.connect(data_dir / FILE_NAME) as connection:
        connection.execute("DELETE FROM meta")
    connection.close()
    with pytest.raises(DataDirCorrupt):
        Store.open(data_dir)


def test_a_database_of_another_program_is_left_alone(data_dir):
    data_dir.mkdir()
    with sqlite3.connect(data_dir / FILE_NAME) as connection:
        connection.execute("CREATE TABLE bookmarks(url)")
    connection.close()
    with pytest.raises(DataDirForeign, match="database of some other program"):
        Store.open(data_dir)


def test_a_newer_schema_is_refused(data_dir):
    filled(data_dir, 1)
    with sqlite3.connect(data_dir / FILE_NAME) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(DataDirForeign, match="schema 99, this version of Posse knows schema 2"):
        Store.open(data_dir)


def test_a_refused_directory_can_be_used_once_it_is_mended(data_dir, opened):
    filled(data_dir, 1)
    good = (data_dir / FILE_NAME).read_bytes()
    (data_dir / FILE_NAME).write_text("broken" * 1000)
    with pytest.raises(DataDirCorrupt):
        Store.open(data_dir)
    (data_dir / FILE_NAME).write_bytes(good)
    assert set(content(opened(data_dir))) == {"pod-00000"}


def test_a_path_that_cannot_be_a_directory_is_refused_with_the_reason(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataDirUnusable, match=r"cannot be used: it is a file, not a directory"):
        Store.open(tmp_path / "file")
    with pytest.raises(DataDirUnusable, match="Not a directory"):
        Store.open(tmp_path / "file" / "below")


def test_a_file_that_cannot_be_opened_is_refused_with_the_reason(data_dir):
    (data_dir / FILE_NAME).mkdir(parents=True)
    with pytest.raises(DataDirUnusable, match="Is a directory"):
        Store.open(data_dir)


def test_a_directory_that_can_be_read_but_not_written_is_refused(data_dir, opened, monkeypatch):
    filled(data_dir, 1)

    def open_read_only(path, **options):
        connection, schema = open_file(path, **options)
        connection.execute("PRAGMA query_only=1")
        return connection, schema

    open_file = journal._open
    with monkeypatch.context() as patch:
        patch.setattr(journal, "_open", open_read_only)
        with pytest.raises(DataDirUnusable, match="readonly database"):
            Store.open(data_dir)
    opened(data_dir)


def test_a_full_disk_fails_the_commit_and_stops_all_writing(data_dir, opened):
    store = Store.open(data_dir)
    put(store, "safe")
    store.commit_pending()
    fill_disk(store)
    put(store, "big", spec="x" * 1_000_000)
    with pytest.raises(CommitFailed, match="database or disk is full") as caught:
        store.commit_pending()
    assert str(data_dir) in str(caught.value)
    store.publish_committed()
    with pytest.raises(CommitFailed):
        put(store, "small")
    with pytest.raises(CommitFailed):
        store.delete(key("safe"), store.get(key("safe")).version)
    with pytest.raises(CommitFailed):
        store.commit_pending()
    store.close()
    assert set(content(opened(data_dir))) == {"safe"}


def fill_disk(store):
    """Let the file grow no further, which SQLite reports as it reports a full disk."""
    connection = store._journal._connection
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages}")


def test_an_error_of_any_kind_while_committing_stops_all_writing(data_dir, opened, monkeypatch):
    store = opened(data_dir)
    put(store, "a")
    monkeypatch.setattr(store._journal, "_apply", lambda changes: 1 / 0)
    with pytest.raises(CommitFailed, match="division by zero"):
        store.commit_pending()
    monkeypatch.undo()
    with pytest.raises(CommitFailed):
        put(store, "b")


WRITER = """
import sys
from pathlib import Path
from posse.store.objects import Key
from posse.store.store import ABSENT, Store

store = Store.open(Path(sys.argv[1]))
for number in range(1_000_000):
    name = f"pod-{number:07}"
    store.put(Key("pods", "default", name), {"metadata": {"name": name}, "spec": "x" * 300}, ABSENT)
    print("written", store.version, flush=True)
    if number % 7 == 0:
        store.commit_pending()
        print("acknowledged", number, flush=True)
"""


@pytest.mark.parametrize("kill_after", [1, 400, 3000])
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(data_dir, opened, kill_after):
    acknowledged = written = 0
    command = [sys.executable, "-c", WRITER, str(data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        for line in writer.stdout:
            # What was said before the kill counts, also if it is read after; the last line may be cut short.
            if line.endswith("\n") and line.startswith("acknowledged"):
                acknowledged = int(line.split()[1])
            elif line.endswith("\n"):
                written = int(line.split()[1])
            if acknowledged >= kill_after:
                writer.kill()
    store = opened(data_dir)
    survivors = content(store)
    assert all(f"pod-{number:07}" in survivors for number in range(acknowledged + 1))
    assert store.version > written
