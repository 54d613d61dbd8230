"""What the verbs apply, get and delete share: the options that say which cluster and namespace, and the connection."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from posse.cli.access import read_access
from posse.cli.client import ApiClient
from posse.cli.locations import kubeconfig_in_force

WHERE = "Which cluster"

KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="How to reach the cluster. Default: $KUBECONFIG, else that of the last plain `posse up`.",
        rich_help_panel=WHERE,
    ),
]
NamespaceOption = Annotated[
    str | None,
    typer.Option("--namespace", "-n", metavar="NS", help="The namespace to look in.", rich_help_panel=WHERE),
]


@contextmanager
def connected(kubeconfig: Path | None) -> Iterator[ApiClient]:
    client = ApiClient(read_access(kubeconfig_in_force(kubeconfig)), on_warning=warn)
    try:
        yield client
    finally:
        client.close()


def warn(text: str) -> None:
    typer.echo(f"Warning: {text}", err=True)
