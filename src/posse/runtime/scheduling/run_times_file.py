"""Keeps what was learned in a file, so that a scheduler that is started again knows it.

That is how long runs took, and the margins of forecasts.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from posse.engine.events import KnownRuns
from posse.engine.forecast.calibration import Calibration

log = logging.getLogger(__name__)

NAME = "run-times.json"
_PAUSE_SECONDS = 300.0
_NO_MARGINS = msgspec.Raw(b"null")


class LearnedSoFar(msgspec.Struct, frozen=True):
    runs: tuple[KnownRuns, ...] = ()
    margins: Calibration | None = None
    """None where nothing was learned of forecasts."""


class _Stored(msgspec.Struct):
    runs: tuple[KnownRuns, ...] = ()
    margins: msgspec.Raw = _NO_MARGINS


class RunTimesFile:
    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._written = LearnedSoFar()

    def read(self) -> LearnedSoFar:
        """What was written last; nothing if there is no such file, or it cannot be read."""
        try:
            # Earlier versions wrote a list of runs.
            stored = msgspec.json.decode(self._path.read_bytes(), type=tuple[KnownRuns, ...] | _Stored)
        except FileNotFoundError:
            return self._written
        except (OSError, msgspec.DecodeError) as error:
            log.warning("learned run times are lost: %s cannot be read: %s", self._path, error)
            return self._written
        if isinstance(stored, _Stored):
            self._written = LearnedSoFar(stored.runs, self._margins(stored.margins))
        else:
            self._written = LearnedSoFar(stored)
        return self._written

    def _margins(self, stored: msgspec.Raw) -> Calibration | None:
        try:
            found = msgspec.json.decode(stored, type=Calibration | None)
        except msgspec.DecodeError as error:
            log.warning("learned margins of forecasts are lost: %s: %s", self._path, error)
            return None
        if found is not None and not found.is_plausible:
            log.warning("learned margins of forecasts are lost: %s: %s makes no sense", self._path, found)
            return None
        return found

    async def run(self, known: Callable[[], Awaitable[LearnedSoFar]]) -> None:
        """Write what is known every few minutes, and once more when cancelled."""
        try:
            while True:
                await asyncio.sleep(_PAUSE_SECONDS)
                self.write(await known())
        finally:
            self.write(await known())

    def write(self, learned: LearnedSoFar) -> None:
        """The file is replaced as a whole, or stays as it is."""
        if learned == self._written:
            return
        fresh = self._path.with_suffix(".new")
        try:
            fresh.write_bytes(msgspec.json.encode(learned))
            fresh.replace(self._path)
        except OSError as error:
            log.warning("learned run times are not kept: %s", error)
        else:
            self._written = learned
