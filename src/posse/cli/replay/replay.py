"""Options of `posse replay`. run.py reads the recording and says what came of it."""

from pathlib import Path
from typing import Annotated

import typer

from posse.cli.problems import Misuse

FolderArgument = Annotated[Path, typer.Argument(metavar="DIR", help="A directory that --record wrote.")]
AtOption = Annotated[
    str, typer.Option("--at", metavar="TIME", help="Stop at this time, such as 2026-01-31T14:05:00Z.")
]
SnapshotToOption = Annotated[
    Path | None,
    typer.Option("--snapshot-to", metavar="FILE", help="Write the cluster of that time to a snapshot."),
]
OtherConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Decide by this configuration, and compare."),
]


def replay(
    folder: FolderArgument,
    at: AtOption = "",
    snapshot_to: SnapshotToOption = None,
    config: OtherConfigOption = None,
) -> None:
    """Run a recording of posse up --record or posse run --record again, and compare decision for decision.

    Exits with 0 if all decisions are equal, with 3 if one differs.

    [bold]Examples[/bold]

      posse replay /var/log/posse                                    would it decide the same again?

      posse replay /var/log/posse --config other.yaml                what would other rules decide?

      posse replay /var/log/posse --at 2026-01-31T14:05:00Z --snapshot-to then.gz

      posse gangs --snapshot then.gz                                 who waited then, and why?
    """
    if config is not None and snapshot_to is not None:
        raise Misuse("--config and --snapshot-to exclude each other: a snapshot holds what really was")
    # The engine takes a while to load; completion and help need none of it.
    from posse.cli.replay.run import run_replay  # noqa: PLC0415

    run_replay(folder, at, snapshot_to, config)
