"""Whatever happens to the files, damage is found when they are opened, or it is harmless."""

import os
import sqlite3
import stat

import pytest

from posse.store import maintenance
from posse.store.commit_mark import FILE_NAME as MARK
from posse.store.errors import AcknowledgedWritesMissing, DataDirCorrupt, DataDirError
from posse.store.journal import FILE_NAME, checksum_of
from posse.store.objects import Key
from posse.store.store import Store
from tests.storage.flips import LOG, contents, crashed_directory, flip_many, key, put


@pytest.fixture
def crashed(tmp_path):
    return crashed_directory(tmp_path)


def test_a_flipped_bit_anywhere_is_found_or_harmless(tmp_path):
    assert flip_many(tmp_path, 150, seed=17) > 50


@pytest.mark.parametrize("size", [0, 32, 5000, 40000])
def test_a_log_that_was_cut_off_is_found(crashed, size):
    folder, _ = crashed
    os.truncate(folder / LOG, size)
    with pytest.raises(AcknowledgedWritesMissing, match=r"acknowledged, it ends at version"):
        Store.open(folder)


def test_a_missing_log_is_found(crashed):
    folder, _ = crashed
    (folder / LOG).unlink()
    with pytest.raises(AcknowledgedWritesMissing):
        Store.open(folder)


@pytest.mark.parametrize("leaves", ["nothing", "an empty file"])
def test_a_missing_database_is_found(crashed, leaves):
    folder, _ = crashed
    (folder / LOG).unlink()
    (folder / FILE_NAME).unlink()
    if leaves == "an empty file":
        (folder / FILE_NAME).touch()
    with pytest.raises(AcknowledgedWritesMissing, match="it ends at version 0"):
        Store.open(folder)


def test_a_missing_mark_is_found_and_the_loss_can_be_accepted(crashed):
    folder, expected = crashed
    (folder / MARK).unlink()
    with pytest.raises(AcknowledgedWritesMissing, match="commit-mark"):
        Store.open(folder)
    maintenance.accept_loss(folder)
    store = Store.open(folder)
    assert contents(store) == expected
    store.close()


def test_a_cut_log_can_be_accepted_as_it_is(crashed):
    folder, expected = crashed
    os.truncate(folder / LOG, 40000)
    maintenance.accept_loss(folder)
    store = Store.open(folder)
    assert contents(store).keys() < expected.keys()
    store.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE objects SET body = CAST(replace(body, 'x', 'z') AS BLOB) WHERE name = 'pod-0003'",
        "UPDATE objects SET version = 7 WHERE name = 'pod-0003'",
        "DELETE FROM objects WHERE name = 'pod-0003'",
        "UPDATE meta SET version = version + 1",
        "INSERT INTO objects SELECT resource, namespace, 'other', version, body, checksum FROM objects LIMIT 1",
    ],
)
def test_rows_changed_behind_our_back_are_found(crashed, change):
    folder, _ = crashed
    with sqlite3.connect(folder / FILE_NAME) as connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(DataDirCorrupt, match="checksum"):
        Store.open(folder)


def test_a_file_without_checksums_is_brought_up_to_date(tmp_path):
    folder = tmp_path / "old"
    folder.mkdir()
    with sqlite3.connect(folder / FILE_NAME) as connection:
        connection.execute(
            "CREATE TABLE objects(resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL, "
            "version INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY(resource, namespace, name))"
        )
        connection.execute("CREATE TABLE meta(version INTEGER NOT NULL)")
        connection.execute("INSERT INTO meta VALUES(41)")
        body = b'{"metadata":{"name":"a","resourceVersion":"40"}}'
        connection.execute("INSERT INTO objects VALUES('pods', 'default', 'a', 40, ?)", (body,))
        connection.execute(f"PRAGMA application_id={0x706F7373}")
        connection.execute("PRAGMA user_version=1")
    connection.close()
    store = Store.open(folder)
    assert contents(store) == {"a": body}
    store.close()
    assert maintenance.check(folder).objects == {"pods": 1}


def test_only_the_owner_can_read_the_files_whatever_the_directory_was_before(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    (folder / FILE_NAME).touch(mode=0o644)
    store = Store.open(folder)
    put(store, "a", "secret")
    store.commit_pending()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    store.close()
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}
    assert {FILE_NAME, LOG, MARK, "lock"} <= set(modes)


def test_removing_the_lock_file_lets_no_second_process_in(tmp_path):
    store = Store.open(tmp_path / "data")
    (tmp_path / "data" / "lock").unlink()
    with pytest.raises(DataDirError, match="in use by another process"):
        Store.open(tmp_path / "data")
    store.close()


def test_every_commit_is_synced_before_it_counts_as_durable(tmp_path, monkeypatch):
    store = Store.open(tmp_path / "data")
    synced = []
    monkeypatch.setattr(os, "fdatasync", lambda file: synced.append(store.durable_version))
    put(store, "a", "x")
    before = store.durable_version
    store.commit_pending()
    assert synced == [before]
    assert store._journal._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    store.close()
    faster = Store.open(tmp_path / "other", fsync=False)
    synced.clear()
    put(faster, "a", "x")
    faster.commit_pending()
    assert synced == []
    faster.close()


def test_deleted_objects_give_their_space_back(tmp_path):
    store = Store.open(tmp_path / "data")
    for number in range(200):
        put(store, f"pod-{number}", "x" * 100_000)
    store.commit_pending()
    for number in range(200):
        store.delete(key(f"pod-{number}"), store.get(key(f"pod-{number}")).version)
        store.commit_pending()
    for _ in range(20):
        put(store, "small", "x")
        store.commit_pending()
    store.close()
    assert (tmp_path / "data" / FILE_NAME).stat().st_size < 8_000_000


def test_a_backup_of_a_running_cluster_is_checked_and_comes_back(tmp_path):
    store = Store.open(tmp_path / "data")
    put(store, "a", "x")
    store.commit_pending()
    copied_contents = maintenance.backup(tmp_path / "data", tmp_path / "copy")
    put(store, "b", "y")
    store.commit_pending()
    assert copied_contents.objects == {"pods": 1}
    assert maintenance.check(tmp_path / "data").objects == {"pods": 2}
    store.close()
    maintenance.restore(tmp_path / "copy", tmp_path / "again")
    again = Store.open(tmp_path / "again")
    assert list(contents(again)) == ["a"]
    again.close()
    with pytest.raises(DataDirError, match="exists already"):
        maintenance.restore(tmp_path / "copy", tmp_path / "again")
    with pytest.raises(DataDirError, match="exists already"):
        maintenance.backup(tmp_path / "data", tmp_path / "copy")


def test_checksums_tell_names_contents_and_versions_apart():
    told = {
        checksum_of(Key("pods", "a", "bc"), 1, b"x"),
        checksum_of(Key("pods", "ab", "c"), 1, b"x"),
        checksum_of(Key("pods", "a", "bc"), 11, b"x"),
        checksum_of(Key("pods", "a", "bc"), 1, b"1x"),
    }
    assert len(told) == 4
