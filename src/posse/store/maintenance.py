"""Inspect, copy and restore the file of a cluster. All but `restore` work beside a running cluster."""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from posse.store.commit_mark import CommitMark
from posse.store.data_directory import DataDirectory
from posse.store.errors import DataDirForeign, DataDirUnusable
from posse.store.journal import FILE_NAME, checked_rows, connect_read_only, read_version


@dataclass(frozen=True, slots=True)
class Contents:
    """What a database holds, all of it found to be sound."""

    version: int
    objects: Mapping[str, int]
    """By resource."""
    size_bytes: int
    """Of the file and of its log."""


def check(directory: Path) -> Contents:
    """DataDirError: the database is damaged, or ends before what was acknowledged."""
    database = directory / FILE_NAME
    if not database.exists() and not CommitMark.read(directory) > 0:
        raise DataDirUnusable(directory, f"there is no {FILE_NAME} in it")
    # The mark is read first: a cluster that runs moves the database on before the mark.
    acknowledged = CommitMark.read(directory)
    contents = _inspect(database)
    CommitMark.compare(acknowledged, contents.version, database)
    return contents


def accept_loss(directory: Path) -> Contents:
    """Take what the database holds for all there was: a start no longer asks for what is missing."""
    contents = _inspect(directory / FILE_NAME)
    held = DataDirectory(directory)
    mark = CommitMark(held)
    try:
        # Both records: the older one may name a version that is missing.
        mark.write(contents.version)
        mark.write(contents.version)
    finally:
        mark.close()
        held.release()
    return contents


def backup(directory: Path, target: Path) -> Contents:
    """Copy the committed state into a new file, and check the copy."""
    if target.exists():
        raise DataDirUnusable(target, "it exists already")
    check(directory)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch(mode=0o600)
    _copy(directory / FILE_NAME, target)
    return _inspect(target)


def restore(source: Path, directory: Path) -> Contents:
    """Put a backup into a data directory that has no database."""
    contents = _inspect(source)
    held = DataDirectory(directory)
    try:
        if (directory / FILE_NAME).exists():
            raise DataDirForeign(directory / FILE_NAME, "exists already")
        held.make_private(FILE_NAME)
        _copy(source, directory / FILE_NAME)
        mark = CommitMark(held)
        mark.write(contents.version)
        mark.close()
    finally:
        held.release()
    return contents


def _inspect(database: Path) -> Contents:
    connection = connect_read_only(database)
    try:
        connection.execute("BEGIN")
        version, total = read_version(connection, database)
        counts = Counter(row.key.resource for row in checked_rows(connection, database, total))
    finally:
        connection.close()
    log = database.with_name(f"{database.name}-wal")
    size = sum(path.stat().st_size for path in (database, log) if path.exists())
    return Contents(version, dict(sorted(counts.items())), size)


def _copy(source: Path, target: Path) -> None:
    reading, writing = connect_read_only(source), sqlite3.connect(target)
    try:
        reading.backup(writing)
        writing.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise DataDirUnusable(target.parent, str(error)) from error
    finally:
        reading.close()
        writing.close()
