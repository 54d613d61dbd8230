"""Durability: the latest version of every object in one SQLite file, changed by one transaction per commit.

WAL with synchronous=NORMAL: a committed transaction survives the death of the process at any instant; only a crash of
the whole machine can lose the last ones, and even then what remains is a prefix of what was written.
The journal is used by one thread at a time and knows nothing of what objects mean.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from posse.store.data_directory import DataDirectory
from posse.store.errors import DataDirCorrupt, DataDirError, DataDirForeign, DataDirUnusable
from posse.store.objects import Change, Key

FILE_NAME = "objects.sqlite"
# "poss" in ASCII marks the file as ours; the schema is counted up when its tables change.
APPLICATION_ID = 0x706F7373
SCHEMA_VERSION = 1
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE objects(
    resource TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY(resource, namespace, name)
);
CREATE TABLE meta(version INTEGER NOT NULL);
INSERT INTO meta VALUES(0);
PRAGMA application_id={APPLICATION_ID};
PRAGMA user_version={SCHEMA_VERSION};
COMMIT;
"""
PUT = "INSERT OR REPLACE INTO objects VALUES(?, ?, ?, ?, ?)"
REMOVE = "DELETE FROM objects WHERE resource = ? AND namespace = ? AND name = ?"


class Row(NamedTuple):
    key: Key
    version: int
    body: bytes


class Journal:
    """An open file. `version` is the highest version known to be durable."""

    def __init__(self, directory: DataDirectory) -> None:
        self.path = directory.path / FILE_NAME
        self._directory = directory
        try:
            self._connection = _open(self.path)
            (self.version,) = self._connection.execute("SELECT version FROM meta").fetchone()
        except (sqlite3.Error, TypeError) as error:
            directory.release()
            raise _unusable(self.path, error) from error
        except DataDirError:
            directory.release()
            raise

    def rows(self) -> Iterator[Row]:
        """Read all objects, ordered by key."""
        query = (
            "SELECT resource, namespace, name, version, body FROM objects ORDER BY resource, namespace, name"
        )
        try:
            for resource, namespace, name, version, body in self._connection.execute(query):
                yield Row(Key(resource, namespace, name), version, body)
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    def advance(self, version: int) -> None:
        """Make it durable that versions up to `version` have been used."""
        try:
            self._transaction((), version)
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    def write(self, changes: Sequence[Change]) -> None:
        """Make the changes durable, all or none; sqlite3.Error when that fails."""
        self._transaction(changes, changes[-1].version)

    def close(self) -> None:
        self._connection.close()
        self._directory.release()

    def _transaction(self, changes: Iterable[Change], version: int) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._apply(changes)
            self._connection.execute("UPDATE meta SET version = ?", (version,))
            self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        self.version = version

    def _apply(self, changes: Iterable[Change]) -> None:
        # Only the last state of each object matters, and then the order of the statements does not.
        latest = {change.key: change for change in changes}
        puts, removals = [], []
        for key, change in latest.items():
            if change.after is None:
                removals.append(key)
            else:
                puts.append((*key, change.version, change.after.encoded))
        self._connection.executemany(PUT, puts)
        self._connection.executemany(REMOVE, removals)

    def _roll_back(self) -> None:
        # SQLite has already rolled back by itself after some errors, such as a full disk.
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")


def _open(path: Path) -> sqlite3.Connection:
    # Commits run in a worker thread; the store sees to it that only one thread is here at a time.
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        _check_schema(connection, path)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        # A burst may grow the write-ahead log; it is cut back to this once its pages are in the file.
        connection.execute("PRAGMA journal_size_limit=67108864")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_schema(connection: sqlite3.Connection, path: Path) -> None:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (schema_version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application_id == APPLICATION_ID and schema_version == SCHEMA_VERSION:
        return
    if application_id == APPLICATION_ID:
        detail = (
            f"was written with schema {schema_version}, this version of Posse knows schema {SCHEMA_VERSION}"
        )
        raise DataDirForeign(path, detail)
    if tables or application_id:
        raise DataDirForeign(path, "is a database of some other program")
    connection.executescript(SCHEMA)


def _unusable(path: Path, error: Exception) -> DataDirError:
    if isinstance(error, sqlite3.OperationalError):
        return DataDirUnusable(path.parent, str(error))
    return DataDirCorrupt(path, str(error))
