"""Options of `posse snapshot`. run.py takes it."""

from pathlib import Path
from typing import Annotated

import typer

from posse.cli.session import KubeconfigOption, connected

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="The file to write; it is replaced.")]
AnonymiseOption = Annotated[
    bool,
    typer.Option(
        "--anonymise",
        help="Replace names, label values and images, equal ones by equal ones, and drop texts.",
    ),
]


def snapshot(
    file: FileArgument, anonymise: AnonymiseOption = False, kubeconfig: KubeconfigOption = None
) -> None:
    """Write the whole cluster to one compressed file, which reading verbs take by --snapshot FILE.

    What no rule reads is left out: environments, commands, secrets, annotations of others.

    [bold]Examples[/bold]

      posse snapshot cluster.snapshot

      posse snapshot for-support.snapshot --anonymise

      posse explain job/train --snapshot cluster.snapshot
    """
    from posse.cli.reading.sources import ApiSource  # noqa: PLC0415 - takes a while to load
    from posse.cli.snapshot.run import take_snapshot  # noqa: PLC0415

    with connected(kubeconfig) as client:
        take_snapshot(ApiSource(client), file.expanduser(), is_anonymous=anonymise)
