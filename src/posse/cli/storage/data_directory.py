"""posse backup, restore and check: the directory that `posse up` keeps a cluster in."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from posse.cli.locations import default_data_dir
from posse.cli.problems import Problem

if TYPE_CHECKING:
    from posse.store.maintenance import Contents

DirectoryArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="DIR",
        help="Directory of the cluster. Default: $XDG_DATA_HOME/posse/default.",
        show_default=False,
    ),
]
AcceptLossOption = Annotated[
    bool,
    typer.Option(
        "--accept-loss",
        help="Continue with the remaining objects although writes are lost. Stop the cluster first.",
    ),
]


def backup(
    target: Annotated[
        Path, typer.Argument(metavar="FILE", help="New file for the copy.", show_default=False)
    ],
    directory: DirectoryArgument = None,
) -> None:
    """Copy all objects of a cluster of `posse up` into one file; the cluster may be running.

    Certificates and the token are not part of it: a restored cluster gets new ones.
    """
    from posse.store import maintenance  # noqa: PLC0415 - loaded by this verb alone

    _report(f"copied to {target}", lambda: maintenance.backup(directory or default_data_dir(), target))


def restore(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file made by `posse backup`.", show_default=False)
    ],
    directory: DirectoryArgument = None,
) -> None:
    """Restore a backup into a directory that has no cluster yet."""
    from posse.store import maintenance  # noqa: PLC0415 - loaded by this verb alone

    place = directory or default_data_dir()
    _report(f"restored to {place}", lambda: maintenance.restore(source, place))


def check(directory: DirectoryArgument = None, *, accept_loss: AcceptLossOption = False) -> None:
    """Check that all acknowledged writes are there and undamaged; the cluster may be running.

    Exit code 0: no problem was found. 1: something is damaged or missing; the message names it.
    """
    from posse.store import maintenance  # noqa: PLC0415 - loaded by this verb alone

    place = directory or default_data_dir()
    inspect = maintenance.accept_loss if accept_loss else maintenance.check
    _report(f"{place} is sound", lambda: inspect(place))


def _report(outcome: str, act: Callable[[], "Contents"]) -> None:
    from posse.store.errors import DataDirError  # noqa: PLC0415 - loaded by these verbs alone

    try:
        contents = act()
    except DataDirError as error:
        raise Problem(str(error)) from error
    except OSError as error:
        raise Problem(f"{error.filename}: {(error.strerror or str(error)).lower()}") from error
    typer.echo(f"{outcome}: {sum(contents.objects.values())} objects at version {contents.version}")
    for resource, count in contents.objects.items():
        typer.echo(f"  {count:>8} {resource}")
