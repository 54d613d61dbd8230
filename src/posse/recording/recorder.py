"""Writes a recording while the scheduler runs. It never stops the scheduler: without disk space it ends."""

import logging
from collections.abc import Sequence
from pathlib import Path

from posse.engine.decisions import Decision
from posse.engine.events import ClusterObject, EngineEvent, Observed, Vanished
from posse.recording.entries import EngineReset, KnownNow, NewEntry, absorbed_entry, decided_entry
from posse.recording.segments import SUFFIX, RecordingError, RecordingHeader, SegmentWriter, segments_in

log = logging.getLogger(__name__)

_ENTRIES_AT_ONCE = 500
_SEGMENTS = 8
"""A recording that reaches its size limit loses the oldest of about this many segments."""


class Recorder:
    def __init__(self, folder: Path, header: RecordingHeader, max_bytes: int) -> None:
        """RecordingError: the folder cannot be used."""
        self._folder, self._header = folder, header
        self._max_bytes = max_bytes
        self._pending: list[NewEntry] = []
        self._known: dict[tuple[str, str, str], ClusterObject] = {}
        """What the cluster holds, to begin each segment with."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            last = max((int(path.stem) for path in folder.glob(f"*{SUFFIX}")), default=0)
            self._number = last + 1
            self._writer: SegmentWriter | None = self._open()
        except (OSError, ValueError) as error:
            raise RecordingError(f"{folder} cannot be recorded to: {error}") from error
        self._pending.append(EngineReset())

    def absorbed(self, event: EngineEvent) -> None:
        if self._writer is None:
            return
        if isinstance(event, Observed | Vanished):
            metadata = event.obj.metadata
            key = (type(event.obj).__name__, metadata.namespace, metadata.name)
            if isinstance(event, Observed):
                self._known[key] = event.obj
            else:
                self._known.pop(key, None)
        self._pending.append(absorbed_entry(event))
        if len(self._pending) >= _ENTRIES_AT_ONCE:
            self.flush()

    def decided(self, now: float, decisions: Sequence[Decision]) -> None:
        if self._writer is None:
            return
        self._pending.append(decided_entry(now, decisions))
        if decisions or len(self._pending) >= _ENTRIES_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        if self._writer is None or not self._pending:
            return
        try:
            self._writer.write(self._pending)
            self._pending = []
            if self._writer.size > self._max_bytes // _SEGMENTS:
                self._rotate()
        except OSError as error:
            log.warning("the recording ends here: %s", error)
            self._writer.close()
            self._writer, self._pending = None, []

    def close(self) -> None:
        self.flush()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _open(self) -> SegmentWriter:
        writer = SegmentWriter(self._folder / f"{self._number:08}{SUFFIX}", self._header)
        self._number += 1
        return writer

    def _rotate(self) -> None:
        """Begin the next segment with all that is known, so that the ones before it can be removed."""
        if self._writer is not None:
            self._writer.close()
        self._writer = self._open()
        self._writer.write([KnownNow(tuple(absorbed_entry(Observed(obj)) for obj in self._known.values()))])
        segments = segments_in(self._folder)
        sizes = [path.stat().st_size for path in segments]
        while len(segments) > 1 and sum(sizes) > self._max_bytes:
            segments.pop(0).unlink()
            sizes.pop(0)
