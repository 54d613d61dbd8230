"""Keeps learned run times in a file, so that a scheduler that is started again knows them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from posse.engine.events import KnownRuns

log = logging.getLogger(__name__)

NAME = "run-times.json"
_PAUSE_SECONDS = 300.0


class RunTimesFile:
    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._written: tuple[KnownRuns, ...] = ()

    def read(self) -> tuple[KnownRuns, ...]:
        """What was written last; nothing if there is no such file, or it cannot be read."""
        try:
            self._written = msgspec.json.decode(self._path.read_bytes(), type=tuple[KnownRuns, ...])
        except FileNotFoundError:
            pass
        except (OSError, msgspec.DecodeError) as error:
            log.warning("learned run times are lost: %s cannot be read: %s", self._path, error)
        return self._written

    async def run(self, known: Callable[[], Awaitable[tuple[KnownRuns, ...]]]) -> None:
        """Write what is known every few minutes, and once more when cancelled."""
        try:
            while True:
                await asyncio.sleep(_PAUSE_SECONDS)
                self.write(await known())
        finally:
            self.write(await known())

    def write(self, runs: tuple[KnownRuns, ...]) -> None:
        """The file is replaced as a whole, or stays as it is."""
        if runs == self._written:
            return
        fresh = self._path.with_suffix(".new")
        try:
            fresh.write_bytes(msgspec.json.encode(runs))
            fresh.replace(self._path)
        except OSError as error:
            log.warning("learned run times are not kept: %s", error)
        else:
            self._written = runs
