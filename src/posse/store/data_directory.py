"""The directory that holds everything durable: made when missing, private to the user, used by one process at a time.

What the files in it contain is not known here.
"""

import fcntl
import os
from pathlib import Path
from typing import IO

from posse.store.errors import DataDirLocked, DataDirUnusable

LOCK_NAME = "lock"


class DataDirectory:
    """A directory held by this process until `release`; the lock ends with the process, however that ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = _take_lock(path)
        except OSError as error:
            raise DataDirUnusable(path, error.strerror or str(error)) from error

    def release(self) -> None:
        self._lock.close()


def _take_lock(path: Path) -> IO[str]:
    lock = (path / LOCK_NAME).open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.seek(0)
        holder = lock.read().strip()
        lock.close()
        raise DataDirLocked(path, int(holder) if holder.isdigit() else None) from error
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock
