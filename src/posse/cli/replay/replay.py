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
AddNodesOption = Annotated[
    list[str] | None,
    typer.Option("--add-nodes", metavar="NUMBER=NODE", help="With so many more nodes like this one."),
]
WithoutOption = Annotated[
    list[str] | None,
    typer.Option("--without", metavar="NAMESPACE/NAME", help="As if this group or pod had not been there."),
]


def replay(
    folder: FolderArgument,
    at: AtOption = "",
    snapshot_to: SnapshotToOption = None,
    config: OtherConfigOption = None,
    add_nodes: AddNodesOption = None,
    without: WithoutOption = None,
) -> None:
    """Run a recording of posse up --record or posse run --record again, and compare decision for decision.

    Exits with 0 if all decisions are equal, with 3 if one differs. With [bold]--config[/bold],
    [bold]--add-nodes[/bold] or [bold]--without[/bold] the jobs of the recording also run in virtual time, as
    recorded and with the change: who would have waited how long, and what would have been evicted?

    [bold]Examples[/bold]

      posse replay DIR                           does it decide the same again?

      posse replay DIR --config other.yaml          what would other rules decide?

      posse replay DIR --add-nodes 4=node-0001      would four more have helped?

      posse replay DIR --at 2026-01-31T14:05:00Z --snapshot-to then.gz

      posse gangs --snapshot then.gz                what waited then, and why?
    """
    if snapshot_to is not None and (config is not None or add_nodes or without):
        raise Misuse("--snapshot-to and changes exclude each other: a snapshot holds what really was")
    if at and (add_nodes or without):
        raise Misuse("--at goes back in time as it was; it excludes --add-nodes and --without")
    # The engine takes a while to load; completion and help need none of it.
    from posse.cli.replay.run import ReplayChange, run_replay  # noqa: PLC0415

    run_replay(folder, at, snapshot_to, ReplayChange(config, tuple(add_nodes or ()), tuple(without or ())))
