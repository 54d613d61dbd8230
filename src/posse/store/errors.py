# ruff: noqa: N818 - the names say what is the matter; the tree below says they are errors
"""What can go wrong outside the store, each error saying what a person can do about it.

StoreError
├── DataDirError        the data directory cannot be used
│   ├── DataDirLocked     another process has it open
│   ├── DataDirCorrupt    its file is damaged or is no database
│   │   └── AcknowledgedWritesMissing  it ends before what was acknowledged
│   ├── DataDirForeign    its file was written by something else, or by a newer Posse
│   └── DataDirUnusable   the operating system refuses: permissions, not a directory, no space
├── StoreFull           all objects together are larger than the store takes
├── ObjectTooLarge      an object is larger than the store takes
├── CommitFailed        writes could not be made durable; the store takes no further ones
└── HistoryExpired      a watcher asked for, or fell behind to, changes that are no longer kept
"""

from pathlib import Path


class StoreError(Exception):
    pass


class DataDirError(StoreError):
    """`path` is the file or directory the error is about."""

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path


class DataDirLocked(DataDirError):
    def __init__(self, path: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid else "another process"
        super().__init__(
            path,
            f"data directory {path} is in use by {holder}; stop that one first or use another --data-dir",
        )
        self.pid = pid


class DataDirCorrupt(DataDirError):
    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            path,
            f"{path} is damaged ({detail}); it was left untouched: restore a backup, "
            "move it away to start with an empty cluster, or see `posse check --help`",
        )
        self.detail = detail


class AcknowledgedWritesMissing(DataDirCorrupt):
    """`acknowledged` is None if the mark that says how far the database must reach is gone."""

    def __init__(self, path: Path, acknowledged: int | None, found: int) -> None:
        if acknowledged is None:
            detail = f"it ends at version {found}, and the file commit-mark beside it is missing or damaged"
        else:
            detail = f"writes up to version {acknowledged} were acknowledged, it ends at version {found}"
        super().__init__(path, detail)
        self.acknowledged = acknowledged
        self.found = found


class DataDirForeign(DataDirError):
    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(path, f"{path} {detail}; it was left untouched: use another --data-dir")
        self.detail = detail


class DataDirUnusable(DataDirError):
    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            path, f"data directory {path} cannot be used: {detail}; check it or use another --data-dir"
        )
        self.detail = detail


class ObjectTooLarge(StoreError):
    def __init__(self, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"the object takes {size_bytes} bytes, more than {limit_bytes}")
        self.limit_bytes = limit_bytes


class StoreFull(StoreError):
    def __init__(self, limit_bytes: int) -> None:
        super().__init__(
            f"the objects of this cluster take {limit_bytes} bytes, which is the limit; "
            "delete some of them first"
        )
        self.limit_bytes = limit_bytes


class CommitFailed(StoreError):
    def __init__(self, path: Path, detail: str) -> None:
        super().__init__(
            f"writes could not be made durable in {path}: {detail}; "
            "everything acknowledged so far is safe, nothing is accepted until Posse is started again"
        )
        self.path = path
        self.detail = detail


class HistoryExpired(StoreError):
    """`requested` lies outside of what is kept; `available` is the version the text names to the client."""

    def __init__(self, requested: int, available: int) -> None:
        super().__init__(f"too old resource version: {requested} ({available})")
        self.requested = requested
        self.available = available
