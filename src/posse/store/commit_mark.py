"""How far acknowledged commits reach, kept outside of the database so that a lost end of it is noticed.

The mark is two records of 64 bytes in sectors of their own, written in turn: a write that is torn, or a byte
that rots, spoils one of them at most.
"""

import os
import struct
from hashlib import blake2b
from pathlib import Path

from posse.store.data_directory import DataDirectory
from posse.store.errors import AcknowledgedWritesMissing

FILE_NAME = "commit-mark"
_SLOT_BYTES = 4096
_RECORD = struct.Struct("<8sQ16s")
_MAGIC = b"possemrk"


_NO_RECORD = -1


class CommitMark:
    """`version` is the highest version that may have been acknowledged; negative if no record can be read."""

    def __init__(self, directory: DataDirectory, *, fsync: bool = True) -> None:
        self._fsync = fsync
        self._file = directory.open_private(FILE_NAME)
        records = _records(os.pread(self._file, 2 * _SLOT_BYTES, 0))
        self.version = max(records)
        # The older record is overwritten first.
        self._slot = records.index(min(records))

    @staticmethod
    def read(directory: Path) -> int:
        """Return the version of a mark that may be in use; negative if there is none that can be read."""
        path = directory / FILE_NAME
        return max(_records(path.read_bytes())) if path.is_file() else _NO_RECORD

    @staticmethod
    def compare(acknowledged: int, version: int, database: Path) -> None:
        """AcknowledgedWritesMissing: the database ends before the mark, or there is no mark."""
        if acknowledged == _NO_RECORD:
            raise AcknowledgedWritesMissing(database, None, version)
        if acknowledged > version:
            raise AcknowledgedWritesMissing(database, acknowledged, version)

    def check_unused(self, database: Path) -> None:
        """AcknowledgedWritesMissing: there is no database, although something was acknowledged."""
        if self.version > 0:
            raise AcknowledgedWritesMissing(database, self.version, 0)

    def write(self, version: int) -> None:
        os.pwrite(self._file, _record(version), self._slot * _SLOT_BYTES)
        if self._fsync:
            os.fdatasync(self._file)
        self.version, self._slot = version, 1 - self._slot

    def close(self) -> None:
        os.close(self._file)


def _records(data: bytes) -> list[int]:
    return [_read(data[slot * _SLOT_BYTES :][: _RECORD.size]) for slot in range(2)]


def _record(version: int) -> bytes:
    return _RECORD.pack(_MAGIC, version, _digest(version))


def _digest(version: int) -> bytes:
    return blake2b(_MAGIC + version.to_bytes(8), digest_size=16).digest()


def _read(data: bytes) -> int:
    if len(data) < _RECORD.size:
        return _NO_RECORD
    magic, version, digest = _RECORD.unpack(data)
    return int(version) if magic == _MAGIC and digest == _digest(version) else _NO_RECORD
