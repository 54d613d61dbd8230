"""Durability: the latest version of every object in one SQLite file, changed by one transaction per commit.

A commit is on disk, by fsync, before it is acknowledged. Every row carries a checksum, and `meta` their sum,
so that a changed, lost or stale row is found when the file is opened. SQLite drops a damaged end of its log
without an error; the commit mark beside the file says how far the log must reach. The journal is used by one
thread at a time.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from posse.store.commit_mark import CommitMark
from posse.store.data_directory import DataDirectory
from posse.store.errors import DataDirCorrupt, DataDirError, DataDirForeign, DataDirUnusable
from posse.store.objects import Change, Key, Stored

FILE_NAME = "objects.sqlite"
# "poss" in ASCII marks the file as ours; the schema is counted up when its tables change.
APPLICATION_ID = 0x706F7373
SCHEMA_VERSION = 2
OBJECTS_TABLE = """
CREATE TABLE objects(
    resource TEXT NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    body BLOB NOT NULL,
    checksum BLOB NOT NULL,
    PRIMARY KEY(resource, namespace, name)
)
"""
META_TABLE = "CREATE TABLE meta(version INTEGER NOT NULL, total BLOB NOT NULL, checksum BLOB NOT NULL)"
PUT = "INSERT OR REPLACE INTO objects VALUES(?, ?, ?, ?, ?, ?)"
REMOVE = "DELETE FROM objects WHERE resource = ? AND namespace = ? AND name = ?"
WAL_BYTES_KEPT = 16 * 1024 * 1024
# Free pages go back to the file system in portions, once there are many of them.
FREE_PAGES_KEPT = 1024
FREE_PAGES_PER_COMMIT = 512
_TOTAL_MODULUS = 2**64


class Row(NamedTuple):
    key: Key
    version: int
    body: bytes


class Journal:
    """An open file. `version` is the highest version known to be durable.

    Without `fsync` a commit survives the death of the process, but not that of the machine.
    """

    def __init__(self, directory: DataDirectory, *, fsync: bool = True) -> None:
        self.path = directory.path / FILE_NAME
        self._directory = directory
        self._mark = CommitMark(directory, fsync=fsync)
        try:
            self._connection = self._open_connection(fsync=fsync)
        except (sqlite3.Error, OSError, TypeError, DataDirError) as error:
            self._mark.close()
            directory.release()
            if isinstance(error, DataDirError):
                raise
            raise _unusable(self.path, error) from error

    def _open_connection(self, *, fsync: bool) -> sqlite3.Connection:
        if not self.path.exists() or not self.path.stat().st_size:
            self._mark.check_unused(self.path)
        self._directory.make_private(self.path.name)
        connection, schema = _open(self.path, fsync=fsync)
        self.version, self._total = read_version(connection, self.path)
        if schema == SCHEMA_VERSION:
            CommitMark.compare(self._mark.version, self.version, self.path)
        else:
            self._mark.write(self.version)
        return connection

    def rows(self) -> Iterator[Row]:
        return checked_rows(self._connection, self.path, self._total)

    def advance(self, version: int) -> None:
        """Make it durable that versions up to `version` have been used."""
        try:
            self._commit((), version)
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    def write(self, changes: Sequence[Change]) -> None:
        """Make the changes durable, all or none; sqlite3.Error or OSError when that fails."""
        self._commit(changes, changes[-1].version)

    def close(self) -> None:
        self._connection.close()
        self._mark.close()
        self._directory.release()

    def _commit(self, changes: Iterable[Change], version: int) -> None:
        with _transaction(self._connection):
            total = (self._total + self._apply(changes)) % _TOTAL_MODULUS
            self._connection.execute(
                "UPDATE meta SET version = ?, total = ?, checksum = ?", _meta(version, total)
            )
        self._mark.write(version)
        self.version, self._total = version, total
        self._give_back_free_pages()

    def _apply(self, changes: Iterable[Change]) -> int:
        """Return by how much the sum of all checksums changes."""
        # Only the first and the last state of each object matter; then the order of the statements does not.
        durable: dict[Key, Stored | None] = {}
        latest: dict[Key, Change] = {}
        for change in changes:
            durable.setdefault(change.key, change.before)
            latest[change.key] = change
        growth = 0
        puts, removals = [], []
        for key, change in latest.items():
            before = durable[key]
            if before is not None:
                growth -= int.from_bytes(checksum_of(key, before.version, before.encoded))
            if change.after is None:
                removals.append(key)
                continue
            checksum = checksum_of(key, change.version, change.after.encoded)
            growth += int.from_bytes(checksum)
            puts.append((*key, change.version, change.after.encoded, checksum))
        self._connection.executemany(PUT, puts)
        self._connection.executemany(REMOVE, removals)
        return growth

    def _give_back_free_pages(self) -> None:
        (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        if free > FREE_PAGES_KEPT:
            # `execute` would stop after the first page.
            self._connection.executescript(f"PRAGMA incremental_vacuum({FREE_PAGES_PER_COMMIT})")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has already rolled back by itself after some errors, such as a full disk.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def checksum_of(key: Key, version: int, body: bytes) -> bytes:
    digest = blake2b("\0".join((*key, str(version), "")).encode(), digest_size=8)
    digest.update(body)
    return digest.digest()


def checked_rows(connection: sqlite3.Connection, path: Path, total: int) -> Iterator[Row]:
    """Read all objects, ordered by key. DataDirCorrupt: one of them is damaged, or some are missing."""
    query = (
        "SELECT resource, namespace, name, version, body, checksum FROM objects "
        "ORDER BY resource, namespace, name"
    )
    found = 0
    try:
        _check_integrity(connection, path)
        for resource, namespace, name, version, body, checksum in connection.execute(query):
            key = Key(resource, namespace, name)
            if checksum != checksum_of(key, version, body):
                raise DataDirCorrupt(path, f"{'/'.join(key)} does not match its checksum")
            found += int.from_bytes(checksum)
            yield Row(key, version, body)
    except (sqlite3.Error, TypeError) as error:
        raise _unusable(path, error) from error
    if found % _TOTAL_MODULUS != total:
        raise DataDirCorrupt(path, "the objects do not add up to the checksum of the last commit")


def connect_read_only(path: Path) -> sqlite3.Connection:
    """DataDirError: it is no database of ours. It may be in use by a cluster."""
    if not path.is_file():
        raise DataDirUnusable(path.parent, f"there is no file {path.name}")
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
    except sqlite3.Error as error:
        connection.close()
        raise _unusable(path, error) from error
    if application_id != APPLICATION_ID or schema != SCHEMA_VERSION:
        connection.close()
        raise DataDirForeign(path, f"is no database of schema {SCHEMA_VERSION} of Posse")
    return connection


def read_version(connection: sqlite3.Connection, path: Path) -> tuple[int, int]:
    """Return the version of the last commit, and the sum of all checksums."""
    try:
        rows = connection.execute("SELECT version, total, checksum FROM meta").fetchall()
        if len(rows) == 1 and tuple(rows[0]) == _meta(rows[0][0], int.from_bytes(rows[0][1])):
            return rows[0][0], int.from_bytes(rows[0][1])
    except (sqlite3.Error, TypeError, OverflowError) as error:
        raise _unusable(path, error) from error
    raise DataDirCorrupt(path, "its version does not match its checksum")


def _meta(version: int, total: int) -> tuple[int, bytes, bytes]:
    stored = total.to_bytes(8)
    return version, stored, checksum_of(Key("", "", "meta"), version, stored)


def _open(path: Path, *, fsync: bool) -> tuple[sqlite3.Connection, int]:
    """Return the connection, and the schema the file had before; 0 for a new file."""
    # Commits run in a worker thread; the store sees to it that only one thread is here at a time.
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        schema = _check_schema(connection, path)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute(f"PRAGMA synchronous={'FULL' if fsync else 'NORMAL'}")
        # A burst may grow the write-ahead log; it is cut back to this once its pages are in the file.
        connection.execute(f"PRAGMA journal_size_limit={WAL_BYTES_KEPT}")
    except BaseException:
        connection.close()
        raise
    return connection, schema


def _check_schema(connection: sqlite3.Connection, path: Path) -> int:
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    (schema_version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if application_id == APPLICATION_ID and schema_version == SCHEMA_VERSION:
        return SCHEMA_VERSION
    if application_id == APPLICATION_ID and schema_version == 1:
        with _transaction(connection):
            _add_checksums(connection)
        return 1
    if application_id == APPLICATION_ID:
        detail = (
            f"was written with schema {schema_version}, this version of Posse knows schema {SCHEMA_VERSION}"
        )
        raise DataDirForeign(path, detail)
    if tables or application_id:
        raise DataDirForeign(path, "is a database of some other program")
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    with _transaction(connection):
        _create_tables(connection, 0, ())
    return 0


def _add_checksums(connection: sqlite3.Connection) -> None:
    """Bring a file of schema 1, which had no checksums, to the present schema."""
    (version,) = connection.execute("SELECT version FROM meta").fetchone()
    rows = connection.execute("SELECT resource, namespace, name, version, body FROM objects").fetchall()
    connection.execute("DROP TABLE objects")
    connection.execute("DROP TABLE meta")
    _create_tables(connection, version, [Row(Key(*row[:3]), *row[3:]) for row in rows])


def _create_tables(connection: sqlite3.Connection, version: int, rows: Sequence[Row]) -> None:
    checksums = [checksum_of(*row) for row in rows]
    total = sum(map(int.from_bytes, checksums)) % _TOTAL_MODULUS
    connection.execute(OBJECTS_TABLE)
    connection.execute(META_TABLE)
    puts = [
        (*row.key, row.version, row.body, checksum) for row, checksum in zip(rows, checksums, strict=True)
    ]
    connection.executemany(PUT, puts)
    connection.execute("INSERT INTO meta VALUES(?, ?, ?)", _meta(version, total))
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def _check_integrity(connection: sqlite3.Connection, path: Path) -> None:
    """Let SQLite look at its own structure: a damaged index would send later writes to wrong rows."""
    (finding,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if finding != "ok":
        raise DataDirCorrupt(path, finding.replace("\n", " "))


def _unusable(path: Path, error: Exception) -> DataDirError:
    if isinstance(error, OSError):
        return DataDirUnusable(path.parent, error.strerror or str(error))
    if isinstance(error, sqlite3.OperationalError):
        return DataDirUnusable(path.parent, str(error))
    return DataDirCorrupt(path, str(error))
