"""Options of `posse replay`. run.py reads the recording and says what came of it."""

from pathlib import Path
from typing import Annotated

import typer

from posse.cli.problems import Misuse
from posse.cli.replay.looking_back import VERBS, ReplayVerb, words_of

COMMAND = ReplayVerb

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


def replay(  # noqa: PLR0913, PLR0917 - one parameter per option is how typer reads them
    ctx: typer.Context,
    folder: FolderArgument,
    at: AtOption = "",
    snapshot_to: SnapshotToOption = None,
    config: OtherConfigOption = None,
    add_nodes: AddNodesOption = None,
    without: WithoutOption = None,
) -> None:
    """Run a recording of posse up --record or posse run --record again, and compare decision for decision.

    Exits with 0 if all decisions are equal, with 3 if one differs. After [bold]--at[/bold] another verb may
    follow (gangs, explain, top, plan), with its own options: it answers as it would have then. With
    [bold]--config[/bold],
    [bold]--add-nodes[/bold] or [bold]--without[/bold] the jobs of the recording also run in virtual time, as
    recorded and with the change: who would have waited how long, and what would have been evicted?

    [bold]Examples[/bold]

      posse replay DIR                           does it decide the same again?

      posse replay DIR --config other.yaml          what would other rules decide?

      posse replay DIR --add-nodes 4=node-0001      would four more have helped?

      posse replay DIR --at 2026-01-31T14:05:00Z gangs         what waited then?

      posse replay DIR --at 2026-01-31T14:05:00Z plan -f job.yaml

      posse replay DIR --at 2026-01-31T14:05:00Z --snapshot-to then.gz
    """
    if snapshot_to is not None and (config is not None or add_nodes or without):
        raise Misuse("--snapshot-to and changes exclude each other: a snapshot holds what really was")
    if at and (add_nodes or without):
        raise Misuse("--at goes back in time as it was; it excludes --add-nodes and --without")
    words = words_of(ctx)
    if words and (snapshot_to is not None or config is not None or add_nodes or without):
        raise Misuse(f"options that change the replay cannot be combined with {', '.join(VERBS)}")
    # The engine takes a while to load; completion and help need none of it.
    from posse.cli.replay.run import ReplayChange, run_replay  # noqa: PLC0415

    change = ReplayChange(config, tuple(add_nodes or ()), tuple(without or ()))
    run_replay(folder, at, snapshot_to, change, words)
