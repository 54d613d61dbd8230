"""Recordings of a running scheduler: with its settings, so that they can be replayed by the same rules."""

from dataclasses import replace
from pathlib import Path

from posse.configuration.reading import Configuration
from posse.engine.options import EngineOptions
from posse.recording.recorder import Recorder
from posse.recording.segments import RecordingHeader, read_header, segments_in
from posse.runtime.process.settings import options_of, settings_of
from posse.version import VERSION


def new_recorder(
    folder: Path | None, max_bytes: int, configuration: Configuration, options: EngineOptions
) -> Recorder | None:
    """None if nothing is to be recorded. RecordingError: the folder cannot be used."""
    if folder is None:
        return None
    header = RecordingHeader(VERSION, settings_of(configuration, options), options.asks, options.effort)
    return Recorder(folder, header, max_bytes)


def recorded_options(folder: Path) -> tuple[RecordingHeader, EngineOptions]:
    """The options of the engine that was recorded. RecordingError, ConfigurationError."""
    header = read_header(segments_in(folder)[-1])
    return header, replace(options_of(header.settings), asks=header.asks, effort=header.effort)
