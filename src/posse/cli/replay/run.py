"""Runs `posse replay`: replays the events of a recording, and says where decisions differ."""

from dataclasses import replace
from pathlib import Path

import msgspec
import typer
from rich.console import Console

from posse.cli.configuration_file import unusable
from posse.cli.problems import Misuse, Problem
from posse.cli.reading.snapshot_file import Listed, new_header, write_snapshot
from posse.configuration.problems import ConfigurationError
from posse.engine.options import EngineOptions
from posse.model.timestamps import TimestampError, format_timestamp, parse_timestamp
from posse.recording.replay import FirstDifference, Replay, objects_at, replay
from posse.recording.segments import RecordingError, RecordingHeader
from posse.runtime.process.configuration import load_configuration
from posse.runtime.process.recordings import recorded_options
from posse.runtime.watching.followed_kinds import FOLLOWED_KINDS
from posse.version import VERSION

DIFFERS = 3
_SHOWN = 8


def run_replay(folder: Path, at: str, snapshot_to: Path | None, config: Path | None) -> None:
    until = _time(at)
    try:
        header, options = recorded_options(folder)
        if config is not None:
            options = _other_rules(config, options)
        if snapshot_to is not None:
            _write_snapshot(folder, until, header, snapshot_to)
            return
        with Console(stderr=True).status("Replaying"):
            outcome = replay(folder, options, until)
    except RecordingError as error:
        raise Problem(str(error)) from error
    except ConfigurationError as error:
        raise unusable(error, config) from error
    for line in outcome_lines(outcome, header.version):
        typer.echo(line)
    if outcome.difference is not None:
        raise typer.Exit(DIFFERS)


def _time(text: str) -> float | None:
    if not text:
        return None
    try:
        return parse_timestamp(text)
    except TimestampError as error:
        raise Misuse(f"--at: {error}") from error


def _other_rules(config: Path, recorded: EngineOptions) -> EngineOptions:
    """The rules of the file, for the scheduler names of the recording if it has one profile."""
    found = load_configuration(config).options
    profiles = found.profiles
    if len(profiles) == 1:
        profiles = dict.fromkeys(recorded.profiles, next(iter(profiles.values())))
    return replace(found, profiles=profiles, gates=recorded.gates, asks=recorded.asks, effort=recorded.effort)


def outcome_lines(outcome: Replay, version: str) -> list[str]:
    lines = []
    if version != VERSION:
        lines.append(f"The recording is of Posse {version}, and this is {VERSION}.")
    if not outcome.is_from_the_start:
        lines.append(
            "The beginning of the recording was removed: first decisions may differ for that reason."
        )
    counted = f"{outcome.decisions:,} decisions in {outcome.rounds:,} rounds after {outcome.events:,} events"
    if outcome.difference is None:
        return [*lines, f"{counted}, all equal"]
    return [*lines, counted, *_difference_lines(outcome.difference)]


def _difference_lines(difference: FirstDifference) -> list[str]:
    recorded = [one for one in difference.recorded if one not in difference.replayed]
    replayed = [one for one in difference.replayed if one not in difference.recorded]
    lines = [f"The first round that differs is that of {format_timestamp(difference.now)}."]
    if not recorded and not replayed:
        return [*lines, "Bindings and evictions are the same; reports differ."]
    for title, outcomes in (("Recorded", recorded), ("Replayed", replayed)):
        lines.append(f"{title}:")
        lines += [f"  {one}" for one in outcomes[:_SHOWN]] or ["  nothing that the other does not do"]
        if len(outcomes) > _SHOWN:
            lines.append(f"  and {len(outcomes) - _SHOWN} more")
    return lines


def _write_snapshot(folder: Path, until: float | None, header: RecordingHeader, path: Path) -> None:
    kinds = {struct: kind for kind, struct in reversed(FOLLOWED_KINDS)}
    now, objects = objects_at(folder, until)
    listed = []
    for obj in objects:
        kind = kinds[type(obj)]
        version = kind.api_version_of(kind.versions[0])
        body = msgspec.to_builtins(obj) | {"apiVersion": version, "kind": kind.name}
        listed.append(Listed(kind.group_resource, body))
    served = [kind for kind, _ in FOLLOWED_KINDS]
    write_snapshot(path, new_header("default", now, served, [header.settings]), listed)
    typer.echo(f"{len(listed)} objects as of {format_timestamp(now)} in {path}")
