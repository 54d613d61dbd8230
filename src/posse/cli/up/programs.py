"""Finds the programs of Kubernetes for `posse up`, or builds them with a progress bar."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from posse.cli.problems import Problem
from posse.control_plane.assets import (
    NATIVE,
    NEEDED,
    MissingProgramError,
    Release,
    built_programs,
    own_folder,
    release_in,
)
from posse.control_plane.building import BuildError, BuildProgress, Tell, build_all

_REPORT_SECONDS = 30.0


def ready_programs(binaries: Path | None) -> Release:
    """Return the release whose programs can be started now. Problem: a program is missing; it says which."""
    try:
        folder = own_folder(binaries)
        if folder is not None:
            return release_in(folder)
        with telling_progress() as tell:
            build_all(built_programs(NATIVE, NEEDED), tell)
    except (MissingProgramError, BuildError) as error:
        raise Problem(str(error)) from error
    return NATIVE


@contextmanager
def telling_progress() -> Iterator[Tell]:
    """A bar per program on a terminal, else a line now and then."""
    console = Console()
    if not console.is_terminal:
        yield BuildLines().tell
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        yield BuildBars(progress).tell


class BuildBars:
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bars: dict[str, TaskID] = {}

    def tell(self, progress: BuildProgress) -> None:
        name = f"{progress.program} {progress.version}"
        if name not in self._bars:
            self._bars[name] = self._progress.add_task(f"Building {name}", total=None)
        total = progress.total or None
        self._progress.update(self._bars[name], completed=progress.compiled, total=total)


class BuildLines:
    def __init__(self) -> None:
        self._told_at = float("-inf")

    def tell(self, progress: BuildProgress) -> None:
        name = f"{progress.program} {progress.version}"
        now = time.monotonic()
        if not progress.total:
            typer.echo(f"Building {name} ...")
        elif progress.compiled == progress.total or now - self._told_at > _REPORT_SECONDS:
            typer.echo(f"  {name}: {progress.compiled} of {progress.total} packages compiled")
        else:
            return
        self._told_at = now
