"""The directory that holds everything durable: private to the user, used by one process at a time.

What the files in it contain is not known here.
"""

import fcntl
import os
from pathlib import Path

from posse.store.errors import DataDirLocked, DataDirUnusable

LOCK_NAME = "lock"


class DataDirectory:
    """A directory held by this process until `release`; the lock ends with the process, however that ends.

    The directory itself is locked. The file `lock` only says which process holds it; removing it lets no
    other in.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.exists() and not path.is_dir():
            raise DataDirUnusable(path, "it is a file, not a directory")
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                self._hold()
            except BaseException:
                os.close(self._lock)
                raise
        except OSError as error:
            raise DataDirUnusable(path, error.strerror or str(error)) from error

    def open_private(self, name: str) -> int:
        """Open or create a file for reading and writing; only the owner can read it."""
        try:
            return _open_private(self.path / name)
        except OSError as error:
            raise DataDirUnusable(self.path, error.strerror or str(error)) from error

    def make_private(self, name: str) -> None:
        os.close(self.open_private(name))

    def release(self) -> None:
        os.close(self._lock)

    def _hold(self) -> None:
        note = self.path / LOCK_NAME
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = note.read_text().strip() if note.exists() else ""
            raise DataDirLocked(self.path, int(holder) if holder.isdigit() else None) from error
        descriptor = _open_private(note)
        os.truncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        os.close(descriptor)


def _open_private(path: Path) -> int:
    """Open for reading and writing a file that only its owner can read, whatever it was before."""
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if is_new:
        _sync_directory(path.parent)
    if os.fstat(descriptor).st_mode & 0o077:
        os.fchmod(descriptor, 0o600)
    return descriptor


def _sync_directory(path: Path) -> None:
    """Make the names in the directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
