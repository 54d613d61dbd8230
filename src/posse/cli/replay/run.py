"""Runs `posse replay`: replays the events of a recording, and says where decisions differ."""

from dataclasses import dataclass, replace
from pathlib import Path

import typer
from rich.console import Console

from posse.cli.configuration_file import unusable
from posse.cli.problems import Misuse, Problem
from posse.cli.reading.recorded import recorded_objects
from posse.cli.reading.snapshot_file import write_snapshot
from posse.cli.replay.looking_back import look_back
from posse.cli.replay.what_if import WhatIf, what_if
from posse.cli.simulate.words import comparison_lines
from posse.configuration.problems import ConfigurationError
from posse.engine.options import EngineOptions
from posse.model.timestamps import TimestampError, format_timestamp, parse_timestamp
from posse.recording.replay import FirstDifference, Replay, replay
from posse.recording.segments import RecordingError, RecordingHeader
from posse.runtime.process.configuration import load_configuration
from posse.runtime.process.recordings import recorded_options
from posse.simulation.comparison import first_divergence
from posse.version import VERSION

DIFFERS = 3


@dataclass(frozen=True, slots=True)
class ReplayChange:
    """How the replay differs from what was recorded; the options, as they were given."""

    config: Path | None = None
    add_nodes: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


_SHOWN = 8


def run_replay(
    folder: Path, at: str, snapshot_to: Path | None, change: ReplayChange, words: list[str]
) -> None:
    """Exit: something differs, or the verb that `words` begin with says so."""
    until = _time(at)
    try:
        header, recorded = recorded_options(folder)
        if words:
            look_back(words, lambda path: write_snapshot(path, *recorded_objects(folder, until, header)))
            return
        if snapshot_to is not None:
            _write_snapshot(folder, until, header, snapshot_to)
            return
        rules = _other_rules(change.config, recorded) if change.config is not None else None
        asked = WhatIf(change.add_nodes, change.without, rules)
        has_difference = False
        if not change.add_nodes and not change.without:
            with Console(stderr=True).status("Replaying"):
                outcome = replay(folder, rules or recorded, until)
            _check_compared(folder, outcome, at)
            has_difference = outcome.difference is not None
            for line in outcome_lines(outcome, header.version):
                typer.echo(line)
            if until is not None and outcome.is_to_the_end:
                typer.echo(f"The recording ends before that time, at {format_timestamp(outcome.last_round)}.")
        if asked:
            has_difference |= _show_what_if(folder, asked, recorded)
    except RecordingError as error:
        raise Problem(str(error)) from error
    except ConfigurationError as error:
        raise unusable(error, change.config) from error
    if has_difference:
        raise typer.Exit(DIFFERS)


def _check_compared(folder: Path, outcome: Replay, at: str) -> None:
    if outcome.rounds:
        return
    losses = " ".join(["", *outcome.losses])
    raise Problem(
        f"{folder}: nothing was decided{f' up to {at}' if at else ''}, so nothing was compared.{losses}"
    )


def _show_what_if(folder: Path, asked: WhatIf, recorded: EngineOptions) -> bool:
    """Print how the jobs would have gone. Returns whether any goes differently."""
    comparison = what_if(folder, asked, recorded)
    typer.echo("\nThe jobs of the recording in virtual time, each as long as it ran:")
    for line in comparison_lines(comparison):
        typer.echo(line)
    one, other = comparison.runs
    return first_divergence(one.record, other.record) is not None


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
    lines = [*outcome.losses]
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
    found, listed = recorded_objects(folder, until, header)
    write_snapshot(path, found, listed)
    typer.echo(f"{len(listed)} objects as of {found.time} in {path}")
