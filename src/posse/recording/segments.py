"""The files of a recording: segments of compressed frames with checksums.

A segment begins with a line of JSON that says its format, version and settings. Each frame is a head with
length and checksums, then a compressed list of entries. A torn last frame is left out: it never was
complete.
"""

import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from posse.recording.entries import ENTRIES_DECODER, ENTRIES_ENCODER, Entry, NewEntry

FORMAT = 1
_FRAME = struct.Struct(">II")
"""Length and checksum of the data; a checksum of these two follows."""
_HEAD_BYTES = _FRAME.size + 4
SUFFIX = ".rec"
_MAX_HEADER_BYTES = 1 << 20


class RecordingError(Exception):
    """The recording cannot be read or written; the message names the file."""


@dataclass(frozen=True, slots=True)
class RecordingHeader:
    version: str
    """Of Posse."""
    settings: dict[str, Any]
    """Of the scheduler, as `posse.runtime.process.settings` reads them."""
    asks: bool
    effort: float


class SegmentWriter:
    def __init__(self, path: Path, header: RecordingHeader) -> None:
        self.path = path
        self._file: BinaryIO = path.open("xb")
        os.fchmod(self._file.fileno(), 0o600)
        line = {"format": FORMAT, "version": header.version, "settings": header.settings}
        self._file.write(json.dumps(line | {"asks": header.asks, "effort": header.effort}).encode() + b"\n")
        self._file.flush()
        self.size = self._file.tell()

    def write(self, entries: Sequence[NewEntry]) -> None:
        data = zlib.compress(ENTRIES_ENCODER.encode(entries), 1)
        head = _FRAME.pack(len(data), zlib.crc32(data))
        self._file.write(head + zlib.crc32(head).to_bytes(4) + data)
        self._file.flush()
        self.size += _HEAD_BYTES + len(data)

    def close(self) -> None:
        self._file.close()


def segments_in(folder: Path) -> list[Path]:
    """In order, without those whose header was never completed. RecordingError: there are none."""
    found = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    begun = [path for path in found if _is_begun(path)]
    if not begun:
        raise RecordingError(f"{folder} holds no recording: no file that ends in {SUFFIX} has a whole header")
    return begun


def _is_begun(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            line = file.readline(_MAX_HEADER_BYTES)
    except FileNotFoundError:  # Removed meanwhile, since the recording has reached its size.
        return False
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}") from error
    return line.endswith(b"\n") or len(line) == _MAX_HEADER_BYTES


def read_header(path: Path) -> RecordingHeader:
    with path.open("rb") as file:
        return _header(path, file)


def _header(path: Path, file: BinaryIO) -> RecordingHeader:
    try:
        line = json.loads(file.readline(_MAX_HEADER_BYTES))
        known = line["format"]
    except (ValueError, KeyError, TypeError) as error:
        raise RecordingError(f"{path} is not a recording: its first line is not a header") from error
    if known != FORMAT:
        raise RecordingError(
            f"{path} has format {known}, and this version reads {FORMAT}: use the version that wrote it"
        )
    return RecordingHeader(str(line["version"]), line["settings"], bool(line["asks"]), float(line["effort"]))


def read_entries(
    path: Path, *, may_be_torn: bool, tell: Callable[[str], None] = lambda _: None
) -> Iterator[Entry]:
    """RecordingError: the file is damaged, or ends in the middle of a frame though it may not be torn.

    `tell` gets a message about a torn end.
    """
    with path.open("rb") as file:
        _header(path, file)
        while head := file.read(_HEAD_BYTES):
            start = file.tell() - len(head)
            if len(head) == _HEAD_BYTES and zlib.crc32(head[: _FRAME.size]) != int.from_bytes(
                head[_FRAME.size :]
            ):
                raise RecordingError(f"{path} is damaged at byte {start}")
            length, checksum = _FRAME.unpack(head[: _FRAME.size]) if len(head) == _HEAD_BYTES else (1, 0)
            data = file.read(length)
            if len(data) < length and may_be_torn:
                tell(f"{path.name} ends within a write, at byte {start}: what came after that is lost.")
                return
            if len(data) < length or zlib.crc32(data) != checksum:
                raise RecordingError(f"{path} is damaged at byte {start}")
            try:
                yield from ENTRIES_DECODER.decode(zlib.decompress(data))
            except (zlib.error, msgspec.MsgspecError) as error:
                raise RecordingError(f"{path} is damaged at byte {start}: {error}") from error
