"""What the verbs on the objects of a cluster share: options that say which cluster and namespace, and the connection."""

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

AllNamespacesOption = Annotated[
    bool,
    typer.Option("--all-namespaces", "-A", help="Look in every namespace.", rich_help_panel=WHERE),
]
RulesOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="Go by the rules of this KubeSchedulerConfiguration, as `posse up --config` does.",
        rich_help_panel="Scheduling",
    ),
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
